// A study on the page: its file is planned for nothing, then its questions are asked one after another, each
// under the study's own key. What was answered once is kept, so that a run that was cut off goes on.

import { STATES, accuracy, ask as send, at, badge, call, complain, element, enable, enabled, judged } from "./parts.js";
import { again } from "./answers.js";

let plan = null;
let running = false;

function forget() {
  plan = null;
  at("study-plan").hidden = true;
}

// A question as a study's file writes it.
function written(asked, name) {
  const { kind, table, ...fields } = asked;
  const value = (given) => (Array.isArray(given) ? `[${given.map(value).join(", ")}]` : JSON.stringify(given));
  const lines = Object.entries(fields).map(([field, given]) => `${field} = ${value(given)}`);
  return [`[[question]]`, `name = ${value(name)}`, `ask = "${kind}"`, `table = ${value(table)}`, ...lines, ""].join("\n");
}

// Adds the question of the form, so that nobody need know how such a file is written.
export function add(asked) {
  const box = at("study-text");
  let text = box.value.trim() ? `${box.value.trimEnd()}\n\n` : `[study]\ntitle = "My study"\n\n`;
  const table = `[table.${/^[\w-]+$/.test(asked.table) ? asked.table : JSON.stringify(asked.table)}]`;
  if (!text.includes(table)) text += `${table}\nsource = ${JSON.stringify(`desk:${asked.table}`)}\n\n`;
  const about = asked.column ?? asked.score ?? asked.function;
  const name = (place) => (place ? `${about} ${place}` : about);
  let place = 0;
  while (text.includes(`name = ${JSON.stringify(name(place))}`)) place = place ? place + 1 : 2;
  box.value = text + written(asked, name(place));
  box.scrollTop = box.scrollHeight;
  forget();
}

function show(plan) {
  const body = at("study-rows");
  body.replaceChildren(...plan.questions.map((each) => {
    const row = element("tr");
    const what = element("th", each.name, { scope: "row" });
    what.append(element("span", each.card.title, { class: "hint" }));
    const good = element("td", undefined, { "data-label": "Accuracy" });
    good.append(badge(judged(each.card)), element("span", accuracy(each.card), { class: "hint" }), ...each.card.doubts.map((doubt) => element("span", doubt, { class: "hint" })));
    const answer = element("td", undefined, { "data-label": "Answer" });
    if (each.release) answer.append(again(each.asked, each.release));
    else {
      const open = each.card.answered ? "This study has not asked it yet. You paid for the same question outside this study; running the study pays again." : "not asked yet";
      answer.append(element("span", each.said ?? STATES[each.state] ?? open, { class: "hint" }));
    }
    row.append(what, element("td", each.cost, { "data-label": "ε" }), good, answer);
    return row;
  }));
  const open = plan.questions.filter((each) => each.state === null);
  at("study-name").textContent = plan.title;
  at("study-said").textContent = plan.conclusion;
  at("study-said").dataset.state = plan.fits ? "good" : "bad";
  at("study-run").textContent = open.length ? `Run it, and pay ε ${plan.ahead}` : "Nothing left to run";
  enable(at("study-run"), !running && open.length && plan.fits);
  at("study-plan").hidden = false;
}

async function planAgain() {
  const text = at("study-text").value;
  const found = await call("api/study", { study: text });
  if (text !== at("study-text").value) return;
  plan = found;
  show(plan);
}

// Plans again if a question was still running when the study was planned.
export async function renew() {
  if (!running && plan?.questions.some(({ state }) => STATES[state] === "running")) await planAgain().catch(() => {});
}

// While a study runs nothing of it can be changed.
function run(whether) {
  running = whether;
  for (const each of at("study").elements) each.disabled = whether;
  at("study-waiting").hidden = !whether;
}

// Calls, and where the desk says that this is too often waits as long as it says.
async function patiently(work, waiting) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error.status !== 429) throw error;
      const seconds = Number(error.wait) || 5;
      waiting(seconds);
      await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    }
  }
}

export function start({ trouble, refresh, question }) {
  at("study").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return;
    complain();
    try {
      await planAgain();
      at("study-plan-title").scrollIntoView({ block: "nearest" });
    } catch (error) { forget(); trouble(error); }
  });
  at("study-text").addEventListener("input", forget);
  at("study-add").addEventListener("click", () => add(question()));
  at("study-file").addEventListener("change", async () => {
    const [file] = at("study-file").files;
    if (!file) return;
    const text = await file.text();
    if (running) return;
    at("study-text").value = text;
    forget();
    at("study").requestSubmit();
  });
  at("study-run").addEventListener("click", async () => {
    if (!enabled(at("study-run"))) return;
    complain();
    const current = plan;
    run(true);
    const open = current.questions.filter((each) => each.state === null);
    at("study-progress").max = open.length;
    try {
      for (const [place, each] of open.entries()) {
        at("study-progress").value = place;
        const say = (words) => { each.said = words; show(current); };
        const ask = () => { say("running"); return send(each.asked, { key: each.key, part: "study" }); };
        try {
          Object.assign(each, await patiently(ask, (seconds) => say(`too many requests: asking again in ${seconds} s`)));
        } catch (error) {
          each.said = error.status === 410 ? STATES.failed : "not answered";
          if (error.status !== 410) throw error;
          each.state = "failed";
        }
      }
      at("study-progress").value = open.length;
      await patiently(refresh, () => {});
    } catch (error) { trouble(error, { asking: true }); }
    run(false);
    await planAgain().catch(() => show(current));
  });
}
