// Audit a claim about a mechanism: search for a pair of neighbours that refutes it, and show progress.
import { chartFigure, drawChart, forgetChart } from "./charts.js";
import { copy } from "./copying.js";
import { specification } from "./decide.js";
import { tellingColours } from "./attack.js";
import { $, $$, figure, make } from "./dom.js";
import { follow } from "./follow.js";
import { clear, notify } from "./notices.js";
import { post, remove } from "./server.js";
import { change, state } from "./state.js";
import { isDark } from "./theme.js";

const PRESETS = [
  ["Permute-and-flip is ε-DP", { mechanism: "permute-and-flip", claim: "pure", amount: "1", epsilon: "1" }],
  ["Permute-and-flip has bounded range ε (as published)", { mechanism: "permute-and-flip", claim: "bounded-range", amount: "1", epsilon: "1" }],
  ["Permute-and-flip is ε²/8-zCDP (as published)", { mechanism: "permute-and-flip", claim: "zcdp", amount: "0.125", epsilon: "1" }],
  ["Exponential has bounded range ε", { mechanism: "exponential", claim: "bounded-range", amount: "1", epsilon: "1" }],
  ["Exponential randomized response is ε-DP (as published)", { mechanism: "exponential-randomized-response", claim: "pure", amount: "0.1", epsilon: "0.1" }],
  ["Its naive variant is ε-DP", { mechanism: "exponential-randomized-response-naive", claim: "pure", amount: "1", epsilon: "1" }],
];
const FIELDS = ["mechanism", "claim", "epsilon", "amount", "delta", "sensitivity", "n", "monotonic"];
const COLUMNS = [{ field: "answer", title: "Answer" }, { field: "score", title: "Score", number: true }, { field: "probability", title: "Probability", number: true }];

const RATIOS = [{ field: "answer", title: "Answer" }, { field: "probability", title: "Probability", number: true }, { field: "neighbour", title: "In the other world", number: true }, { field: "ratio", title: "Log-ratio", number: true }];

let job = null;
let verdict = null;

export function startAudit(start) {
  const text = (name, label, value) => make("div", { class: "field" }, make("label", { for: `audit-${name}` }, label), make("input", { type: "text", inputmode: "decimal", id: `audit-${name}`, value, maxlength: 40, "aria-describedby": `audit-${name}-wrong` }), make("p", { class: "wrong", id: `audit-${name}-wrong`, role: "alert", hidden: true }));
  const choice = (name, label, options, kind = "field") => make("div", { class: kind }, make("label", { for: `audit-${name}` }, label), make("select", { id: `audit-${name}` }, ...options.map(([value, shown]) => make("option", { value }, shown))));
  const sizes = Array.from({ length: start.limits.audited - 1 }, (_, index) => [String(index + 2), `2 to ${index + 2}`]);
  sizes[0][1] = "2";
  const presets = PRESETS.map(([title, parts]) => make("button", { type: "button", class: "small", onclick: () => { fill(parts); run(); } }, title));
  $("#view-audit").append(
    make("section", { class: "card", "aria-labelledby": "h-audit" },
      make("h2", { id: "h-audit" }, "Is the claim true?"),
      make("p", { class: "hint" }, "The audit searches neighbouring scores for a pair that breaks the claim, and certifies it in ball arithmetic. Finding none is not a proof."),
      make("div", { class: "presets", role: "group", "aria-label": "Claims, one click away" }, ...presets),
      make("form", { class: "audit-form", id: "audit-form", onsubmit: (event) => { event.preventDefault(); run(); } },
        choice("mechanism", "Mechanism", start.mechanisms.map(({ name, title }) => [name, title]), "field broad"),
        text("epsilon", "Run at ε", "1"),
        text("sensitivity", "Δ", "1"),
        choice("claim", "Claim", Object.entries(start.claims), "field broad"),
        text("amount", "Claimed ε or ρ", "1"),
        text("delta", "δ", "1e-6"),
        choice("n", "Candidates", sizes),
        choice("monotonic", "Neighbours", [["both", "general and monotonic"], ["false", "general"], ["true", "monotonic"]], "field broad")),
      make("div", { class: "actions" },
        make("button", { type: "submit", form: "audit-form", class: "primary", id: "audit-run" }, "Audit"),
        make("button", { type: "button", id: "audit-cancel", hidden: true, onclick: cancel }, "Cancel"),
        make("button", { type: "button", onclick: () => copy(asPython(), "The Python") }, "Copy as Python"),
        make("button", { type: "button", onclick: () => copy(asCommand(), "The command") }, "Copy as command")),
      make("div", { id: "audit-progress", hidden: true },
        make("progress", { id: "audit-bar", max: 1, value: 0, "aria-label": "How far the search is" }),
        make("ol", { class: "stages", id: "audit-stages", tabindex: 0, "aria-label": "Stages of the search" }))),
    make("section", { class: "card", id: "audit-result", "aria-live": "polite", hidden: true }));
  $("#audit-n").value = "4";
  $("#audit-form").addEventListener("input", () => { showFields(); remember(); });
  showForm();
}

// Store the form in the link.
const remember = () => change({ audit: FIELDS.map(value).join("|") });

// Fill the form from the address. Values that a menu does not offer are ignored.
export function showForm() {
  const told = state.audit.split("|");
  if (told.length === FIELDS.length) {
    FIELDS.forEach((name, index) => {
      const control = $(`#audit-${name}`);
      if (!control.options || [...control.options].some((option) => option.value === told[index])) control.value = told[index];
    });
  }
  showFields();
}

const value = (name) => $(`#audit-${name}`).value.trim();

// Show δ only if the claim or the mechanism has one. Regularity has no amount.
function showFields() {
  const own = value("mechanism") === "large-gap";
  $("#audit-delta").closest(".field").hidden = value("claim") !== "approx" && !own;
  $("#audit-amount").closest(".field").hidden = value("claim") === "regular";
}

function asCommand() {
  const amounts = { approx: `:${value("amount")},${value("delta")}`, regular: "" };
  const sizes = Array.from({ length: Number(value("n")) - 1 }, (_, index) => `-n ${index + 2}`).join(" ");
  const neighbours = { both: "", true: " --monotonic", false: " --general" }[value("monotonic")];
  return `discreet audit ${value("mechanism")} --epsilon ${value("epsilon")} --claim ${value("claim")}${amounts[value("claim")] ?? `:${value("amount")}`} --sensitivity ${value("sensitivity")} ${sizes}${neighbours}`;
}

function asPython() {
  const kinds = { pure: "PureDP", "bounded-range": "BoundedRange", zcdp: "ZCDP", approx: "ApproxDP" };
  const kind = kinds[value("claim")];
  const claim = kind ? `${kind}("${value("amount")}"${kind === "ApproxDP" ? `, "${value("delta")}"` : ""})` : "Regular()";
  const neighbours = { both: "None", true: "True", false: "False" }[value("monotonic")];
  return [
    kind ? `from discreet import ${kind}\nfrom discreet.audit import audit` : "from discreet.audit import Regular, audit",
    "from discreet.mechanisms import mechanism_named",
    "",
    `mechanism = mechanism_named("${value("mechanism")}", epsilon="${value("epsilon")}")`,
    `print(audit(mechanism, ${claim}, sensitivity="${value("sensitivity")}", monotonic=${neighbours}, n=range(2, ${Number(value("n")) + 1})))`,
    "",
  ].join("\n");
}

function fill(parts) {
  for (const [name, text] of Object.entries({ sensitivity: "1", monotonic: "both", ...parts })) $(`#audit-${name}`).value = text;
  showFields();
  remember();
}

export async function run() {
  if (job) await remove(`api/job/${job}`).catch(() => null);
  clear("audit");
  showWrong("");
  const neighbours = { both: null, true: true, false: false }[value("monotonic")];
  const wanted = { n: Number(value("n")), monotonic: neighbours };
  for (const name of ["mechanism", "claim", "epsilon", "amount", "delta", "sensitivity"]) wanted[name] = value(name);
  try {
    ({ job } = await post("api/audit", wanted));
    searching(true);
    const mine = job;
    await follow(mine, () => job === mine, {
      progress: (stage, fraction) => {
        $("#audit-bar").value = fraction;
        $("#audit-stages").append(make("li", {}, stage));
        $("#audit-stages").scrollTop = 1e6;
      },
      done: (found) => { verdict = found; show(); },
    });
    if (job === mine) searching(false);
  } catch (error) {
    searching(false);
    if (!showWrong(error.message)) notify("audit", `The audit did not run: ${error.message}`);
  }
}

// Show an error at the field that caused it. The server's message starts with the field's name.
function showWrong(message) {
  let found = false;
  for (const wrong of $$("#audit-form .wrong")) {
    const name = wrong.id.split("-")[1];
    const here = message.startsWith(`${name}=`);
    found ||= here;
    $(`#audit-${name}`).setAttribute("aria-invalid", String(here));
    wrong.hidden = !here;
    wrong.textContent = here ? message.replace(/^.*?: /, "") : "";
  }
  return found;
}

async function cancel() {
  const old = job;
  searching(false);
  verdict = null;
  $("#audit-result").replaceChildren(make("p", {}, "The audit was cancelled: nothing is decided."));
  $("#audit-result").hidden = false;
  if (old) await remove(`api/job/${old}`).catch(() => null);
}

function searching(yes) {
  if (!yes) job = null;
  else {
    $("#audit-stages").replaceChildren();
    $("#audit-bar").removeAttribute("value");
    $("#audit-result").hidden = true;
  }
  $("#audit-progress").hidden = !yes;
  if (!yes && document.activeElement.id === "audit-cancel") $("#audit-run").focus();
  $("#audit-cancel").hidden = !yes;
}

// Show a headline, the chart from the attack view, and the two worlds.
export async function show() {
  if (!verdict || $("#view-audit").hidden) return;
  const { who, what, status, measured, claimed, symbol, coverage, seconds, proof, drawn } = verdict;
  const headline = { refuted: `The claim is false. ${who} is not ${what}.`, proved: `The claim is true. ${who} is ${what}.`, "not refuted": `The claim stands so far: nothing was found against it. ${who} may be ${what}.` }[status];
  const pair = verdict.witness ?? verdict.worst;
  const why = { refuted: `The witness rests on ${pair?.certainty}.`, proved: `Proved: ${proof}. The search found nothing against it.`, "not refuted": "Nothing in what was searched breaks it. That is not a proof." }[status];
  const card = make("div", { class: `verdict ${status.replace(" ", "-")}` },
    make("h3", {}, headline),
    make("p", {}, `${status[0].toUpperCase()}${status.slice(1)}. Largest ${symbol} found ${figure(measured)}; claimed ${figure(claimed)}. ${why}`),
    make("p", { class: "hint" }, `Searched: ${coverage}; ${seconds} s.`));
  $("#audit-result").replaceChildren(card);
  $("#audit-result").hidden = false;
  if (!pair) return;
  const ratio = pair.neighbour_probability > 0 ? pair.probability / pair.neighbour_probability : Infinity;
  card.lastElementChild.before(make("p", {}, `Answer ${pair.outcome} has probability ${figure(pair.probability)} with the scores (${pair.scores.map(figure).join(", ")}) and ${figure(pair.neighbour_probability)} with their neighbour (${pair.neighbour.map(figure).join(", ")}): a factor of ${Number.isFinite(ratio) ? figure(ratio > 1 ? ratio : 1 / ratio) : "∞"}.`));
  if (drawn) {
    forgetChart("audit-ratios");
    $("#audit-result").append(chartFigure("audit-ratios", "How far one person moves each answer", RATIOS));
    await drawChart("audit-ratios", { specification: await specification("ratios"), key: `${isDark()}`, data: { ratios: drawn.rows, band: drawn.band }, rows: drawn.rows, text: drawn.words, colours: tellingColours });
  }
  const worlds = [["witness-first", "Scores", pair.scores, pair.probabilities], ["witness-second", "Neighbour", pair.neighbour, pair.neighbour_probabilities]];
  const grid = make("div", { class: "worlds" });
  $("#audit-result").append(grid);
  for (const [name, title, scores, chances] of worlds) {
    forgetChart(name);
    grid.append(chartFigure(name, `${title} (${scores.map(figure).join(", ")})`, COLUMNS));
    const rows = chances.map((probability, index) => ({ answer: String(index), score: scores[index], probability, shown: figure(probability), telling: index === pair.outcome ? "telling answer" : "other answers" }));
    const text = `${title}: ${chances.map((chance, index) => `answer ${index} ${figure(chance)}`).join(", ")}.`;
    await drawChart(name, { specification: await specification("witness"), key: `${isDark()}`, data: { witness: rows }, rows, text, colours: tellingColours });
  }
}
