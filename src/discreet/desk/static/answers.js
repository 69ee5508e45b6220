// An answer as people read it, and a question in words.

import { at, element, shared } from "./parts.js";

export function rows(release) {
  const one = (answer, count) => [answer === null ? "nothing is safe to say" : String(answer), count === undefined ? "" : `${count} ${count === 1 ? "person" : "people"}, give or take ${release.count_within}`];
  const listed = (answer, count) => Array.isArray(answer)
    ? answer.map((each, place) => [release.labels?.[place] ?? `${place + 1}`, ...one(each, count?.[place])]) : [["", ...one(answer, count)]];
  if (release.answer !== null && typeof release.answer === "object" && !Array.isArray(release.answer)) {
    return Object.entries(release.answer).flatMap(([group, answer]) =>
      listed(answer, release.count?.[group]).map(([label, ...rest]) => [[group, label].filter(Boolean).join(", "), ...rest]));
  }
  return listed(release.answer, release.count);
}

export function inShort(release) {
  const places = /^\d+$/;  // the order shows them already
  const words = rows(release).map(([label, answer]) => (label && !places.test(label) ? `${label}: ${answer}` : answer)).join(", ");
  return words.length > 60 ? `${words.slice(0, 57)}...` : words;
}

// A field of a question in words: by its label, unless there is a shorter way to say it.
const SHORTER = { where: (value) => `where ${value}`, by: (value) => `by ${value}` };
function inWords({ name, label }, value) {
  const lower = label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  if (typeof value === "boolean") return `${lower}: ${value ? "yes" : "no"}`;
  return SHORTER[name]?.(value) ?? `${lower}: ${[value].flat().join(", ")}`;
}

export function described(asked, title) {
  const kind = shared.desk.questions[asked.kind];
  const about = `${asked.column ?? asked.score ?? asked.function} in ${asked.table}`;
  const what = title ? `${title} in ${asked.table}` : `${kind?.label ?? asked.kind}: ${about}`;
  const told = (name) => ["column", "score", "function", "epsilon"].includes(name) || (!(name in SHORTER) && typeof asked[name] !== "boolean" && title?.includes(String(asked[name])));
  const rest = (kind?.fields ?? []).filter(({ name }) => (asked[name] ?? null) !== null && !told(name));
  return [what, ...rest.map((field) => inWords(field, asked[field.name])), `ε = ${asked.epsilon}`].join(", ");
}

// A button that shows an answer again.
export function again(asked, release) {
  const button = element("button", inShort(release), { type: "button", class: "small", "aria-label": `Show the answer again: ${described(asked, release.title)}` });
  button.addEventListener("click", () => { present(asked, release); });
  return button;
}

// Brings the answer into view, which is below the form on a phone.
export const reveal = () => at("answer").parentElement.scrollIntoView({ block: "nearest" });

export function present(asked, release) {
  const found = rows(release);
  const parts = [element("p", described(asked, release.title), { class: "hint asked" })];
  if (found.length === 1 && !found[0][0]) {
    parts.push(element("p", found[0][1], { class: "big" }));
    if (found[0][2]) parts.push(element("p", found[0][2]));
  } else {
    const made = element("table");
    for (const [label, answer, count] of found) {
      const row = made.insertRow();
      row.append(element("th", label, { scope: "row" }), element("td", answer), ...(count ? [element("td", count)] : []));
    }
    parts.push(made);
  }
  if (release.people !== undefined) {
    const counted = typeof release.people === "object" ? Object.entries(release.people).map(([group, number]) => `${group}: ${number}`).join(", ") : release.people;
    parts.push(element("p", `People who counted, noisily: ${counted}, give or take ${release.people_within}.`));
  }
  if (release.voted !== undefined && release.voted !== null) parts.push(element("p", `Blocks that voted, noisily: ${release.voted}, give or take ${release.voted_within}.`));
  if (release.gap !== undefined && release.gap !== null) parts.push(element("p", `Noisy lead over the runner-up: ${release.gap} or more.`));
  const { worst, level, unit, meaning, most: possible } = release.accuracy ?? {};
  const most = Math.ceil(worst - 1e-9);
  if (worst && most < (possible ?? Infinity)) {
    parts.push(element("p", `Accuracy: at most ${most.toLocaleString("en")} ${unit[most === 1 ? 0 : 1]} off with probability ${level}.`, { title: meaning }));
  }
  parts.push(element("p", release.guarantee.words));
  const more = element("details");
  const proof = element("p", `Chosen by ${release.mechanism}. ${release.entry ? `Ledger: ${release.entry}. ` : ""}Proof: `, { class: "hint" });
  for (const page of release.guarantee.rests_on?.pages ?? []) {
    const name = page.replace(/^.*\//, "").replace(/\.md$/, "");
    proof.append(element("a", name, { href: `proofs/${name}`, target: "_blank", rel: "noopener" }), " ");
  }
  proof.append((release.guarantee.proof ?? "none").replace(/^[^:]*: /, ""), ".");
  const rules = element("ul");
  for (const rule of release.rules ?? []) rules.append(element("li", rule));
  more.append(element("summary", "Mechanism, proof and rules"), proof, rules);
  parts.push(more);
  if (release.invented) {
    const box = element("div", undefined, { class: "invented" });
    box.append(element("p", "Invented rows: this says nothing about the data, and cost nothing.", { class: "price" }), ...parts);
    parts.splice(0, parts.length, box);
  }
  at("answer").replaceChildren(...parts);
  reveal();
}
