// Light or dark theme: the system's setting, unless the user chose one on this page.
const KEY = "discreet-theme";

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function isDark() {
  const told = document.documentElement.dataset.theme;
  return told ? told === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function startTheme(button, redraw) {
  const told = stored();
  if (told === "light" || told === "dark") document.documentElement.dataset.theme = told;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  name();
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem(KEY, document.documentElement.dataset.theme);
    } catch {
      // Private windows may refuse storage; the theme then lasts until the page is closed.
    }
    name();
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); redraw(); });
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Vega's configuration in the page's colours.
export function chartConfig(categories, columns, width) {
  const [ink, muted, grid, line, surface] = ["ink", "muted", "grid", "line", "surface"].map(colour);
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: surface,
    font,
    padding: 4,
    view: { stroke: null },
    axis: { labelColor: ink, titleColor: muted, titleFontWeight: 600, gridColor: grid, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12 },
    legend: { labelColor: ink, titleColor: muted, labelFontSize: 12, orient: "top", columns, title: null, labelLimit: columns > 1 ? 240 : Math.min(380, width), symbolSize: 90 },
    axisX: { grid: false },
    rule: { color: ink },
    text: { color: ink },
    rect: { color: colour("good") },
    range: { category: categories.map(colour) },
  };
}
