// The analyst's page: public facts, what a question will cost, the answer, and one's own history.
// It holds no secret: the token is in a cookie that no script can read, answers come from the desk.

const at = (id) => document.getElementById(id);
const STATES = {
  admitted: "being worked on", paid: "being worked on", refused: "refused, nothing was spent",
  failed: "not done in its slot, stays paid", lost: "lost when the desk ended, stays paid",
};
const STATE_OF = { useful: "good", doubtful: "doubtful", "no better than guessing": "bad" };
let desk = null;
let planned = 0;
let typed = false;  // whether this person has chosen an ε; until then the least useful one is suggested
let lost = null;  // the question whose reply was lost, and its key: asked again it is not paid again

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

async function call(path, body, { method, key } = {}) {
  const headers = { "x-discreet-desk": "page", "content-type": "application/json" };
  if (key) headers["idempotency-key"] = key;
  const reply = await fetch(path, {
    method: method ?? (body === undefined ? "GET" : "POST"), headers,
    body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin",
  });
  const content = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(content.error), { status: reply.status });
  return content;
}

// What happened, whether anything was paid, and what to do.
function explained(error) {
  if (error.status === 401) return new Error("Your session has ended, so this question was not asked and nothing was paid. Sign in again to ask it.");
  if (error.status === undefined) return new Error("The desk did not answer. If your question had reached it, it is paid, and its answer will be under “Your answers so far” once the desk is back. Asked again here without a change it is not paid twice.");
  return error;
}

// The desk names parameters as programs know them; a person knows the labels of the form.
function readable(words) {
  const label = (name) => ({ epsilon: "ε", column: "The column", table: "The table", kind: "The question", where: "The condition", by: "The groups" })[name]
    ?? document.querySelector(`label[for="field-${name}"]`)?.firstChild?.textContent.trim();
  return words
    .replace(/^(?:[a-z_]+\.)?([a-z_]+)(?:\.[\w.]+)?: /, (found, name) => (label(name) ? `${label(name)}: ` : found))
    .replace(/\b([a-z_]+)=(?=['"\d\[(]|\s|$) ?/g, (found, name) => (label(name) ? `${label(name)} ` : found));
}

function complain(error) {
  at("notices").replaceChildren(...(error ? [element("p", readable(error.message), { class: "notice" })] : []));
}

function fill(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => element("option", text, { value })));
  if (options.some(([value]) => value === before)) select.value = before;
}

const table = () => desk.tables[at("table").value];
const subjects = () => ({ ...table().columns, ...table().scores, ...table().votes });
const column = () => subjects()[at("column").value];
const kinds = () => desk.questions;
const SUBJECT = ["column", "score", "function", "epsilon"];
const short = (words) => words.replace(/[:.] .*$/, "").replace(/, such as .*$/, "").replace(/(, chosen privately)?\.$/, "");

// One control for each field of the question that an analyst may set; what was typed stays where it fits.
function control(field, before) {
  const id = `field-${field.name}`;
  const box = element("div", undefined, { class: field.takes === "FLAG" ? "check" : "field" });
  const label = element("label", short(field.words), { for: id, title: field.words });
  let input;
  if (field.takes === "FLAG") {
    input = element("input", undefined, { type: "checkbox" });
    input.checked = before === true;
  } else if (field.takes === "COLUMN") {
    input = element("select");
    const listed = Object.keys(table().columns).filter((name) => table().columns[name].candidates && name !== at("column").value);
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

function own() { return kinds()[at("kind").value].fields.filter((field) => !SUBJECT.includes(field.name)); }

function read(field) {
  const input = at(`field-${field.name}`);
  if (!input || input.disabled) return undefined;
  if (field.takes === "FLAG") return input.checked || undefined;
  const text = input.value.trim();
  if (!text) return undefined;
  if (field.takes === "COUNT") return /^\d+$/.test(text) ? Number(text) : text;
  return field.takes === "NUMBERS" ? text.split(",").map((part) => part.trim()).filter(Boolean) : text;
}

let drawn = "";
function show() {
  const facts = table();
  fill(at("column"), Object.keys(subjects()).map((name) => [name, name]));
  fill(at("kind"), Object.entries(column().questions).map(([kind, slot]) => [kind, `${short(kinds()[kind].words)} (${slot})`]));
  at("facts").textContent = `${facts.left} is left of ${facts.budget}. People: ${facts.people}. Neighbours: ${facts.neighbours}.`;
  const known = column();
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
    at("more").hidden = !more.length;
    at("flags").replaceChildren(...more);
    drawn = now;
    at("answer").replaceChildren(element("p", "Not asked yet. Planning and rehearsing are free; asking spends.", { class: "hint" }));
    if (!typed) suggest();
  }
  at("allowed").textContent = `(${desk.epsilon.least} to ${desk.epsilon.most})`;
}

function question() {
  const kind = at("kind").value;
  const named = kinds()[kind].fields.map((field) => field.name);
  const subject = ["score", "function"].find((name) => named.includes(name)) ?? "column";
  const asked = { kind, table: at("table").value, epsilon: at("epsilon").value.trim(), [subject]: at("column").value };
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
  for (const [name, size] of [["spent", spent], ["now", now], ["left", left]]) {
    const part = element("span", undefined, { class: name });
    part.style.flexGrow = String(Math.max(0, size));
    bar.append(part);
  }
  return bar;
}

// The least ε at which the answer is worth something; nothing where this person cannot afford one.
async function suggest() {
  const asked = drawn;
  at("epsilon").value = "";
  const found = await call("api/suggest", { ...question(), epsilon: desk.epsilon.least }).catch(() => ({ epsilon: desk.epsilon.least }));
  if (typed || asked !== drawn) return;
  at("epsilon").value = found.epsilon ?? "";
  plan();
}

async function plan() {
  const turn = ++planned;
  await new Promise((resolve) => setTimeout(resolve, 250));
  if (turn !== planned) return;
  const box = at("plan");
  if (!at("epsilon").value.trim()) {
    box.dataset.state = "bad";
    box.replaceChildren(element("p", typed ? "Say how much ε it may cost." : "No ε that you may still spend on one question makes this answer useful. You can type one all the same; the plan then says what to expect."));
    at("pay").textContent = "Ask";
    at("pay").disabled = true;
    return;
  }
  try {
    const found = await call("api/plan", question());
    if (turn !== planned) return;
    const judged = STATE_OF[found.accuracy?.judgement] ?? "good";
    box.dataset.state = !found.fits ? "bad" : judged === "good" && found.doubts.length ? "doubtful" : judged;
    box.replaceChildren(
      element("p", found.cost, { class: "price" }), meter(found.meter),
      element("p", found.accuracy ? `Accuracy: ${found.accuracy.words}.` : "How good it will be depends on the data."),
      element("p", `Privacy: ${found.privacy.words}.`),
      ...found.doubts.map((doubt) => element("p", doubt, { class: "notice" })),
      element("p", found.guarantee, { class: "hint" }),
    );
    at("pay").textContent = `Ask, and pay ${found.cost.split(" to pay")[0]}`;
    at("pay").disabled = !found.fits;
  } catch (error) {
    if (turn !== planned) return;
    box.dataset.state = "bad";
    const words = error.status === undefined ? "The desk does not answer. Planning costs nothing; it is tried again when you change the question." : readable(error.message);
    box.replaceChildren(element("p", words));
    at("pay").textContent = "Ask";
    at("pay").disabled = true;
    if (error.status === 401) { complain(new Error("Your session has ended; nothing was paid. Sign in again.")); door(); }
  }
}

function rows(release) {
  const one = (answer, count) => [answer === null ? "nothing is safe to say" : String(answer), count === undefined ? "" : `${count} ${count === 1 ? "person" : "people"}, give or take ${release.count_within}`];
  const listed = (answer, count) => Array.isArray(answer)
    ? answer.map((each, place) => [release.labels?.[place] ?? `${place + 1}`, ...one(each, count?.[place])]) : [["", ...one(answer, count)]];
  if (release.answer !== null && typeof release.answer === "object" && !Array.isArray(release.answer)) {
    return Object.entries(release.answer).flatMap(([group, answer]) =>
      listed(answer, release.count?.[group]).map(([label, ...rest]) => [[group, label].filter(Boolean).join(", "), ...rest]));
  }
  return listed(release.answer, release.count);
}

function present(asked, release) {
  const found = rows(release);
  const parts = [element("p", release.title ?? described(asked), { class: "hint" })];
  if (found.length === 1 && !found[0][0]) {
    parts.push(element("p", found[0][1], { class: "big" }));
    if (found[0][2]) parts.push(element("p", found[0][2]));
  } else {
    const made = element("table");
    for (const [label, answer, count] of found) {
      const row = made.insertRow();
      row.append(element("th", label, { scope: "row" }), element("td", answer), element("td", count));
    }
    parts.push(made);
  }
  if (release.people !== undefined) {
    const counted = typeof release.people === "object" ? Object.entries(release.people).map(([group, number]) => `${group}: ${number}`).join(", ") : release.people;
    parts.push(element("p", `People who counted, noisily: ${counted}, give or take ${release.people_within}.`));
  }
  if (release.voted !== undefined && release.voted !== null) parts.push(element("p", `Blocks that voted, noisily: ${release.voted}, give or take ${release.voted_within}.`));
  if (release.gap !== undefined && release.gap !== null) parts.push(element("p", `Noisy lead over the runner-up: ${release.gap} or more.`));
  if (release.accuracy?.words) parts.push(element("p", `Accuracy: ${release.accuracy.words}.`));
  parts.push(element("p", release.guarantee.words));
  const more = element("details");
  const proof = element("p", `Chosen by ${release.mechanism}. ${release.entry ? `Ledger: ${release.entry}. ` : ""}Proof: `, { class: "hint" });
  for (const page of release.guarantee.rests_on?.pages ?? []) {
    const name = page.replace(/^.*\//, "").replace(/\.md$/, "");
    proof.append(element("a", name, { href: `proofs/${name}`, target: "_blank", rel: "noopener" }), " ");
  }
  proof.append((release.guarantee.proof ?? "none").replace(/^[^:]*: /, ""), ".");
  const rules = element("ul");
  for (const rule of release.rules ?? []) rules.append(element("li", rule));
  more.append(element("summary", "Mechanism, proof and rules"), proof, rules);
  parts.push(more);
  if (release.invented) {
    const box = element("div", undefined, { class: "invented" });
    box.append(element("p", "Invented rows: this says nothing about the data, and cost nothing.", { class: "price" }), ...parts);
    parts.splice(0, parts.length, box);
  }
  at("answer").replaceChildren(...parts);
}

function described(asked, title) {
  const about = `${asked.column ?? asked.score ?? asked.function} in ${asked.table}`;
  const what = title ? `${title} in ${asked.table}` : `${short(kinds()[asked.kind]?.words ?? asked.kind)}: ${about}`;
  const said = { k: (k) => `${k} of them`, at: (at) => `at ${at.join(", ")}`, above: (n) => `above ${n}`, by: (by) => `by ${by}`, where: (where) => `where ${where}` };
  const rest = Object.entries(said).filter(([name]) => asked[name] !== undefined && asked[name] !== null).map(([name, words]) => words(asked[name]));
  return [what, ...rest, `ε = ${asked.epsilon}`].join(", ");
}

async function list() {
  const asked = await call("api/answers");
  at("history").replaceChildren(...asked.map((each) => {
    const line = element("li");
    const words = described(each.asked, each.release?.title);
    line.append(element("span", words), element("span", new Date(each.began * 1000).toLocaleString(), { class: "hint" }));
    if (each.release) {
      const short_answer = rows(each.release).map(([label, answer]) => [label, answer].filter(Boolean).join(": ")).join(", ");
      const again = element("button", short_answer.length > 60 ? `${short_answer.slice(0, 57)}...` : short_answer, { type: "button", class: "small", "aria-label": `Show the answer again: ${words}` });
      again.addEventListener("click", () => { present(each.asked, each.release); at("answer-title").scrollIntoView(); });
      line.append(again);
    } else {
      line.append(element("span", STATES[each.state] ?? each.state));
    }
    return line;
  }));
  if (!asked.length) at("history").replaceChildren(element("li", "None yet."));
}

async function ask(event) {
  event.preventDefault();
  complain();
  const asked = question();
  const words = JSON.stringify(asked);
  const key = lost?.words === words ? lost.key : crypto.randomUUID();
  const seconds = parseFloat(column().questions[asked.kind]);
  const began = performance.now();
  const ticking = setInterval(() => { at("slot").value = Math.min(1, (performance.now() - began) / (1000 * seconds)); }, 100);
  at("pay").disabled = true;
  at("waiting").hidden = false;
  at("answer").replaceChildren(element("p", "Being worked on.", { class: "hint" }));
  try {
    const reply = await call("api/ask", asked, { key });
    lost = null;
    present(reply.asked, reply.release);
  } catch (error) {
    lost = error.status === undefined ? { words, key } : null;
    complain(explained(error));
  }
  clearInterval(ticking);
  at("waiting").hidden = true;
  at("pay").disabled = false;
  await refresh().catch((error) => { if (error.status === 401) door(); else if (!at("notices").hasChildNodes()) complain(explained(error)); });
}

async function refresh() {
  const first = desk === null;
  desk = await call("api/desk");
  if (first) typed = false;
  fill(at("table"), Object.keys(desk.tables).map((name) => [name, name]));
  at("who").textContent = desk.analyst;
  show();
  plan();
  await list();
}

function door() {
  at("inside").hidden = true;
  at("leave").hidden = true;
  at("who").textContent = "";
  at("door").hidden = false;
  at("token").focus();
}

async function enter() {
  try {
    await refresh();
    at("door").hidden = true;
    at("inside").hidden = false;
    at("leave").hidden = false;
  } catch (error) {
    door();
    if (error.status !== 401) complain(error);
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
  } catch (error) { complain(error); }
});
at("leave").addEventListener("click", async () => { await call("api/session", undefined, { method: "DELETE" }); at("answer").replaceChildren(); at("history").replaceChildren(); desk = lost = null; door(); });
at("form").addEventListener("submit", ask);
at("epsilon").addEventListener("input", () => { typed = true; });
at("form").addEventListener("input", () => { show(); plan(); });
at("rehearse").addEventListener("click", async () => {
  complain();
  try { present(question(), await call("api/rehearse", { ...question(), epsilon: at("epsilon").value.trim() || desk.epsilon.least })); } catch (error) { complain(explained(error)); }
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
  } catch (error) { complain(explained(error)); }
});
call("api/ways-in").then((ways) => { at("office").hidden = !ways.sign_on; }).catch(() => {});
if (location.hash === "#not-signed-on") {
  complain(new Error("The office's sign-on did not let you in here, and nothing was paid. Ask the owner of the desk whether you are on the list, or use a token."));
  window.history.replaceState(null, "", "/");
}
enter();
