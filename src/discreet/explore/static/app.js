// The page's entry point: load the options from the server, read the address, show the view.
import { openAttack, startAttack } from "./attack.js";
import { run as runAudit, show as showVerdict, showForm, startAudit } from "./audit.js";
import { copy, save } from "./copying.js";
import { redraw, scoresShown, showControls, startDecide, update } from "./decide.js";
import { $, $$ } from "./dom.js";
import { clear, notify } from "./notices.js";
import { startRecord } from "./record.js";
import { get, post } from "./server.js";
import { fromDraft, fromLink, showSource, startSources } from "./sources.js";
import { change, link, onChange, request, restore, startState, state } from "./state.js";
import { startTheme } from "./theme.js";

let shownView = null;

function showView() {
  for (const view of ["decide", "attack", "audit"]) $(`#view-${view}`).hidden = state.view !== view;
  for (const button of $$("nav [data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
  if (state.view === shownView) return;
  shownView = state.view;
  clear("file");
  if (state.view === "audit") showVerdict();
  if (state.view === "attack") openAttack();
}

function showAll(from = null) {
  showView();
  // Only the user's own scores can reveal anything; examples and look-alikes are invented.
  $("#not-private").hidden = state.view !== "decide" || !state.source.startsWith("file:");
  showSource();
  showControls(from);
  update();
}

async function saveScores() {
  try {
    const { csv } = await post("api/scores", request());
    save(new Blob([csv], { type: "text/csv" }), "scores.csv");
  } catch (error) {
    notify("scores", error.message);
  }
}

function copyLink() {
  const own = Object.keys(state.edits).length || state.source.startsWith("file:");
  copy(location.href.split("#")[0] + link(), own ? "The link (without the scores; they stay in the server’s memory)" : "The link");
}

function copyScoresLink() {
  const scores = scoresShown();
  if (scores) copy(location.href.split("#")[0] + link(scores), "A link that contains these scores (opening it puts them into the browser’s history)");
  else notify("copy", "There are too many candidates for a link: save scores.csv instead.");
}

async function readAddress() {
  const { ignored, scores, page } = restore(location.hash);
  if (ignored.length) notify("link", `These parts of the link were not understood and had no effect: ${ignored.join(", ")}.`);
  else clear("link");
  if (scores) await fromLink(scores).catch((error) => notify("link", `The scores in the link were not used: ${error.message}`));
  else if (page) await fromDraft(page).catch(() => null);
  showForm();
  showAll();
  // A link to an audit runs the audit again to show its result.
  if (state.view === "audit" && state.audit) runAudit();
}

async function begin() {
  let start;
  try {
    start = await get("api/start");
  } catch (error) {
    notify("start", error.message, { again: () => location.reload() });
    return;
  }
  $("#version").textContent = start.version;
  startState(start);
  startDecide(start);
  startRecord(redraw);
  startAttack(start);
  startAudit(start);
  startTheme($("#theme"), () => { redraw(); showVerdict(); openAttack(); });
  startSources(start);
  onChange(showAll);
  for (const button of $$("nav [data-view]")) button.addEventListener("click", () => change({ view: button.dataset.view }));
  $("#copy-link").addEventListener("click", copyLink);
  $("#copy-scores-link").addEventListener("click", copyScoresLink);
  for (const button of $$("[data-copy]")) button.addEventListener("click", () => copy($(`#${button.dataset.copy}`).textContent, button.dataset.copy === "python" ? "The Python" : "The command"));
  $("#save-scores").addEventListener("click", saveScores);
  addEventListener("hashchange", readAddress);
  await readAddress();
}

begin();
