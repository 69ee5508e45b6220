// The analyst's page: public facts, what a question will cost, the answer, and one's own history.
// It holds no secret: the token is in a cookie that no script can read, answers come from the desk.

const at = (id) => document.getElementById(id);
const WORDS = {
  mode: "the most common value", top_k: "the k most common values", median: "the median",
  quantiles: "several quantiles", first_above: "the first value above a threshold", score: "the best by the owner's score",
};
const STATES = {
  admitted: "being worked on", paid: "being worked on", refused: "refused, nothing was spent",
  failed: "not done in its slot, stays paid", lost: "lost when the desk ended, stays paid",
};
let desk = null;
let planned = 0;

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

function complain(error) {
  at("notices").replaceChildren(...(error ? [element("p", error.message, { class: "notice" })] : []));
}

function fill(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => element("option", text, { value })));
  if (options.some(([value]) => value === before)) select.value = before;
}

const table = () => desk.tables[at("table").value];
const subjects = () => ({ ...table().columns, ...table().scores });
const column = () => subjects()[at("column").value];

function show() {
  const facts = table();
  fill(at("column"), Object.keys(subjects()).map((name) => [name, name]));
  fill(at("kind"), Object.entries(column().questions).map(([kind, slot]) => [kind, `${WORDS[kind]} (${slot})`]));
  at("facts").textContent = `${facts.left} is left of ${facts.budget}. People: ${facts.people}. Neighbours: ${facts.neighbours}.`;
  at("where-columns").textContent = facts.where.length ? `(columns: ${facts.where.join(", ")})` : "(no column is open to conditions)";
  at("where").disabled = facts.where.length === 0;
  const grouping = Object.keys(facts.columns).filter((name) => facts.columns[name].candidates && name !== at("column").value);
  fill(at("by"), [["", "no groups"], ...grouping.map((name) => [name, name])]);
  const known = column();
  at("public").textContent = [
    known.candidates ? `Listed values: ${known.candidates.join(", ")}.` : "",
    known.bounds ? `Bounds: ${known.bounds.join(" to ")}, in steps of ${known.step}.` : "",
  ].join(" ");
  const kind = at("kind").value;
  at("k-field").hidden = kind !== "top_k";
  at("at-field").hidden = kind !== "quantiles";
  at("above-field").hidden = kind !== "first_above";
  at("by-field").hidden = ["first_above", "score"].includes(kind);
  at("where-field").hidden = at("people-field").hidden = kind === "score";
  at("count-field").hidden = !["mode", "top_k"].includes(kind);
  at("allowed").textContent = `(${desk.epsilon.least} to ${desk.epsilon.most})`;
  if (!at("epsilon").value) at("epsilon").value = desk.epsilon.least;
}

function question() {
  const kind = at("kind").value;
  const asked = { kind, table: at("table").value, epsilon: at("epsilon").value.trim() };
  if (kind === "score") return { ...asked, score: at("column").value };
  asked.column = at("column").value;
  if (at("where").value.trim() && !at("where").disabled) asked.where = at("where").value.trim();
  if (at("with_people").checked) asked.with_people = true;
  if (kind !== "first_above" && at("by").value) asked.by = at("by").value;
  if (["mode", "top_k"].includes(kind) && at("with_count").checked) asked.with_count = true;
  if (kind === "top_k") asked.k = Number(at("k").value);
  if (kind === "quantiles") asked.at = at("at").value.split(",").map((level) => level.trim()).filter(Boolean);
  if (kind === "first_above") asked.above = at("above").value.trim();
  return asked;
}

async function plan() {
  const turn = ++planned;
  await new Promise((resolve) => setTimeout(resolve, 250));
  if (turn !== planned) return;
  const box = at("plan");
  try {
    const found = await call("api/plan", question());
    if (turn !== planned) return;
    box.dataset.state = found.fits ? "good" : "bad";
    box.replaceChildren(
      element("p", found.fits ? `Costs ${found.cost} of the ${found.left} left; there is room for ${found.most === 1 ? "one such question" : `${found.most} such questions`}.`
        : `Costs ${found.cost}, and only ${found.left} is left.`),
      element("p", found.accuracy), element("p", found.words, { class: "hint" }),
    );
    at("pay").textContent = `Ask, and pay ${found.cost}`;
    at("pay").disabled = !found.fits;
  } catch (error) {
    if (turn !== planned) return;
    box.dataset.state = "bad";
    box.replaceChildren(element("p", error.message));
    at("pay").disabled = true;
    if (error.status === 401) door();
  }
}

function rows(release) {
  const one = (answer, count) => [answer === null ? "nothing is safe to say" : String(answer), count === undefined ? "" : `${count} people, give or take ${release.count_within}`];
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
  const parts = [element("p", described(asked), { class: "hint" })];
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
  if (release.gap !== undefined && release.gap !== null) parts.push(element("p", `Noisy lead over the runner-up: ${release.gap} or more.`));
  parts.push(element("p", release.guarantee.words), element("p", `Chosen by ${release.mechanism}. Ledger: ${release.entry}. Proof: ${release.guarantee.proof}.`, { class: "hint" }));
  const rules = element("ul");
  for (const rule of release.rules ?? []) rules.append(element("li", rule));
  parts.push(rules);
  at("answer").replaceChildren(...parts);
}

function described(asked) {
  return [`${WORDS[asked.kind].replace(" k ", ` ${asked.k} `)} of ${asked.column ?? asked.score} in ${asked.table}`, asked.by && `by ${asked.by}`, asked.where && `where ${asked.where}`, `ε = ${asked.epsilon}`].filter(Boolean).join(", ");
}

async function history() {
  const asked = await call("api/answers");
  at("history").replaceChildren(...asked.map((each) => {
    const line = element("li");
    line.append(element("span", described(each.asked)), element("span", new Date(each.began * 1000).toLocaleString(), { class: "hint" }));
    if (each.release) {
      const again = element("button", `Show again: ${described(each.asked)}`, { type: "button", class: "small" });
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
  const key = crypto.randomUUID();
  const seconds = parseFloat(column().questions[asked.kind]);
  const began = performance.now();
  const ticking = setInterval(() => { at("slot").value = Math.min(1, (performance.now() - began) / (1000 * seconds)); }, 100);
  at("pay").disabled = true;
  at("waiting").hidden = false;
  try {
    const reply = await call("api/ask", asked, { key });
    present(reply.asked, reply.release);
  } catch (error) {
    complain(error);
  }
  clearInterval(ticking);
  at("waiting").hidden = true;
  at("pay").disabled = false;
  await refresh().catch(complain);
}

async function refresh() {
  desk = await call("api/desk");
  fill(at("table"), Object.keys(desk.tables).map((name) => [name, name]));
  at("who").textContent = desk.analyst;
  show();
  plan();
  await history();
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
at("leave").addEventListener("click", async () => { await call("api/session", undefined, { method: "DELETE" }); at("answer").replaceChildren(); at("history").replaceChildren(); door(); });
at("form").addEventListener("submit", ask);
at("form").addEventListener("input", () => { show(); plan(); });
enter();
