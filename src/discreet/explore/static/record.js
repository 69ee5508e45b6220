// The decision record. The server creates it with a hash; it can be saved, or printed with its charts.
import { drawLate } from "./charts.js";
import { save } from "./copying.js";
import { $, make } from "./dom.js";
import { clear, notify } from "./notices.js";
import { post } from "./server.js";
import { request, state } from "./state.js";

const PAUSE = 400;
let waiting = null;
let made = null;

export function startRecord(redraw) {
  for (const box of ["#purpose", "#people", "#dataset", "#with-scores"]) $(box).addEventListener("input", soon);
  $("#save-record").addEventListener("click", async () => {
    if (await fetchRecord()) save(new Blob([made], { type: "application/json" }), "record.json");
  });
  $("#print").addEventListener("click", async () => {
    if (!(await fetchRecord())) return;
    $("#more").open = true;
    await redraw();
    await drawLate();
    print();
  });
}

// Wait for a pause: a moving slider would request a record at every step.
export function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(fetchRecord, PAUSE);
}

async function fetchRecord() {
  clearTimeout(waiting);
  const written = Object.fromEntries(["purpose", "people", "dataset"].map((name) => [name, $(`#${name}`).value.trim()]));
  try {
    const { file, entries } = await post("api/record", { ...request(), written, with_scores: $("#with-scores").checked });
    made = file;
    clear("record");
    const source = $("#source").selectedOptions[0]?.textContent ?? "";
    const terms = [["Purpose", written.purpose], ["Decided by", written.people], ...entries];
    $("#record-list").replaceChildren(...terms.flatMap(([term, text]) => [
      make("dt", {}, term), make("dd", { class: text ? "" : "blank" }, term === "Scores" ? `${source}: ${text}${Object.keys(state.edits).length ? "; changed by hand" : ""}` : text)]));
    return true;
  } catch (error) {
    notify("record", `The record was not made: ${error.message}`);
    return false;
  }
}
