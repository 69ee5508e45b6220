// The decision record: choices, guarantee in plain words, date; printed on one page.
import { $, $$, figure, make, percent } from "./dom.js";
import { state } from "./state.js";

// On paper a box would cut a long text off, so what is written in it is printed as an entry.
const WRITTEN = [["Purpose", "#purpose"], ["Decided by", "#people"]];

export function startRecord() {
  for (const [, box] of WRITTEN) $(box).addEventListener("input", showWritten);
}

function showWritten() {
  for (const [term, box] of WRITTEN) {
    const entry = $$("#record-list .written").find((one) => one.dataset.term === term);
    if (entry) entry.textContent = $(box).value;
  }
}

export function showRecord(figures, titleOf) {
  const { record, scores } = figures;
  const row = figures.now.find((one) => one.mechanism === state.choice);
  const entries = [
    ["Date (UTC)", record.date],
    ["Mechanism", `${titleOf(state.choice)}${record.private ? "" : ": NOT PRIVATE, it has no guarantee and refuses to release"}`],
    ["ε of one release", state.epsilon],
    ["Scores", `${$("#source").selectedOptions[0]?.textContent ?? ""}, ${scores.count === 1 ? "1 candidate" : `${scores.count.toLocaleString("en")} candidates`}${Object.keys(state.edits).length ? ", changed by hand" : ""}`],
    ["Neighbours", `${record.neighbours}; Δ = ${state.sensitivity}`],
    ["One person", record.one],
    ["A household of four", record.household],
    [`All ${state.releases} releases`, record.all],
  ];
  if (row) {
    entries.push(["All releases at δ", `ε = ${figure(row.total_approx)} at δ = ${state.delta}; ρ = ${figure(row.total_rho)} in zCDP`]);
    entries.push(["Accuracy", `expected error ${figure(row.expected_error)}; ${percent(Number(state.level))} of releases within ${figure(row.error_quantile)} of the best score; best candidate in ${percent(row.best_probability)}`]);
    if (row.need_words) entries.push(["Accuracy wanted", row.need_words]);
  } else entries.push(["Accuracy", "not computed: the mechanism is not among those compared"]);
  entries.push(["Disclosure risk", figures.text.risk]);
  entries.push(["Basis", `Computed by discreet ${$("#version").textContent} from scores declared not private, before any budget was spent.`]);
  const written = WRITTEN.flatMap(([term]) => [make("dt", { class: "printed" }, term), make("dd", { class: "printed written", "data-term": term })]);
  $("#record-list").replaceChildren(...written, ...entries.flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]));
  showWritten();
}
