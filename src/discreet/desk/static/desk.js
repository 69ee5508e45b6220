// The analyst's page: public facts, what a question will cost, the answer, and one's own history.

import { STATES, accuracy, ask as send, at, badge, call, complain, element, enable, enabled, endedKeys, explained, judged, mayBePaid, sessionEnded, settle, shared } from "./parts.js";
import { again, described, inShort, present, reveal } from "./answers.js";
import * as study from "./study.js";

const unanswered = at("answer").firstElementChild;
let planned = 0;
let typed = false;  // whether this person has chosen an ε; until then the least useful one is suggested
let known = null;  // the answer that this person already has to exactly this question: shown again for nothing
let lost = null;  // a question without an answer, and its key: asked again with it, it is not paid twice

// Says what happened; who is not signed in any more is shown the door.
function trouble(error, { asking = false } = {}) {
  complain(explained(error, { asking }));
  if (error.status === 401) door();
}

function fill(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => element("option", text, { value })));
  if (options.some(([value]) => value === before)) select.value = before;
}

// What a question can be about: a column, or a function that the owner registered. Names may be the same.
const SUBJECTS = { columns: ["column", "Columns"], scores: ["score", "The owner’s scores"], votes: ["function", "Votes by the owner’s functions"] };

function fillSubjects() {
  const select = at("column");
  const before = select.value;
  const groups = Object.entries(SUBJECTS).map(([section, [, title]]) => {
    const group = element("optgroup", undefined, { label: title });
    group.append(...Object.keys(table()[section]).map((name) => element("option", name, { value: `${section}/${name}` })));
    return group;
  }).filter((group) => group.children.length);
  select.replaceChildren(...(groups.length > 1 ? groups : groups[0]?.children ?? []));
  if ([...select.options].some((option) => option.value === before)) select.value = before;
}

function subject() {
  const [section, ...rest] = at("column").value.split("/");
  const name = rest.join("/");
  return { section, name, field: SUBJECTS[section][0], facts: table()[section][name] };
}

const table = () => shared.desk.tables[at("table").value];
const kinds = () => shared.desk.questions;
const NOT_IN_FORM = ["column", "score", "function", "epsilon"];

// One control for each field of the question that an analyst may set; what was typed stays where it fits.
function control(field, before) {
  const id = `field-${field.name}`;
  const box = element("div", undefined, { class: { FLAG: "check", CONDITION: "field wide" }[field.takes] ?? "field" });
  const label = element("label", field.label, { for: id, title: field.words });
  let input;
  if (field.takes === "FLAG") {
    input = element("input", undefined, { type: "checkbox" });
    input.checked = before ?? field.default;
  } else if (field.takes === "COLUMN") {
    input = element("select");
    const listed = Object.keys(table().columns).filter((name) => table().columns[name].candidates && (subject().section !== "columns" || name !== subject().name));
    fill(input, [["", "one answer for all"], ...listed.map((name) => [name, name])]);
    input.value = listed.includes(before) ? before : "";
  } else {
    input = element("input", undefined, { type: "text", autocomplete: "off", spellcheck: "false" });
    input.value = before ?? field.example;
    if (field.takes === "CONDITION") {
      const open = table().where;
      input.disabled = open.length === 0;
      label.append(element("span", open.length ? ` (columns: ${open.join(", ")})` : " (no column is open to conditions)", { class: "hint" }));
    }
    if (field.required) input.required = true;
  }
  input.id = id;
  input.name = field.name;
  box.append(...(field.takes === "FLAG" ? [input, label] : [label, input]));
  return box;
}

function own() { return kinds()[at("kind").value].fields.filter((field) => !NOT_IN_FORM.includes(field.name)); }

function read(field) {
  const input = at(`field-${field.name}`);
  if (!input || input.disabled) return undefined;
  if (field.takes === "FLAG") return input.checked === field.default ? undefined : input.checked;
  const text = input.value.trim();
  if (!text) return undefined;
  if (field.takes === "COUNT") return /^\d+$/.test(text) ? Number(text) : text;
  return field.takes === "NUMBERS" ? text.split(",").map((part) => part.trim()).filter(Boolean) : text;
}

// A number where that is exactly what was typed (up to zeros), else the text, which the desk reads or refuses.
function number(typed) {
  const text = typed.trim().replace(/^\./, "0.").replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");  // .50 is 0.5
  return String(Number(text)) === text ? Number(text) : text;
}

let drawn = "";
function show() {
  const facts = table();
  fillSubjects();
  const { facts: known, section } = subject();
  fill(at("kind"), Object.keys(known.questions).map((kind) => [kind, kinds()[kind].label]));
  at("kind").title = kinds()[at("kind").value].words;
  at("rehearse").disabled = section !== "columns";  // the owner's functions may read the table themselves
  at("facts").textContent = `${facts.left} is left of ${facts.budget}. People: ${facts.people}. Neighbours: ${facts.neighbours}.`;
  at("public").textContent = [
    known.candidates ? `Listed values: ${known.candidates.join(", ")}.` : "",
    known.bounds ? `Bounds: ${known.bounds.join(" to ")}, in steps of ${known.step}.` : "",
  ].join(" ");
  const now = [at("table").value, at("column").value, at("kind").value].join("\n");
  if (now !== drawn) {
    const before = Object.fromEntries([...document.querySelectorAll("#fields [name], #flags [name]")].map((input) => [input.name, input.type === "checkbox" ? input.checked : input.value]));
    const made = (flags) => own().filter((field) => (field.takes === "FLAG") === flags).map((field) => control(field, before[field.name]));
    at("fields").replaceChildren(...made(false));
    const more = made(true);
    at("further").hidden = !more.length;
    at("flags").replaceChildren(...more);
    drawn = now;
  }
  at("allowed").textContent = `(${shared.desk.epsilon.least} to ${shared.desk.epsilon.most})`;
}

function question() {
  const { field: named, name } = subject();
  const asked = { kind: at("kind").value, table: at("table").value, [named]: name, epsilon: number(at("epsilon").value) };
  for (const field of own()) {
    const value = read(field);
    if (value !== undefined) asked[field.name] = value;
  }
  return asked;
}

// The budget: spent, this, left.
function meter(parts) {
  const bar = element("div", undefined, { class: "meter", role: "img" });
  if (!parts) return bar;
  const [spent, now, left] = [parts.spent, parts.this, parts.left].map(Number);
  bar.setAttribute("aria-label", `Budget: ${parts.spent} spent, ${parts.this} for this, ${parts.left} left after it`);
  const all = spent + now + Math.max(0, left);
  for (const [name, size] of [["spent", spent], ["now", now]]) {
    const part = element("span", undefined, { class: name });
    part.style.width = `${100 * size / all}%`;
    bar.append(part);
  }
  return bar;
}

// The least ε at which the answer is worth something; nothing where this person cannot afford one.
async function suggested() {
  const least = shared.desk.epsilon.least;
  const found = await call("api/suggest", { ...question(), epsilon: least }).catch(() => ({ epsilon: least }));
  return found.epsilon ?? "";
}

// The sentence for a budget of which less is left than one question costs; otherwise an empty text.
function spentOut() {
  const left = table().left.replace("ε = ", "");
  const least = shared.desk.epsilon.least;
  if (Number(left) >= Number(least)) return "";
  const rest = Number(left) ? ` (ε ${left} is left, and a question costs at least ε ${least})` : "";
  return `Your budget for this table is spent${rest}. Your earlier answers stay free, under “Your answers so far”. Ask the owner of the desk if you need a larger part of the budget.`;
}

// What the buttons offer: nothing without a price, and an answer that is already there before a second one.
function offer(price = "", { fits = false, answered = null } = {}) {
  known = answered;
  if (lost && answered && lost.words === JSON.stringify(question()) && lost.before !== answered.id) {  // found again
    settle([lost.key]);
    lost = null;
  }
  at("pay").textContent = answered ? "Show the answer" : price ? `Ask, and pay ${price}` : "Ask";
  enable(at("pay"), fits || answered);
  at("again").textContent = `Ask again, and pay ${price}`;
  at("again").hidden = !answered;
  enable(at("again"), fits);
}

function hold() {
  for (const id of ["pay", "again"]) enable(at(id), false);
}

async function plan() {
  const turn = ++planned;
  hold();  // until the plan is of what is asked
  await new Promise((resolve) => setTimeout(resolve, 250));
  if (turn !== planned) return;
  let worthless = false;
  if (!typed) {
    const epsilon = await suggested();
    if (turn !== planned) return;
    worthless = !epsilon;
    if (document.activeElement !== at("epsilon")) at("epsilon").value = epsilon;  // not while somebody types
  }
  const box = at("plan");
  if (!at("epsilon").value.trim()) {
    box.dataset.state = "bad";
    box.replaceChildren(element("p", worthless ? spentOut() || "No ε that you may still spend on one question makes this answer useful. You can still type one; the plan then says what to expect." : "Enter how much ε it may cost."));
    offer();
    return;
  }
  try {
    const found = await call("api/plan", question());
    if (turn !== planned) return;
    const verdict = found.fits ? judged(found) : { state: "bad", word: "over budget" };
    box.dataset.state = verdict.state;
    const price = element("p", found.cost, { class: "price" });
    price.prepend(badge(verdict), " ");
    box.replaceChildren(
      ...(found.answered ? [element("p", `Answered on ${new Date(found.answered.began * 1000).toLocaleString()}: ${inShort(found.answered.release)}. Showing it is free; a new answer costs ε again.`, { class: "notice" })] : []),
      price, meter(found.meter),
      ...(found.fits && found.meter?.left === "0" ? [element("p", "This spends everything that is left.")] : []),
      element("p", `Accuracy: ${accuracy(found)}.`),
      ...(found.accuracy?.assumed ? [element("p", `Typical: ${found.accuracy.assumed}`, { class: "hint" })] : []),
      element("p", `Privacy: ${found.privacy.words}.`, { title: found.guarantee }),
      ...(found.fits ? [] : [element("p", spentOut() || "Lower ε, or ask the owner of the desk for a larger part of the budget.")]),
      ...found.doubts.map((doubt) => element("p", doubt, { class: "notice" })),
    );
    offer(found.cost.split(" to pay")[0], found);
  } catch (error) {
    if (turn !== planned) return;
    box.dataset.state = "bad";
    const words = error.status === undefined ? "The desk does not answer. Planning costs nothing; the desk is asked again when you change the question." : explained(error);
    box.replaceChildren(element("p", words));
    offer();
    if (error.status === 401) trouble(error);
  }
}

const isRunning = ({ state }) => STATES[state] === "running";

async function list() {
  const asked = await call("api/answers");
  shared.running = asked.filter(isRunning).length;
  at("history").replaceChildren(...asked.map((each) => {
    const line = element("li");
    const words = described(each.asked, each.release?.title);
    line.append(element("span", words), element("span", new Date(each.began * 1000).toLocaleString(), { class: "hint" }));
    if (each.release) {
      line.append(again(each.asked, each.release));
    } else {
      line.append(element("span", STATES[each.state] ?? each.state));
    }
    return line;
  }));
  if (!asked.length) at("history").replaceChildren(element("li", "None yet."));
}

// Looks again, ever less often, until a question that the history shows as running has ended.
let looking;
function lookAgain(seconds = 2) {
  clearTimeout(looking);
  if (!shared.running) return;
  looking = setTimeout(async () => {
    try {
      const asked = await call("api/answers");
      if (asked.filter(isRunning).length !== shared.running && at("waiting").hidden) {
        await refresh();  // which looks again, if another one is running
        await study.renew();
        return;
      }
    } catch (error) {
      if (error.status === 401) {
        door();
        return;
      }
    }
    lookAgain(Math.min(30, 2 * seconds));
  }, 1000 * seconds);
}

async function ask() {
  complain();
  const asked = question();
  const words = JSON.stringify(asked);
  const before = known?.id;
  const key = lost?.words === words ? lost.key : crypto.randomUUID();
  const seconds = parseFloat(subject().facts.questions[asked.kind]);
  const began = performance.now();
  const ticking = setInterval(() => { at("slot").value = Math.min(1, (performance.now() - began) / (1000 * seconds)); }, 100);
  hold();
  at("slot-said").textContent = `Running. The answer arrives ${seconds} s after the question is admitted, whatever the answer is.`;
  at("waiting").hidden = false;
  at("answer").replaceChildren();
  reveal();
  try {
    const reply = await send(asked, { key, part: "question" });
    lost = null;
    present(reply.asked, reply.release);
  } catch (error) {
    lost = error.status === 410 ? null : { words, key, before };  // 410: it failed, and asking again is a new question
    at("answer").replaceChildren(element("p", "No answer arrived.", { class: "hint" }));
    trouble(error, { asking: true });
  }
  clearInterval(ticking);
  at("waiting").hidden = true;
  await refresh().catch((error) => {
    for (const id of ["pay", "again"]) enable(at(id), true);
    if (error.status === 401) door();
    else if (!at("notices").hasChildNodes()) trouble(error);
  });
}

async function refresh() {
  const shown = endedKeys();  // the history will show these; others may end meanwhile
  const found = await call("api/desk");
  if (shared.desk && shared.desk.analyst !== found.analyst) {  // somebody else has signed in, in another tab
    startAgain();
    return;
  }
  shared.desk = found;
  fill(at("table"), Object.keys(shared.desk.tables).map((name) => [name, name]));
  at("who").textContent = shared.desk.analyst;
  show();
  plan();
  await list();
  settle(shown);
  lookAgain();
}

// Begins the page anew: whoever signs in next in this tab finds nothing of what was typed, planned or answered.
function startAgain(place = "/") {
  at("inside").hidden = true;
  for (const form of document.forms) form.reset();  // else a browser may fill them in again
  window.history.replaceState(null, "", place);
  location.reload();
}

// After a reload, the address tells the page that the session ended and what may have been paid.
const ended = () => ["/#session-ended", ...mayBePaid()].join("-");

function door() {
  if (shared.desk) {
    startAgain(ended());
    return;
  }
  at("door").hidden = false;
  at("token").focus();
}

async function enter() {
  try {
    await refresh();
    at("door").hidden = true;
    at("inside").hidden = false;
    at("leave").hidden = false;
    at("views").hidden = false;
  } catch (error) {
    door();
    if (error.status !== 401) trouble(error);
  }
}

at("door").addEventListener("submit", async (event) => {
  event.preventDefault();
  complain();
  try {
    await call("api/session", { token: at("token").value });
    at("token").value = "";
    await enter();
    at("table").focus();
  } catch (error) {
    if (error.status === 401) complain("This token is not valid, or has expired. Ask the owner of the desk for a new one.");
    else trouble(error);
  }
});
at("leave").addEventListener("click", () => call("api/session", undefined, { method: "DELETE" }).then(() => startAgain(mayBePaid().length ? ended() : "/"), trouble));
for (const button of at("views").children) {
  button.addEventListener("click", () => {
    complain();
    for (const each of at("views").children) {
      each.setAttribute("aria-pressed", String(each === button));
      at(each.dataset.view).hidden = each !== button;
    }
    at("main").dataset.view = button.dataset.view;
  });
}
study.start({ trouble, refresh, question });
at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!enabled(at("pay"))) return;
  if (!known) ask();
  else {
    complain();
    present(known.asked, known.release);
  }
});
at("again").addEventListener("click", () => { if (enabled(at("again"))) ask(); });
at("epsilon").addEventListener("input", () => { typed = true; });
at("epsilon").addEventListener("blur", () => { if (!typed) plan(); });
at("form").addEventListener("input", () => {
  complain();  // like the answer, what was said is about the question before
  at("answer").replaceChildren(unanswered);
  show();
  plan();
});
at("rehearse").addEventListener("click", async () => {
  complain();
  const asked = { ...question(), epsilon: at("epsilon").value.trim() || shared.desk.epsilon.least };
  try { present(asked, await call("api/rehearse", asked)); } catch (error) { trouble(error); }
});
at("invented").addEventListener("click", async () => {
  complain();
  try {
    const { columns } = await call("api/invented", { table: at("table").value, rows: 1000 });
    const names = Object.keys(columns);
    const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const lines = [names, ...columns[names[0]].map((_, row) => names.map((name) => columns[name][row]))];
    const file = new Blob([lines.map((line) => line.map(cell).join(",")).join("\n")], { type: "text/csv" });
    const link = element("a", undefined, { href: URL.createObjectURL(file), download: `invented-${at("table").value}.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) { trouble(error); }
});
call("api/ways-in").then((ways) => { at("office").hidden = !ways.sign_on; }).catch(() => {});
if (location.hash === "#not-signed-on") {
  complain("The office's sign-on did not let you in here, and nothing was paid. Ask the owner of the desk whether you are on the list, or use a token.");
  window.history.replaceState(null, "", "/");
}
if (location.hash.startsWith("#session-ended")) {
  complain(sessionEnded(["question", "study"].filter((part) => location.hash.includes(`-${part}`))));
  window.history.replaceState(null, "", "/");
}
enter();
