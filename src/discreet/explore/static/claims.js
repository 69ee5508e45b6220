// Every claim of the papers, with filters; checked on demand, in the background.
import { $, figure, make } from "./dom.js";
import { follow } from "./follow.js";
import { clear, notify } from "./notices.js";
import { get, post, remove } from "./server.js";

const UNCHECKED = "not checked here yet";
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
    make("p", { class: "hint" }, "Each numbered claim is one executable check. “Check” runs those shown at their quick settings; “discreet claims” on the command line runs the full ranges."),
    make("div", { class: "claims-form" },
      choice("paper", "Paper", catalogue.papers.map(({ key, title }) => [key, title])),
      choice("verdict", "Verdict", [...catalogue.verdicts, "failed", UNCHECKED].map((verdict) => [verdict, verdict])),
      make("div", { class: "field" }, make("label", { for: "claims-words" }, "Words"), make("input", { type: "search", id: "claims-words", oninput: show }))),
    make("div", { class: "actions" },
      make("button", { type: "button", class: "primary", id: "claims-run", onclick: run }, "Check those shown"),
      make("button", { type: "button", id: "claims-cancel", hidden: true, onclick: cancel }, "Cancel"),
      make("span", { id: "claims-count", role: "status" })),
    make("progress", { id: "claims-bar", max: 1, value: 0, hidden: true, "aria-label": "How many claims are checked" }),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Claims" }, make("table", { class: "claims", id: "claims" }))));
  show();
}

function shown() {
  const [paper, verdict, words] = ["paper", "verdict", "words"].map((name) => $(`#claims-${name}`).value.trim());
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return catalogue.claims.filter((claim) => {
    const result = found.get(claim.id);
    const text = `${claim.paper} ${claim.number} ${claim.statement} ${result?.evidence ?? ""}`.toLowerCase();
    return (!paper || claim.paper === paper) && (!verdict || (result?.verdict ?? UNCHECKED) === verdict) && wanted.every((word) => text.includes(word));
  });
}

function show() {
  const claims = shown();
  const heads = ["Paper", "Number", "Statement", "Verdict", "Evidence", "Seconds"];
  const rows = claims.map((claim) => {
    const result = found.get(claim.id);
    const verdict = result?.verdict ?? UNCHECKED;
    const cell = (label, ...content) => make("td", { "data-label": label }, ...content);
    return make("tr", {}, cell("Paper", claim.paper), make("th", { scope: "row" }, claim.number), cell("Statement", claim.statement),
      cell("Verdict", make("span", { class: `state ${result ? verdict.split(" ")[0] : ""}` }, verdict)),
      cell("Evidence", result ? [result.covered, result.evidence].filter(Boolean).join(": ") : ""), cell("Seconds", result ? figure(result.seconds) : ""));
  });
  $("#claims").replaceChildren(make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows));
  $("#claims-count").textContent = `${claims.length} of ${catalogue.claims.length} claims`;
  $("#claims-run").disabled = claims.length === 0;
}

async function run() {
  const names = shown().map(({ id }) => id);
  running(true);
  try {
    ({ job } = await post("api/claims", names));
    const mine = job;
    await follow(mine, () => job === mine, {
      progress: (result, fraction) => {
        found.set(result.id, result);
        $("#claims-bar").value = fraction;
        show();
      },
      done: () => clear("claims"),
    });
    if (job === mine) running(false);
  } catch (error) {
    running(false);
    notify("claims", `The check stopped: ${error.message}`);
  }
}

async function cancel() {
  const old = job;
  running(false);
  if (old) await remove(`api/job/${old}`).catch(() => null);
}

function running(yes) {
  if (!yes) job = null;
  $("#claims-bar").hidden = !yes;
  $("#claims-bar").value = 0;
  $("#claims-cancel").hidden = !yes;
  $("#claims-run").hidden = yes;
}
