// What is on the screen. It lives here and in the address after the #, never on the server. Scores of one's own are the
// exception: the address, which a browser keeps in its history, has only the name under which the server holds them.
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
  audit: "",
};

const listeners = [];
let writing = null;
export const onChange = (listener) => listeners.push(listener);

export function change(parts, { from = null } = {}) {
  clearTimeout(writing);
  // The back button returns to the view before; numbers that were tried in between are no stations.
  const elsewhere = parts.view !== undefined && parts.view !== state.view;
  if (elsewhere) history.replaceState(null, "", link());
  Object.assign(state, parts);
  if (elsewhere) history.pushState(null, "", link());
  // Browsers ignore a page that rewrites its address too often, as a slider would.
  else writing = setTimeout(() => history.replaceState(null, "", link()), 200);
  for (const listener of listeners) listener(from);
}

const own = (source) => source.startsWith("file:");

export function link() {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (name === "edits") {
      const edits = own(state.source) ? [] : Object.entries(value).map(([place, score]) => `${place}:${score}`);
      if (edits.length) parts.set(name, edits.join(","));
    } else if (name === "audit") {
      if (value) parts.set(name, value);
    } else parts.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  return `#${parts}`;
}

// Reads the address; whatever cannot be understood is left as it was and named.
export function restore(fragment) {
  const ignored = [];
  // A link that says where scores come from says all about them.
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const same = own(state.source) && parts.get("source") === state.source;
  if (parts.has("source") && !same) state.edits = {};
  for (const [name, text] of parts) {
    const value = understood(name, text);
    if (value === undefined) ignored.push(name.slice(0, 40));
    else state[name] = value;
  }
  return ignored;
}

function understood(name, text) {
  if (!Object.hasOwn(state, name)) return undefined;
  if (name === "view") return ["decide", "audit", "claims"].includes(text) ? text : undefined;
  if (name === "edits") return editsIn(text);
  if (typeof state[name] === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (Array.isArray(state[name])) return text ? text.split(",") : undefined;
  return text.length <= 200 ? text : undefined;
}

function editsIn(text) {
  const edits = {};
  for (const part of text.split(",")) {
    const [place, score] = part.split(":");
    if (!/^\d+$/.test(place) || score === undefined || score === "" || !Number.isFinite(Number(score))) return undefined;
    edits[place] = Number(score);
  }
  return edits;
}

// What the server is asked: numbers as they were typed, so that 0.1 means one tenth.
export function request() {
  const whole = (text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text);
  return { ...state, releases: whole(state.releases), worlds: whole(state.worlds) };
}
