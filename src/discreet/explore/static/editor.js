// The scores as bars that can be dragged, moved with the arrow keys, or typed.
import { $, figure, make } from "./dom.js";
import { change, state } from "./state.js";

let rows = [];
let held = null;

export function showEditor(scores) {
  const editor = $("#editor");
  const places = scores.bars.map((bar) => bar.place ?? bar.label).join("\n") + state.source;
  if (editor.dataset.places !== places) build(editor, scores, places);
  const step = scores.whole ? 1 : Number(((scores.high - scores.low) / 1000).toPrecision(1));
  scores.bars.forEach((bar, index) => {
    const row = rows[index];
    if (!row) return;
    if (bar.place === null) {
      row.value.textContent = `best score ${figure(bar.score)}`;
      return;
    }
    // Keep the scale of a bar while it is dragged; otherwise it would move away from the pointer.
    if (held !== row.slider) {
      Object.assign(row.slider, { min: scores.low, max: scores.high, step });
      row.slider.value = String(bar.score);
    }
    row.box.dataset.good = plain(bar.score);
    if (document.activeElement !== row.box) restore(row.box);
    fill(row.slider);
    row.element.classList.toggle("changed", Object.hasOwn(state.edits, bar.place));
  });
  $("#reset-edits").hidden = Object.keys(state.edits).length === 0;
  $("#editor-title").textContent = scores.grouped
    ? `Change a score: the best of ${scores.count.toLocaleString("en")} candidates`
    : "Change a score";
}

function build(editor, scores, places) {
  editor.dataset.places = places;
  rows = scores.bars.map((bar) => (bar.place === null ? group(bar) : single(bar, scores.largest)));
  editor.replaceChildren(...rows.map((row) => row.element));
}

function group(bar) {
  const value = make("span");
  return { element: make("div", { class: "bar group" }, make("span", {}, bar.label), value), value };
}

function single(bar, largest) {
  const edit = (value, from) => {
    if (!Number.isFinite(value)) return;
    change({ edits: { ...state.edits, [bar.place]: value } }, { from });
  };
  const slider = make("input", {
    type: "range", "aria-label": `Score of ${bar.label}, slider`,
    oninput: () => { held = slider; fill(slider); edit(Number(slider.value), slider); },
    onchange: () => { held = null; },
  });
  const box = make("input", {
    type: "text", inputmode: "decimal", "aria-label": `Score of ${bar.label}`, maxlength: 24,
    oninput: () => {
      const value = Number(box.value);
      const fine = box.value.trim() !== "" && Math.abs(value) <= largest;
      box.setAttribute("aria-invalid", String(!fine));
      if (fine) edit(value, box);
    },
    onblur: () => box.getAttribute("aria-invalid") === "true" && restore(box),
  });
  const element = make("div", { class: "bar" }, make("span", { class: "name", title: bar.label }, bar.label), slider, box);
  return { element, slider, box };
}

// If a box contains an invalid score when it loses focus, show the previous score again.
function restore(box) {
  box.value = box.dataset.good;
  box.setAttribute("aria-invalid", "false");
}

function fill(slider) {
  const low = Number(slider.min);
  const part = (Number(slider.value) - low) / (Number(slider.max) - low || 1);
  slider.style.setProperty("--fill", `${Math.round(1000 * part) / 10}%`);
}

const plain = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(8))));
