// The page's state. It is also stored in the address, after the #. The exception is scores that the user
// typed, changed or opened: browsers store addresses in their history, so the address has only a key, and the
// server keeps the scores in memory.
export const state = {
  view: "decide",
  source: "example:clinic",
  edits: {},
  epsilon: "0.25",
  sensitivity: "1",
  monotonic: true,
  releases: "10",
  delta: "1e-6",
  mechanisms: ["permute-and-flip", "exponential", "noisy-max-laplace"],
  choice: "permute-and-flip",
  tolerance: "10",
  level: "0.95",
  worlds: "2",
  missing: false,
  risk: "0.9",
  audit: "",
  page: fresh(),
};

const VIEWS = ["decide", "attack", "audit"];
const listeners = [];
let writing = null;
let offered = null;
export const onChange = (listener) => listeners.push(listener);
export const startState = (start) => { offered = start; };

// The key of this page's changes on the server.
function fresh() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function change(parts, { from = null } = {}) {
  clearTimeout(writing);
  // The back button returns to the previous view, and skips numbers that were tried in between.
  const elsewhere = parts.view !== undefined && parts.view !== state.view;
  if (elsewhere) history.replaceState(null, "", link());
  Object.assign(state, parts);
  if (elsewhere) history.pushState(null, "", link());
  // Browsers ignore a page that changes its address too often, as a slider would.
  else writing = setTimeout(() => history.replaceState(null, "", link()), 200);
  for (const listener of listeners) listener(from);
}

export function link(scores = null) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (name === "edits" || (name === "audit" && !value)) continue;
    parts.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  if (scores) {
    parts.delete("source");
    parts.delete("page");
    parts.set("scores", JSON.stringify(scores));
  }
  return `#${parts}`;
}

// Reads the address. Parts that are invalid are ignored and listed. Also returns any scores in the address,
// and the key of a page whose changes it refers to.
export function restore(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const told = { ignored: [], scores: null, page: null };
  if (parts.has("source") && parts.get("source") !== state.source) state.edits = {};
  for (const [name, text] of parts) {
    if (name === "page") told.page = /^[0-9a-f]{24}$/.test(text) && text !== state.page ? text : null;
    else if (name === "scores") told.scores = scoresIn(text);
    else {
      const value = understood(name, text);
      if (value === undefined) told.ignored.push(name.slice(0, 40));
      else state[name] = value;
    }
    if (name === "scores" && !told.scores) told.ignored.push("scores");
  }
  return told;
}

function understood(name, text) {
  if (!Object.hasOwn(state, name) || name === "edits") return undefined;
  const known = (one) => offered.mechanisms.some((mechanism) => mechanism.name === one);
  if (name === "view") return VIEWS.includes(text) ? text : undefined;
  if (name === "choice") return known(text) ? text : undefined;
  if (name === "mechanisms") return text.split(",").every(known) ? text.split(",") : undefined;
  if (name === "source" && text.startsWith("example:")) return offered.examples.some(({ key }) => text === `example:${key}`) ? text : undefined;
  if (typeof state[name] === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  return text.length <= 200 ? text : undefined;
}

function scoresIn(text) {
  try {
    const scores = JSON.parse(text);
    return Array.isArray(scores) && scores.every((one) => typeof one[0] === "string" && Number.isFinite(one[1])) ? scores : null;
  } catch {
    return null;
  }
}

// The request to the server. Numbers are sent as typed, so 0.1 means exactly one tenth.
export function request() {
  const whole = (text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text);
  return { ...state, releases: whole(state.releases), worlds: whole(state.worlds) };
}
