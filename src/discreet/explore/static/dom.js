// Build elements without innerHTML, because labels come from users' files.
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function figure(value) {
  if (value === null || value === undefined) return "…";
  if (value === "inf") return "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4) return value.toExponential(1);
  if (size >= 1e4) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(4)));
}

// Costs are always rounded up.
export function cost(value) {
  if (typeof value !== "number" || value === 0) return figure(value);
  const grid = 10 ** (3 - Math.floor(Math.log10(value)));
  return figure(Math.ceil(value * grid - 1e-6) / grid);
}

// A term with its meaning: shown on hover and on keyboard focus, and read by screen readers.
export function term(text, meaning) {
  const tip = $("#tip");
  const element = make("span", { class: "term", tabindex: 0 }, text, make("span", { class: "unseen" }, `: ${meaning}`));
  const show = () => {
    tip.textContent = meaning;
    tip.hidden = false;
    const { left, bottom } = element.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.min(bottom + 6, innerHeight - height - 8)}px`;
  };
  for (const name of ["mouseenter", "focus"]) element.addEventListener(name, show);
  for (const name of ["mouseleave", "blur"]) element.addEventListener(name, () => { tip.hidden = true; });
  return element;
}

// Keep "ε = 1" on one line.
export const unbroken = (text) => text.replaceAll(" = ", "\u00a0=\u00a0");

export function percent(value) {
  if (value > 0 && value < 0.001) return "< 0.1%";
  if (value < 1 && value > 0.999) return "> 99.9%";
  return `${Number((100 * value).toPrecision(3))}%`;
}

export function tableOf(columns, rows) {
  const head = make("tr", {}, ...columns.map(({ title, number }) => make("th", { scope: "col", class: number ? "number" : "" }, title)));
  const body = rows.map((row) =>
    make("tr", {}, ...columns.map(({ field, number, show = figure }) =>
      make("td", { class: number ? "number" : "" }, number ? show(row[field]) : String(row[field])))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
}
