// The view for choosing mechanism and ε: verdicts, scores and one chart first, the rest under "More".
import { chartFigure, drawChart } from "./charts.js";
import { $, $$, cost, figure, make, percent, term, unbroken } from "./dom.js";
import { addDial, evenly, setStops, showDials, showWrong } from "./dials.js";
import { showEditor } from "./editor.js";
import { clear, notify } from "./notices.js";
import { soon as recordSoon } from "./record.js";
import { get, post, Refused } from "./server.js";
import { unsaid } from "./sources.js";
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

const SLOW = 300; // milliseconds after which the page says that it is computing
let offered = null;
let specifications = null;
let latest = null;
let asking = false;
let again = false;

export function startDecide(start) {
  offered = start;
  for (const [name, [title, columns]] of Object.entries(CHARTS)) $("#charts").append(chartFigure(name, title, columns));
  addDial("#quick", { name: "epsilon", label: "ε: what one release may cost", low: 0.01, high: 10 });
  addDial("#dials-privacy", { name: "sensitivity", label: "Δ: how far one person moves a score", low: 0.1, high: 100 });
  addDial("#dials-releases", { name: "releases", label: "Number of releases", low: 1, high: 1000, whole: true });
  addDial("#dials-releases", { name: "delta", label: "δ tolerated over all releases", low: 1e-12, high: 1e-2 });
  addDial("#dials-accuracy", { name: "tolerance", label: "An error of at most", low: 1, high: 100, whole: true, hint: "In units of the score, below the best candidate’s." });
  addDial("#chart-risk .extra", { name: "worlds", label: "Data sets the attacker considers possible", low: 2, high: 1000, whole: true });
  $("#chart-risk .extra").append(make("label", { class: "check" }, make("input", { type: "checkbox", id: "missing", onchange: (event) => change({ missing: event.target.checked }) }), "They differ in who is missing (two steps apart)"));
  $("#first-chart").append(chartFigure("balance", "Error and risk against ε, with both limits", [{ field: "series", title: "What" }, EPSILON, { field: "chance", title: "Chance", number: true }]));
  $("#risk").addEventListener("change", (event) => change({ risk: event.target.value }));
  startMechanisms(start.mechanisms);
  $("#monotonic").addEventListener("change", (event) => change({ monotonic: event.target.checked }));
  $("#level").addEventListener("change", (event) => change({ level: event.target.value }));
  $("#choice").addEventListener("change", ({ target: { value } }) => change({ choice: value }));
  $("#reset-edits").addEventListener("click", () => change({ edits: {} }));
  $("#more").addEventListener("toggle", redraw);
  addEventListener("beforeprint", () => { $("#more").open = true; });
  $("#controls").addEventListener("submit", (event) => event.preventDefault());
}

function startMechanisms(mechanisms) {
  mechanisms.forEach(({ name, title, private: proven }) => {
    const box = make("input", { type: "checkbox", value: name, onchange: () => change({ mechanisms: $$("#mechanisms input:checked").map((input) => input.value) }) });
    $("#mechanisms").append(make("label", { class: "check" }, box, swatch(name), make("span", {}, title, " ", proven ? "" : make("span", { class: "tag" }, "not private"))));
    $("#choice").append(make("option", { value: name }, proven ? title : `${title} (not private)`));
  });
}

export function showControls(from) {
  showDials(from);
  $("#monotonic").checked = state.monotonic;
  $("#missing").checked = state.missing;
  $("#level").value = state.level;
  $("#risk").value = state.risk;
  $("#choice").value = state.choice;
  for (const input of $$("#mechanisms input")) {
    // The chosen mechanism is always compared.
    input.disabled = input.value === state.choice;
    input.checked = input.disabled || state.mechanisms.includes(input.value);
  }
  const others = $$("#mechanisms input:checked").length - 1;
  $("#compared-count").textContent = others === 1 ? "one other" : others ? `${others} others` : "no other";
}

// Send one request at a time. If settings change meanwhile, send another when the answer arrives.
export async function update() {
  $("#results").setAttribute("aria-busy", "true");
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  const slow = setTimeout(() => { $("#working").hidden = false; }, SLOW);
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
    clearTimeout(slow);
  }
  if (again) {
    again = false;
    await update();
    return;
  }
  $("#working").hidden = true;
  $("#results").setAttribute("aria-busy", "false");
}

// The compared mechanisms in the server's order, including the chosen one.
const compared = () => offered.mechanisms.map(({ name }) => name).filter((name) => name === state.choice || state.mechanisms.includes(name));

export const redraw = () => (latest ? show(latest) : null);

async function specify() {
  const names = compared();
  const key = names.join(",");
  if (specifications?.key === key) return;
  const query = new URLSearchParams(names.map((name) => ["mechanism", name]));
  specifications = { key, charts: await get(`api/specifications?${query}`) };
}

export const specification = async (name) => {
  await specify();
  return specifications.charts[name];
};

async function show(figures) {
  setStops("tolerance", evenly(figures.spread, figures.scores.whole));
  showEditor(figures.scores);
  showNow(figures);
  showVerdicts(figures.verdicts);
  $("#python").textContent = figures.recipes.python;
  $("#command").textContent = figures.recipes.command;
  recordSoon();
  const parts = {
    balance: [{ balance: figures.balance.rows, limits: figures.balance.limits, chosen: figures.chosen }, figures.balance.rows],
    probabilities: [{ probabilities: figures.probabilities }, figures.probabilities],
    error: [{ error: figures.error, chosen: figures.chosen }, figures.error],
    tail: [{ tail: figures.tail, chosen: figures.chosen }, figures.tail],
    budget: [{ budget: figures.budget.rows, releases: figures.budget.chosen }, figures.budget.rows],
    risk: [{ risk: figures.risk.rows, chosen: figures.risk.chosen }, figures.risk.rows],
  };
  const drawing = Object.entries(parts).map(([name, [data, rows]]) =>
    drawChart(name, { specification: specifications.charts[name], key: `${specifications.key} ${isDark()}`, data, rows, colours, empty: figures.empty[name], text: figures.text[name] + (name === "risk" ? realRisk(figures.risk) : "") }));
  await Promise.all(drawing);
}

// A line has its mechanism's colour in every chart.
function colours(series) {
  const found = offered.mechanisms.findLast(({ title }) => series === title || series.startsWith(`${title} (`) || series.startsWith(`${title}, best`) || series.startsWith(`${title}, sum`));
  return found ? `m${found.look}` : series === "one release" ? "m2" : series.startsWith("answers") ? "m0" : "m7";
}

const titleOf = (name) => offered.mechanisms.find((mechanism) => mechanism.name === name)?.title ?? name;
const swatch = (name) => make("span", { class: "swatch", "data-colour": offered.mechanisms.find((mechanism) => mechanism.name === name).look });

function realRisk({ real }) {
  if (!real) return "";
  const sure = ` Computed for two equally likely worlds that differ in one supporter of the best candidate: ${percent(real.risk)}, after the answer “${real.answer}”.`;
  return real.warning ? `${sure} Nothing bounds it for other data.` : sure;
}

// The scores on the screen, for a link that contains them; null if there are too many for an address.
export const scoresShown = () => (latest && !latest.scores.grouped ? latest.scores.bars.map(({ label, score }) => [label, score]) : null);

const COLOURS = { good: "green", fair: "amber", bad: "red" };

function showVerdicts(verdicts) {
  const assumed = unsaid() ? `If one person moves each score by at most ${state.sensitivity}, in any direction: ` : "";
  for (const [name, { text, state: reached }] of Object.entries(verdicts)) {
    const element = $(`#verdict-${name}`);
    const words = unbroken(assumed + (assumed ? text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()) : text));
    // Also say the colour in words.
    element.firstElementChild.textContent = `${name[0].toUpperCase()}${name.slice(1)}: ${COLOURS[reached]}.`;
    if (element.lastElementChild.textContent !== words) element.lastElementChild.textContent = words;
    element.dataset.state = reached;
  }
}

function showNow({ now }) {
  // If no ε is enough, a sentence says why.
  $("#needs").replaceChildren(...now.filter((row) => row.need_words && !row.need).map((row) =>
    make("li", {}, swatch(row.mechanism), make("span", {}, make("strong", {}, `${titleOf(row.mechanism)}: `), unbroken(row.need_words)))));
  $("#proofs").replaceChildren(...now.map((row) =>
    make("li", {}, swatch(row.mechanism), make("span", {}, make("strong", {}, `${titleOf(row.mechanism)}: `), row.proof ?? "nothing: it is not private"))));
  const level = percent(Number(state.level));
  const all = state.releases === "1" ? "the one release" : `all ${state.releases} releases`;
  const heads = [
    ["Mechanism"],
    ["Needs ε", "the least ε at which the mechanism is accurate enough, rounded up"],
    ["Expected error", "how far the answer’s score lies below the best one, on average"],
    [`${level} within`, `the error that ${level} of answers do not exceed`],
    ["Best chosen", "the chance that the answer is a best candidate"],
    ["Too large", "the chance of an error larger than you can live with"],
    ["ρ", "what one release costs in zero-concentrated differential privacy (zCDP), a measure in which many releases add up more cheaply than in ε"],
    ["Sum of ε", `what ${all} cost in ε, added up`],
    ["Sum of ρ", `what ${all} cost in ρ, added up`],
    ["ε at δ", `the least ε for ${all} together that discreet can prove, if a failure of probability δ = ${state.delta} is tolerated`],
  ];
  const need = (row) => (row.need_words === null ? "…" : row.need === null ? "–" : figure(row.need));
  const cells = (row) => [need(row), figure(row.expected_error), figure(row.error_quantile), percent(row.best_probability), percent(row.beyond), cost(row.rho), cost(row.total_pure), cost(row.total_rho), cost(row.total_approx)];
  const body = now.map((row) => make("tr", { class: row.mechanism === state.choice ? "chosen" : "" },
    make("th", { scope: "row" }, swatch(row.mechanism), " ", titleOf(row.mechanism), " ", row.private ? "" : make("span", { class: "tag" }, "not private")),
    ...cells(row).map((text) => make("td", { class: "number" }, text))));
  $("#now").replaceChildren(
    make("thead", {}, make("tr", {}, ...heads.map(([text, meaning]) => make("th", { scope: "col", class: meaning ? "number" : "" }, meaning ? term(text, meaning) : text)))),
    make("tbody", {}, ...body));
}
