// A slider and a box for the same number. The slider has only round numbers, so every key press moves it.
import { $, make } from "./dom.js";
import { change, state } from "./state.js";

const MANTISSAS = [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.8, 3, 3.2, 3.4, 3.6, 3.8, 4, 4.3, 4.6, 5, 5.3, 5.6, 6, 6.4, 6.8, 7.2, 7.6, 8, 8.5, 9, 9.5];
const dials = [];

const written = (value) => (value > 0 && value < 1e-3 ? String(Number(value.toPrecision(3)).toExponential()) : String(Number(value.toPrecision(3))));

// Round numbers from low to high on a logarithmic scale; only whole ones for counts.
function decades(low, high, whole) {
  const stops = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const mantissa of MANTISSAS) {
      const value = Number((mantissa * 10 ** power).toPrecision(3));
      if (value >= low * 0.999 && value <= high * 1.001) stops.push(whole ? Math.round(value) : value);
    }
  }
  return [...new Set([...stops, high])].sort((one, other) => one - other).map(written);
}

// Even steps from zero to the spread of the scores: about a hundred, each 1, 2 or 5 times a power of ten.
export function evenly(spread, whole) {
  const rough = Math.max(spread, 1e-9) / 100;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(whole ? 1 : 0, [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) * power);
  return Array.from({ length: Math.max(2, Math.floor(spread / step + 1e-9) + 1) }, (_, place) => String(Number((place * step).toPrecision(6))));
}

export function addDial(place, { name, id = name, label, low, high, whole = false, hint = null }) {
  const dial = { name, stops: decades(low, high, whole) };
  const slider = make("input", {
    type: "range", min: 0, max: dial.stops.length - 1, step: 1, id: `${id}-slider`, "aria-label": `${label}, slider`,
    oninput: () => change({ [name]: dial.stops[Number(slider.value)] }, { from: slider }),
  });
  const box = make("input", {
    type: "text", inputmode: "decimal", id, "aria-describedby": `${id}-wrong`, maxlength: 40,
    oninput: () => change({ [name]: box.value.trim() }, { from: box }),
  });
  const wrong = make("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
  const rows = [make("label", { for: id }, label), slider, box, wrong];
  if (hint) rows.push(make("p", { class: "hint" }, hint));
  $(place).append(make("div", { class: "dial" }, ...rows));
  dials.push(Object.assign(dial, { slider, box, wrong }));
}

export function setStops(name, stops) {
  for (const dial of dials.filter((one) => one.name === name)) {
    if (dial.stops.join() === stops.join()) continue;
    dial.stops = stops;
    dial.slider.max = String(stops.length - 1);
    place(dial);
  }
}

function place({ name, slider, stops }) {
  const value = Number(state[name]);
  if (!Number.isFinite(value)) return;
  const distance = (stop) => Math.abs(Number(stop) - value);
  slider.value = String(stops.reduce((best, stop, index) => (distance(stop) < distance(stops[best]) ? index : best), 0));
}

export function showDials(from) {
  for (const dial of dials) {
    if (from !== dial.box) dial.box.value = state[dial.name];
    if (from !== dial.slider) place(dial);
    dial.slider.setAttribute("aria-valuetext", state[dial.name]);
  }
}

// The server's message starts with the control's name: "epsilon='0' is not allowed: …".
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
