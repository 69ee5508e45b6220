// A slider and a box for the same number; sliders of quantities that span decades are logarithmic.
import { $, make } from "./dom.js";
import { change, state } from "./state.js";

const STEPS = 1000;
const dials = [];

// The same number may have two dials: one among the controls, one within reach on a small screen.
export function addDial(place, { name, id = name, label, low, high, logarithmic = true, whole = false, hint = null }) {
  const toValue = (step) => {
    const part = step / STEPS;
    const value = logarithmic ? low * (high / low) ** part : low + (high - low) * part;
    return whole ? String(Math.round(value)) : tidy(value);
  };
  const toStep = (text) => {
    const value = Number(text);
    if (!Number.isFinite(value)) return null;
    const part = logarithmic ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return Math.round(STEPS * Math.min(1, Math.max(0, part)));
  };
  const slider = make("input", {
    type: "range", min: 0, max: STEPS, step: 1, id: `${id}-slider`, "aria-label": `${label}, slider`,
    oninput: () => change({ [name]: toValue(Number(slider.value)) }, { from: slider }),
  });
  const box = make("input", {
    type: "text", inputmode: "decimal", id, "aria-describedby": `${id}-wrong`, maxlength: 40,
    oninput: () => change({ [name]: box.value.trim() }, { from: box }),
  });
  const wrong = make("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
  const rows = [make("label", { for: id }, label), slider, box, wrong];
  if (hint) rows.push(make("p", { class: "hint" }, hint));
  $(place).append(make("div", { class: "dial" }, ...rows));
  dials.push({ name, slider, box, wrong, toStep });
}

export function showDials(from) {
  for (const { name, slider, box, toStep } of dials) {
    if (from !== box) box.value = state[name];
    const step = toStep(state[name]);
    if (from !== slider && step !== null) slider.value = String(step);
    slider.setAttribute("aria-valuetext", state[name]);
  }
}

// The server names the control in front of its message: "epsilon='0' is not allowed: …".
export function showWrong(message) {
  let found = false;
  for (const { name, box, wrong } of dials) {
    const here = message !== null && message.startsWith(`${name}=`);
    found ||= here;
    box.setAttribute("aria-invalid", String(here));
    wrong.hidden = !here;
    wrong.textContent = here ? message.replace(/^.*?: /, "") : "";
  }
  return found;
}

function tidy(value) {
  if (value < 1e-3) return value.toExponential(0);
  return String(Number(value.toPrecision(value < 10 ? 2 : 3)));
}
