// Sources of scores: examples, look-alikes, the file from the command line, an uploaded file, pasted lines.
import { $, $$, make, unbroken } from "./dom.js";
import { clear, notify } from "./notices.js";
import { get, post, sendFile } from "./server.js";
import { change, request, state } from "./state.js";

let offered = null;
const files = new Map();

export function startSources(start) {
  offered = start;
  if (start.opened) remember(start.opened);
  const source = $("#source");
  source.addEventListener("change", () => choose(source.value));
  $("#declared").addEventListener("change", (event) => {
    for (const name of ["file", "pasted", "use-pasted"]) $(`#${name}`).disabled = !event.target.checked;
    $("#undeclared").hidden = true;
    const [dropped] = $("#file").files;
    if (event.target.checked && dropped) open(dropped.name, dropped);
  });
  $("#file").addEventListener("change", (event) => event.target.files[0] && open(event.target.files[0].name, event.target.files[0]));
  startDropping();
  $("#use-pasted").addEventListener("click", () => open("pasted.csv", new Blob([$("#pasted").value])));
  $("#made-shape").append(...Object.entries(start.shapes).map(([value, words]) => make("option", { value }, words)));
  $("#make-look-alike").addEventListener("click", makeLookAlike);
  $("#ask-done").addEventListener("click", answered);
  // If a file was given on the command line and the address is empty, start with that file.
  if (start.opened && location.hash.length < 2) use(start.opened);
}

// A file may be dropped anywhere. It is opened once the box that declares it public is ticked.
function startDropping() {
  const over = (yes) => document.body.classList.toggle("dropping", yes);
  addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) { event.preventDefault(); over(true); } });
  addEventListener("dragleave", (event) => event.relatedTarget ?? over(false));
  addEventListener("drop", (event) => {
    over(false);
    const file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    change({ view: "decide" });
    if ($("#declared").checked) open(file.name, file);
    else {
      $("#file").files = event.dataTransfer.files;
      $("#own").open = true;
      $("#undeclared").textContent = `${file.name} is not read yet. Tick the box to open it.`;
      $("#undeclared").hidden = false;
      $("#declared").focus({ preventScroll: true });
      $("#declared").scrollIntoView({ block: "center" });
    }
  });
}

const exampleOf = (source) => offered.examples.find(({ key }) => source === `example:${key}`);

export function showSource() {
  const options = offered.examples.map(({ key, title }) => make("option", { value: `example:${key}` }, title));
  for (const [value, { name }] of files) options.push(make("option", { value }, name));
  if (state.source.startsWith("made:")) options.push(make("option", { value: state.source }, `Look-alike of ${Number(state.source.slice(5).split(",")[0]).toLocaleString("en")} candidates`));
  if (state.source.startsWith("file:") && !files.has(state.source)) options.push(make("option", { value: state.source }, "Scores that were open"));
  $("#source").replaceChildren(...options);
  $("#source").value = state.source;
  const example = exampleOf(state.source);
  $("#about").textContent = example ? unbroken(`${example.about} Suggested: ε = ${example.epsilon}, errors of at most ${example.tolerance}.`)
    : state.source.startsWith("made:") ? "Invented. Set Δ, and whether scores are monotonic, as for the real ones." : "Set Δ, and whether scores are monotonic, for these scores.";
  if (!files.get(state.source)?.unsaid) $("#ask").hidden = true;
}

function choose(value) {
  clear("file");
  if (files.has(value)) {
    use(files.get(value));
    return;
  }
  const [example, before] = [exampleOf(value), exampleOf(state.source)];
  if (!example) return;
  const { sensitivity, monotonic, tolerance } = example;
  // An ε that the user chose stays; the one suggested for the last example gives way to the next suggestion.
  const epsilon = state.epsilon === before?.epsilon ? example.epsilon : state.epsilon;
  change({ source: value, edits: {}, sensitivity, monotonic, epsilon, tolerance });
}

async function makeLookAlike() {
  const facts = ["count", "best", "lead", "shape"].map((name) => $(`#made-${name}`).value.trim().replaceAll(",", " ")).join(",");
  const wrong = $("#made-wrong");
  const [, best] = facts.split(",").map(Number);
  try {
    // Start with a twentieth of the best score, as for other scores. It is whole, like the scores.
    const tolerance = best >= 20 ? String(Number((best / 20).toPrecision(1))) : best > 2 ? "1" : "0";
    await post("api/figures", { ...request(), source: `made:${facts}`, edits: {}, tolerance });
    wrong.hidden = true;
    change({ source: `made:${facts}`, edits: {}, tolerance });
  } catch (error) {
    wrong.textContent = error.message.replace(/^.*?: /, "");
    wrong.hidden = false;
  }
}

const valueOf = (file) => `file:${file.key}`;

function remember(file) {
  files.set(valueOf(file), file);
}

function use(file) {
  remember(file);
  // Settings for other scores do not apply here: assume the worst case and ask the user.
  const { sensitivity = "1", monotonic = false, tolerance } = file;
  file.unsaid ??= file.sensitivity === undefined;
  if (file.unsaid) {
    for (const radio of $$("#ask input[type=radio]")) radio.checked = false;
    $("#ask-sensitivity").value = sensitivity;
    $("#ask").hidden = false;
  }
  $("#with-scores").checked = false;
  change({ source: valueOf(file), edits: {}, sensitivity, monotonic, tolerance });
}

function answered() {
  const said = $("#ask input[type=radio]:checked")?.value;
  const sensitivity = $("#ask-sensitivity").value.trim();
  const wrong = $("#ask-wrong");
  const fine = said && Number(sensitivity) > 0;
  wrong.hidden = Boolean(fine);
  wrong.textContent = said ? "Δ must be a number above zero." : "Choose one of the two.";
  if (!fine) return;
  const file = files.get(state.source);
  const monotonic = said === "count";
  Object.assign(file, { unsaid: false, sensitivity, monotonic });
  $("#source").focus();
  change({ sensitivity, monotonic });
}

export const unsaid = () => Boolean(files.get(state.source)?.unsaid);

// Move scores from a link to the server's memory, and remove them from the address.
export async function fromLink(scores) {
  history.replaceState(null, "", location.href.split("#")[0]);
  const quoted = (label) => `"${label.replaceAll('"', '""')}"`;
  const { sensitivity, monotonic, tolerance } = state;
  const file = await sendFile("scores of a link.csv", new Blob(["candidate,score\n", ...scores.map(([label, score]) => `${quoted(label)},${score}\n`)]));
  use({ ...file, sensitivity, monotonic, tolerance });
}

// Restore the changes that were made before a reload.
export async function fromDraft(page) {
  const { edits } = await get(`api/draft?${new URLSearchParams({ page, source: state.source })}`);
  if (Object.keys(edits).length) change({ edits });
}

async function open(name, content) {
  if (content.size > offered.limits.bytes) {
    notify("file", `The file is larger than ${offered.limits.bytes / 2 ** 20} MB, the most this page reads.`);
    return;
  }
  notify("file", `Reading ${name}…`, { busy: true });
  try {
    const file = await sendFile(name, content);
    clear("file");
    use(file);
    notify("file", `${file.name}: ${file.count === 1 ? "1 candidate" : `${file.count.toLocaleString("en")} candidates`}. Say below what one person can do to these scores; until then the page assumes Δ = 1 and not monotonic.`, { good: true });
    $("#ask").scrollIntoView({ block: "center" });
    $("#ask input").focus();
  } catch (error) {
    notify("file", `This file was not used: ${error.message}.`);
  } finally {
    $("#file").value = "";
  }
}
