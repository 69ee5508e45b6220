// Where scores come from: examples, the file of the command line, a file, pasted lines.
import { $, make, unbroken } from "./dom.js";
import { clear, notify } from "./notices.js";
import { sendFile } from "./server.js";
import { change, state } from "./state.js";

let offered = null;
const files = new Map();

export function startSources(start) {
  offered = start;
  if (start.opened) remember(start.opened);
  const source = $("#source");
  source.addEventListener("change", () => choose(source.value));
  $("#declared").addEventListener("change", (event) => {
    for (const name of ["file", "pasted", "use-pasted"]) $(`#${name}`).disabled = !event.target.checked;
  });
  $("#file").addEventListener("change", (event) => event.target.files[0] && open(event.target.files[0].name, event.target.files[0]));
  $("#use-pasted").addEventListener("click", () => open("pasted.csv", new Blob([$("#pasted").value])));
  // With a file on the command line and nothing in the address, the page begins with that file.
  if (start.opened && location.hash.length < 2) use(start.opened);
}

export function showSource() {
  const options = offered.examples.map(({ key, title }) => make("option", { value: `example:${key}` }, title));
  for (const [value, { name }] of files) options.push(make("option", { value }, name));
  if (state.source.startsWith("file:") && !files.has(state.source)) options.push(make("option", { value: state.source }, "A file that was open"));
  $("#source").replaceChildren(...options);
  $("#source").value = state.source;
  const example = offered.examples.find(({ key }) => state.source === `example:${key}`);
  $("#about").textContent = example ? unbroken(example.about) : "Set Δ, and whether scores are monotonic, for these scores.";
}

function choose(value) {
  clear("file");
  if (files.has(value)) {
    use(files.get(value));
    return;
  }
  const example = offered.examples.find(({ key }) => value === `example:${key}`);
  if (!example) return;
  const { sensitivity, monotonic, epsilon, tolerance } = example;
  change({ source: value, edits: {}, sensitivity, monotonic, epsilon, tolerance });
}

const valueOf = (file) => `file:${file.key}`;

function remember(file) {
  files.set(valueOf(file), file);
}

function use(file) {
  remember(file);
  // What was said of other scores does not hold for these; nothing better than Δ = 1 can be guessed, so the page asks.
  const { sensitivity = "1", monotonic = false } = file;
  change({ source: valueOf(file), edits: {}, sensitivity, monotonic });
}

async function open(name, content) {
  if (content.size > offered.limits.bytes) {
    notify("file", `The file is larger than ${offered.limits.bytes / 2 ** 20} MB, the most this page reads.`);
    return;
  }
  try {
    const file = await sendFile(name, content);
    clear("file");
    use(file);
    notify("file", `${file.name}: ${file.count === 1 ? "1 candidate" : `${file.count.toLocaleString("en")} candidates`}. Now say for these scores what Δ is and whether they are monotonic; until then Δ = 1 and not monotonic.`, { good: true });
  } catch (error) {
    notify("file", `This file was not used: ${error.message}.`);
  } finally {
    $("#file").value = "";
  }
}
