"use strict";
// Filters for cards of verdicts: by a button and by the words in a field; if none is left, a line says so. Without a script all cards are shown.
const bars = document.querySelectorAll(".card-filters");
document.querySelectorAll(".cards").forEach((box, place) => {
  const bar = bars[place];
  const cards = [...box.querySelectorAll(".card")];
  const buttons = [...bar.querySelectorAll("button")];
  const field = bar.querySelector("input");
  const said = bar.appendChild(document.createElement("p"));
  said.setAttribute("role", "status");
  let chosen = buttons[0];
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === chosen));
    for (const card of cards) {
      const text = card.textContent.toLowerCase();
      const verdict = card.querySelector(".verdict").textContent;
      const wanted = !chosen.dataset.verdict || verdict.startsWith(chosen.dataset.words);
      card.hidden = !wanted || !words.every((word) => text.includes(word));
    }
    const within = chosen === buttons[0] ? "." : ` among “${chosen.dataset.words}”: choose “all” to search every card.`;
    said.textContent = cards.every((card) => card.hidden) ? `Nothing matches${within}` : "";
  };
  for (const button of buttons) button.addEventListener("click", () => { chosen = button; show(); });
  field.addEventListener("input", show);
  bar.hidden = false;
  show();
});
