// The view on which mechanism and ε are decided: controls on one side, figures on the other.
import { chartFigure, drawChart } from "./charts.js";
import { $, $$, figure, make, percent, unbroken } from "./dom.js";
import { addDial, showDials, showWrong } from "./dials.js";
import { showEditor } from "./editor.js";
import { clear, notify } from "./notices.js";
import { showRecord } from "./record.js";
import { get, post, Refused } from "./server.js";
import { change, request, state } from "./state.js";
import { isDark } from "./theme.js";

const EPSILON = { field: "epsilon", title: "ε", number: true };
const MECHANISM = { field: "mechanism", title: "Mechanism" };
const CHARTS = {
  probabilities: ["Which candidate is chosen", [{ field: "candidate", title: "Candidate" }, MECHANISM, { field: "score", title: "Score", number: true }, { field: "probability", title: "Probability", number: true }]],
  error: ["Expected error against ε", [MECHANISM, EPSILON, { field: "expected_error", title: "Expected error", number: true }]],
  tail: ["Chance of too large an error against ε", [MECHANISM, EPSILON, { field: "beyond", title: "Chance", number: true }]],
  budget: ["Budget over many releases, at equal accuracy", [{ field: "series", title: "Mechanism, counted by" }, { field: "releases", title: "Releases", number: true }, { ...EPSILON, title: "ε of all" }]],
  risk: ["Disclosure risk", [{ field: "releases", title: "After" }, EPSILON, { field: "risk", title: "Belief at most", number: true }]],
};

let offered = null;
let specifications = null;
let latest = null;
let asking = false;
let again = false;

export function startDecide(start) {
  offered = start;
  for (const [name, [title, columns]] of Object.entries(CHARTS)) $("#charts").append(chartFigure(name, title, columns));
  addDial("#dials-privacy", { name: "epsilon", label: "ε: what one release may cost", low: 0.01, high: 10 });
  addDial("#quick", { name: "epsilon", id: "quick-epsilon", label: "ε of one release", low: 0.01, high: 10 });
  addDial("#dials-privacy", { name: "sensitivity", label: "Δ: how far one person moves a score", low: 0.1, high: 100 });
  addDial("#dials-releases", { name: "releases", label: "Number of releases", low: 1, high: 1000, whole: true });
  addDial("#dials-releases", { name: "delta", label: "δ tolerated over all releases", low: 1e-12, high: 1e-2 });
  addDial("#dials-accuracy", { name: "tolerance", label: "An error of at most", low: 0, high: 100, logarithmic: false, whole: true, hint: "In units of the score, below the best candidate’s." });
  addDial("#chart-risk .extra", { name: "worlds", label: "Data sets an attacker holds possible", low: 2, high: 1000, whole: true });
  $("#chart-risk .extra").append(make("label", { class: "check" }, make("input", { type: "checkbox", id: "missing", onchange: (event) => change({ missing: event.target.checked }) }), "They differ in who is missing (two steps apart)"));
  startMechanisms(start.mechanisms);
  $("#monotonic").addEventListener("change", (event) => change({ monotonic: event.target.checked }));
  $("#level").addEventListener("change", (event) => change({ level: event.target.value }));
  // The record needs the figures of the mechanism decided for, so it is compared with the others.
  $("#choice").addEventListener("change", ({ target: { value } }) => change({ choice: value, mechanisms: [...new Set([...state.mechanisms, value])] }));
  $("#reset-edits").addEventListener("click", () => change({ edits: {} }));
  $("#controls").addEventListener("submit", (event) => event.preventDefault());
}

function startMechanisms(mechanisms) {
  mechanisms.forEach(({ name, title, private: proven }, index) => {
    const box = make("input", { type: "checkbox", value: name, onchange: () => change({ mechanisms: $$("#mechanisms input:checked").map((input) => input.value) }) });
    $("#mechanisms").append(make("label", { class: "check" }, box, make("span", { class: "swatch", "data-colour": index % 8 }), make("span", {}, title, " ", proven ? "" : make("span", { class: "tag" }, "not private"))));
    $("#choice").append(make("option", { value: name }, proven ? title : `${title} (not private)`));
  });
}

export function showControls(from) {
  showDials(from);
  $("#monotonic").checked = state.monotonic;
  $("#missing").checked = state.missing;
  $("#level").value = state.level;
  $("#choice").value = state.choice;
  for (const input of $$("#mechanisms input")) input.checked = state.mechanisms.includes(input.value);
}

// One request at a time; whatever changed meanwhile is asked for when the answer is there.
export async function update() {
  $("#results").setAttribute("aria-busy", "true");
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  const began = performance.now();
  const asked = JSON.stringify(request());
  try {
    const [figures] = await Promise.all([post("api/figures", request()), specify()]);
    clear("figures");
    showWrong(null);
    latest = figures;
    await show(figures);
    $("#results").classList.remove("stale");
    $("#results").dataset.milliseconds = String(Math.round(performance.now() - began));
    if (!figures.complete) again = true;
  } catch (error) {
    $("#results").classList.add("stale");
    const atControl = error instanceof Refused && showWrong(error.message);
    if (!atControl) notify("figures", error.message, error instanceof Refused ? {} : { again: update });
    else clear("figures");
    again = JSON.stringify(request()) !== asked;
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    await update();
  } else $("#results").setAttribute("aria-busy", "false");
}

export const redraw = () => (latest ? show(latest) : null);

async function specify() {
  const key = state.mechanisms.join(",");
  if (specifications?.key === key || !state.mechanisms.length) return;
  const query = new URLSearchParams(state.mechanisms.map((name) => ["mechanism", name]));
  specifications = { key, charts: await get(`api/specifications?${query}`) };
}

export const specification = async (name) => {
  await specify();
  return specifications.charts[name];
};

async function show(figures) {
  showEditor(figures.scores);
  showNow(figures);
  $("#python").textContent = figures.recipes.python;
  $("#command").textContent = figures.recipes.command;
  showRecord(figures, titleOf);
  const parts = {
    probabilities: [{ probabilities: figures.probabilities }, figures.probabilities],
    error: [{ error: figures.error, chosen: figures.chosen }, figures.error],
    tail: [{ tail: figures.tail, chosen: figures.chosen }, figures.tail],
    budget: [{ budget: figures.budget.rows, releases: figures.budget.chosen }, figures.budget.rows],
    risk: [{ risk: figures.risk.rows, chosen: figures.risk.chosen }, figures.risk.rows],
  };
  const drawing = Object.entries(parts).map(([name, [data, rows]]) =>
    drawChart(name, { specification: specifications.charts[name], key: `${specifications.key} ${isDark()}`, data, rows, colours, text: figures.text[name] + (name === "risk" ? realRisk(figures.risk) : "") }));
  await Promise.all(drawing);
}

// The colour of a line: its mechanism's, wherever it appears.
function colours(series) {
  const place = offered.mechanisms.findLastIndex(({ name }) => series === name || series.startsWith(`${name} `) || series.startsWith(`${name},`));
  return place >= 0 ? `m${place % 8}` : series === "one release" ? "m4" : "m5";
}

const titleOf = (name) => offered.mechanisms.find((mechanism) => mechanism.name === name)?.title ?? name;
const swatch = (name) => make("span", { class: "swatch", "data-colour": offered.mechanisms.findIndex((mechanism) => mechanism.name === name) % 8 });

function realRisk({ real }) {
  if (!real) return "";
  const sure = ` Computed for two equally likely worlds that differ in one supporter of the best candidate: ${percent(real.risk)}, after the answer “${real.answer}”.`;
  return real.warning ? `${sure} Nothing bounds it for other data.` : sure;
}

function showNow({ now }) {
  $("#needs").replaceChildren(...now.map((row) =>
    make("li", {}, swatch(row.mechanism), make("span", {}, make("strong", {}, `${titleOf(row.mechanism)}: `), unbroken(row.need_words ?? "…")))));
  const level = percent(Number(state.level));
  const heads = ["Mechanism", "Expected error", `${level} within`, "Best chosen", "Too large", "ρ (zCDP)", `Σε of ${state.releases}`, `Σρ of ${state.releases}`, "ε at δ"];
  const cells = (row) => [figure(row.expected_error), figure(row.error_quantile), percent(row.best_probability), percent(row.beyond), figure(row.rho), figure(row.total_pure), figure(row.total_rho), figure(row.total_approx)];
  const body = now.map((row) => make("tr", {},
    make("th", { scope: "row" }, titleOf(row.mechanism), " ", row.private ? "" : make("span", { class: "tag" }, "not private")),
    ...cells(row).map((text) => make("td", { class: "number" }, text))));
  $("#now").replaceChildren(
    make("thead", {}, make("tr", {}, ...heads.map((text, index) => make("th", { scope: "col", class: index ? "number" : "" }, text)))),
    make("tbody", {}, ...body));
}
