// Messages at the top of the page, one for each cause.
import { $, make } from "./dom.js";

const shown = new Map();

export function notify(cause, text, { good = false, again = null, busy = false } = {}) {
  clear(cause);
  const notice = make("div", { class: `notice${good ? " good" : busy ? " busy" : ""}` }, make("span", {}, text), busy ? make("progress", { "aria-label": text }) : null);
  const buttons = make("span", { class: "saves" });
  if (again) buttons.append(make("button", { type: "button", class: "small", onclick: again }, "Try again"));
  buttons.append(make("button", { type: "button", class: "small", "aria-label": "Close this message", onclick: () => clear(cause) }, "Close"));
  notice.append(buttons);
  shown.set(cause, notice);
  $("#notices").append(notice);
  if (good) setTimeout(() => shown.get(cause) === notice && clear(cause), 4000);
}

export function clear(cause) {
  shown.get(cause)?.remove();
  shown.delete(cause);
}
