// The page begins here: read the address, ask the server what there is, show it.
import { show as showVerdict, showForm, startAudit } from "./audit.js";
import { openClaims } from "./claims.js";
import { copy, save } from "./copying.js";
import { redraw, showControls, startDecide, update } from "./decide.js";
import { $, $$ } from "./dom.js";
import { clear, notify } from "./notices.js";
import { startRecord } from "./record.js";
import { get, post } from "./server.js";
import { showSource, startSources } from "./sources.js";
import { change, link, onChange, request, restore, state } from "./state.js";
import { startTheme } from "./theme.js";

let shownView = null;

function showView() {
  for (const view of ["decide", "audit", "claims"]) $(`#view-${view}`).hidden = state.view !== view;
  for (const button of $$("nav [data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
  $("#quick").hidden = state.view !== "decide";
  if (state.view === shownView) return;
  shownView = state.view;
  clear("file");
  if (state.view === "claims") openClaims();
  if (state.view === "audit") showVerdict();
}

function showAll(from = null) {
  showView();
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

function readAddress() {
  const ignored = restore(location.hash);
  if (ignored.length) notify("link", `Not understood in the link, and left as it was: ${ignored.join(", ")}.`);
}

async function begin() {
  readAddress();
  let start;
  try {
    start = await get("api/start");
  } catch (error) {
    notify("start", error.message, { again: () => location.reload() });
    return;
  }
  $("#version").textContent = start.version;
  startDecide(start);
  startRecord();
  startAudit(start);
  startTheme($("#theme"), () => { redraw(); showVerdict(); });
  startSources(start);
  onChange(showAll);
  for (const button of $$("nav [data-view]")) button.addEventListener("click", () => change({ view: button.dataset.view }));
  $("#copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + link(), "The link"));
  for (const button of $$("[data-copy]")) button.addEventListener("click", () => copy($(`#${button.dataset.copy}`).textContent, button.dataset.copy === "python" ? "The Python" : "The command"));
  $("#save-scores").addEventListener("click", saveScores);
  $("#print").addEventListener("click", () => print());
  addEventListener("hashchange", () => { readAddress(); showForm(); showAll(); });
  showAll();
}

begin();
