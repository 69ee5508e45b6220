// Every claim of the papers, with filters: verdicts as recorded, computed again on demand, in the background.
import { $, figure, make } from "./dom.js";
import { follow } from "./follow.js";
import { clear, notify } from "./notices.js";
import { get, post, remove } from "./server.js";

const UNKNOWN = { verdict: "not recorded", covered: "", evidence: "", numbers: null, witness: null };
let catalogue = null;
let job = null;
const found = new Map();

export async function openClaims() {
  if (catalogue) return;
  try {
    catalogue = await get("api/claims");
    clear("claims");
    build();
  } catch (error) {
    notify("claims", error.message, { again: openClaims });
  }
}

function build() {
  const choice = (name, label, options) => make("div", { class: "field" }, make("label", { for: `claims-${name}` }, label), make("select", { id: `claims-${name}`, onchange: show }, make("option", { value: "" }, "all"), ...options.map(([value, text]) => make("option", { value }, text))));
  $("#view-claims").replaceChildren(make("section", { class: "card", "aria-labelledby": "h-claims" },
    make("h2", { id: "h-claims" }, "What the papers claim"),
    make("p", { class: "lead" }, "Each numbered claim is one executable check. “Proved by computation” means that exact or ball arithmetic decided every case of the range named; “consistent with a search”, that a search found nothing against it. In a witness, answers are counted from 0."),
    make("p", { class: "hint", id: "claims-record" }, `The verdicts are as computed for discreet ${catalogue.computed_for}; press “Compute again here” to compute those shown on this machine, on the same full ranges (all of them take about half a minute).`),
    make("div", { class: "claims-form" },
      choice("paper", "Paper", catalogue.papers.map(({ key, title }) => [key, title])),
      choice("verdict", "Verdict", verdicts().map((verdict) => [verdict, verdict])),
      make("div", { class: "field" }, make("label", { for: "claims-words" }, "Words"), make("input", { type: "search", id: "claims-words", oninput: show }))),
    make("div", { class: "actions" },
      make("button", { type: "button", class: "primary", id: "claims-run", "aria-describedby": "claims-record", onclick: run }, "Compute again here"),
      make("button", { type: "button", id: "claims-cancel", hidden: true, onclick: cancel }, "Cancel"),
      make("span", { id: "claims-count", role: "status" })),
    make("progress", { id: "claims-bar", max: 1, value: 0, hidden: true, "aria-label": "How many claims are computed again" }),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Claims" }, make("table", { class: "claims", id: "claims" }))));
  show();
}

const recorded = (claim) => claim.recorded ?? UNKNOWN;
const known = (claim) => found.get(claim.id) ?? recorded(claim);

// Beside the usual verdicts only those that occur: a check that failed here, a claim without a record.
function verdicts() {
  const unusual = catalogue.claims.some((claim) => !claim.recorded) ? ["failed", UNKNOWN.verdict] : ["failed"];
  return [...catalogue.verdicts, ...unusual];
}

function shown() {
  const [paper, verdict, words] = ["paper", "verdict", "words"].map((name) => $(`#claims-${name}`).value.trim());
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return catalogue.claims.filter((claim) => {
    const result = known(claim);
    const text = [claim.paper, claim.number, claim.statement, result.covered, result.evidence, result.numbers ?? "", result.witness ?? ""].join(" ").toLowerCase();
    return (!paper || claim.paper === paper) && (!verdict || result.verdict === verdict) && wanted.every((word) => text.includes(word));
  });
}

function show() {
  const claims = shown();
  const heads = ["Paper", "Number", "Statement", "Verdict", "Evidence"];
  $("#claims").replaceChildren(make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...claims.map(rowOf)));
  $("#claims-count").textContent = `${claims.length} of ${catalogue.claims.length} claims${tally(claims)}`;
  $("#claims-run").disabled = claims.length === 0;
}

function rowOf(claim) {
  const { verdict, covered, evidence, numbers, witness } = known(claim);
  const cell = (label, ...content) => make("td", { "data-label": label }, ...content);
  return make("tr", {}, cell("Paper", claim.paper), make("th", { scope: "row" }, claim.number), cell("Statement", claim.statement),
    cell("Verdict", make("span", { class: `state ${verdict.split(" ")[0]}` }, verdict), make("span", { class: "source" }, sourceOf(claim))),
    cell("Evidence", [covered, evidence].filter(Boolean).join(": "),
      numbers ? make("span", { class: "detail" }, numbers) : null, witness ? make("span", { class: "detail witness" }, `Witness: ${witness}`) : null));
}

function sourceOf(claim) {
  const fresh = found.get(claim.id);
  if (!fresh) return claim.recorded ? "as recorded" : "";
  const agrees = fresh.verdict === recorded(claim).verdict ? "" : `; the record says: ${recorded(claim).verdict}`;
  return `computed here in ${figure(fresh.seconds)} s${agrees}`;
}

function tally(claims) {
  const counts = verdicts().map((verdict) => [claims.filter((claim) => known(claim).verdict === verdict).length, verdict]);
  const parts = counts.filter(([count]) => count).map(([count, verdict]) => `${count} ${verdict}`);
  return parts.length ? `: ${parts.join(", ")}` : "";
}

async function run() {
  const names = shown().map(({ id }) => id);
  running(true);
  try {
    ({ job } = await post("api/claims", names));
    const mine = job;
    await follow(mine, () => job === mine, {
      progress: (id, result, fraction) => {
        found.set(id, result);
        $("#claims-bar").value = fraction;
        show();
      },
      done: () => clear("claims"),
    });
    if (job === mine) running(false);
  } catch (error) {
    running(false);
    notify("claims", `The computation stopped: ${error.message}`);
  }
}

async function cancel() {
  const old = job;
  running(false);
  if (old) await remove(`api/job/${old}`).catch(() => null);
}

function running(yes) {
  const focused = document.activeElement;
  if (!yes) job = null;
  $("#claims-bar").hidden = !yes;
  $("#claims-bar").value = 0;
  $("#claims-cancel").hidden = !yes;
  $("#claims-run").hidden = yes;
  // A button that goes takes the keyboard's place with it, unless the other one gets it.
  if (yes && focused.id === "claims-run") $("#claims-cancel").focus();
  if (!yes && focused.id === "claims-cancel") $("#claims-run").focus();
}
