// The charts. Their specifications are loaded once from the server; data is filled in later.
import { save } from "./copying.js";
import { $, make, tableOf } from "./dom.js";
import { notify } from "./notices.js";
import { chartConfig, isDark } from "./theme.js";

const REST = 150; // milliseconds without new figures after which charts out of view are drawn again
let library = null;
let resting = null;
const drawn = new Map();
const late = new Set(); // charts out of view, with data that they do not show yet
const watched = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const chart = [...drawn.values()].find(({ element }) => element === target);
    if (!chart) continue;
    chart.far = !isIntersecting;
    if (isIntersecting && late.has(chart)) fill(chart);
  }
}, { rootMargin: "100px" });

// The library is large, so numbers and text are shown before it has loaded.
function loadLibrary() {
  library ??= new Promise((resolve, reject) => {
    const script = make("script", { src: "vega.js" });
    script.addEventListener("load", () => resolve(window.vegaEmbed));
    script.addEventListener("error", () => { library = null; reject(new Error("The charts' script could not be loaded; the figures below are complete.")); });
    document.head.append(script);
  });
  return library;
}

export function chartFigure(name, title, columns) {
  const save = (kind) => make("button", { type: "button", class: "small", onclick: () => saveChart(name, kind), "aria-label": `Save “${title}” as ${kind.toUpperCase()}` }, kind.toUpperCase());
  const table = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, as a table` });
  const details = make("details", { ontoggle: () => showTable(name) }, make("summary", {}, "Show as a table"), table);
  // Vega sets a role on its own container. Screen readers should see one image with a description.
  const canvas = make("div", {}, make("p", { class: "waiting" }, "Drawing…"));
  const why = make("p", { class: "waiting", hidden: true });
  const picture = make("div", { class: "canvas", role: "img", "aria-labelledby": `${name}-text` }, canvas, why);
  const text = make("p", { class: "alternative", id: `${name}-text` });
  const extra = make("div", { class: "extra" });
  const element = make("figure", { class: "chart", id: `chart-${name}` },
    make("figcaption", {}, make("h3", {}, title), make("span", { class: "saves" }, save("png"), save("svg"))),
    picture, text, extra, details);
  watched.observe(element);
  drawn.set(name, { element, canvas, why, text, details, table, columns, view: null, key: null, rows: [], data: {} });
  return element;
}

export async function drawChart(name, { specification, key, data, rows, text, colours, empty = null }) {
  const chart = drawn.get(name);
  // An empty chart says why it is empty.
  chart.why.hidden = !empty;
  chart.why.textContent = empty ?? "";
  chart.canvas.hidden = Boolean(empty);
  Object.assign(chart, { rows, data, latest: { specification, key, colours } });
  chart.text.textContent = text;
  showTable(name);
  // A hidden chart has no width. It is drawn when it becomes visible. (checkVisibility would lay the page out
  // again for each chart.)
  if (!specification || !chart.canvas.isConnected || chart.canvas.closest("[hidden], details:not([open])")) return;
  if (chart.view && chart.key === key) {
    if (!chart.far) return fill(chart);
    late.add(chart);
    clearTimeout(resting);
    resting = setTimeout(drawLate, REST);
    return;
  }
  if (chart.pending === key) return;
  chart.pending = key;
  try {
    const embed = await loadLibrary();
    if (chart.pending !== key) return;
    const whole = { ...specification, config: undefined, autosize: { type: "fit-x", contains: "padding" }, datasets: structuredClone(chart.data) };
    const result = await embed(chart.canvas, whole, {
      ast: true, actions: false, defaultStyle: false, renderer: "canvas", logLevel: 1, config: chartConfig(specification.usermeta.order.map(colours), columnsFor(specification.usermeta.order, chart.canvas.clientWidth), chart.canvas.clientWidth - (specification.encoding?.y?.axis?.labelLimit ?? 40) - 50), tooltip: showTip,
    });
    chart.view?.finalize();
    Object.assign(chart, { view: result.view, key });
    chart.canvas.classList.toggle("dark", isDark());  // print.css makes it light
    if (chart.latest.key === key) await fill(chart);
  } catch (error) {
    notify("charts", error.message, { again: () => drawChart(name, { ...chart.latest, data: chart.data, rows: chart.rows, text }) });
  } finally {
    if (chart.pending === key) chart.pending = null;
  }
}

async function fill(chart) {
  late.delete(chart);
  for (const [set, values] of Object.entries(chart.data)) chart.view.data(set, values);
  await chart.view.runAsync();
}

export const drawLate = () => Promise.all([...late].map(fill));

// Use two legend columns only if the names are short enough.
const columnsFor = (names, width) => (Math.max(...names.map((name) => name.length)) * 7 + 30 > width / 2.2 ? 1 : 2);

export function forgetChart(name) {
  const chart = drawn.get(name);
  if (!chart) return;
  watched.unobserve(chart.element);
  late.delete(chart);
  chart.view?.finalize();
  drawn.delete(name);
}

function showTable(name) {
  const { details, table, columns, rows } = drawn.get(name);
  if (details.open) table.replaceChildren(tableOf(columns, rows));
}

async function saveChart(name, kind) {
  const { view } = drawn.get(name);
  if (!view) return;
  await drawLate();
  if (kind === "svg") save(new Blob([await view.toSVG()], { type: "image/svg+xml" }), `discreet-${name}.svg`);
  else make("a", { href: await view.toImageURL("png", 2), download: `discreet-${name}.png` }).click();
}

function showTip(handler, event, item, value) {
  const tip = $("#tip");
  if (value === null || value === undefined || value === "") {
    tip.hidden = true;
    return;
  }
  tip.textContent = Object.entries(value).map(([name, part]) => `${name}: ${part}`).join("\n");
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX + 12, innerWidth - width - 8)}px`;
  tip.style.top = `${Math.max(8, Math.min(event.clientY + 12, innerHeight - height - 8))}px`;
}
