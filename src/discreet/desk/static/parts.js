// What every part of the desk's page uses: elements, calls, and what is said when something goes wrong.
// The page holds no secret: the token is in a cookie that no script can read, answers come from the desk.

export const at = (id) => document.getElementById(id);
export const shared = { desk: null, running: 0 };  // what this person may ask, and how many questions are running
export const STATES = {
  admitted: "running", paid: "running", refused: "refused, nothing was spent",
  failed: "did not finish in its slot, not refunded", lost: "lost when the desk stopped, not refunded",
};

export function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export async function call(path, body, { method, key } = {}) {
  const headers = { "x-discreet-desk": "page", "content-type": "application/json" };
  if (key) headers["idempotency-key"] = key;
  const reply = await fetch(path, {
    method: method ?? (body === undefined ? "GET" : "POST"), headers,
    body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin",
  });
  const content = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(content.error), { status: reply.status, wait: reply.headers.get("retry-after") });
  return content;
}

// Questions that this page has sent and that may be paid, by key, until the page has shown what became of them.
const sent = new Map();
const isUnpaid = ({ status, message }) => [400, 401, 403, 408, 413, 429].includes(status) || /nothing was (paid|spent)/i.test(message);

// Asks a question, and remembers it unless the desk replies that it was not paid; `part` is "question" or "study".
export async function ask(question, { key, part }) {
  const before = sent.has(key);  // sent before: that time it may have been paid
  sent.set(key, { part, ended: false });
  try {
    const reply = await call("api/ask", question, { key });
    sent.set(key, { part, ended: true });
    return reply;
  } catch (error) {
    if (error.status === 410) sent.set(key, { part, ended: true });
    else if (!before && isUnpaid(error)) sent.delete(key);
    throw error;
  }
}

export const endedKeys = () => [...sent].filter(([, { ended }]) => ended).map(([key]) => key);
export const settle = (keys) => keys.forEach((key) => sent.delete(key));  // the page shows their outcome

// The parts of the page whose questions may be paid although this page has not shown their outcome.
export function mayBePaid() {
  const parts = [...sent.values()].map(({ part }) => part);
  return ["question", "study"].filter((part) => parts.includes(part) || (part === "question" && shared.running > 0));
}

const MAY_BE_PAID = {
  question: "Your question may have been asked and paid. Sign in again: if it was, its answer is free under “Your answers so far” once its slot has ended.",
  study: "Questions of your study may have been asked and paid. Sign in again: answers that were paid are kept and free under “Your answers so far”, and running the same study again does not pay for them twice.",
};

// What is said when a session has ended; that nothing was paid only if no question was under way.
export function sessionEnded(parts) {
  if (!parts.length) return "Your session has ended, so this was not asked and nothing was paid. Sign in again to ask it.";
  return ["Your session has ended.", ...parts.map((part) => MAY_BE_PAID[part])].join(" ");
}

// What happened, whether anything was paid, and what to do.
export function explained(error, { asking = false } = {}) {
  if (error.status === 401) return sessionEnded(mayBePaid());
  if (error.status === undefined) {
    return asking || mayBePaid().length
      ? "The desk did not answer. If your question reached it, it is paid, and its answer will be under “Your answers so far” once the desk is back. If you ask it again here unchanged, you do not pay twice."
      : "The desk does not answer; nothing was paid. Try again in a moment.";
  }
  const said = [error.message.replace(/^[a-z]/, (letter) => letter.toUpperCase()).replace(/\.$/, "")];
  if (error.status === 410) said.push("Tell the owner of the desk before you ask again: the slot may be too short");
  if (asking && [400, 403, 408, 413, 429].includes(error.status) && !/nothing was (paid|spent)/i.test(error.message)) said.push("Nothing was paid");
  if (error.wait) said.push(`Try again in ${error.wait === "1" ? "a second" : `${error.wait} seconds`}`);
  return `${said.join(". ")}.`;
}

export function complain(words) {
  at("notices").replaceChildren(...(words ? [element("p", words, { class: "notice" })] : []));
  if (words) at("notices").scrollIntoView({ block: "nearest" });
}

// A disabled button would lose the focus, and people who use the keyboard would lose their place.
export const enable = (button, whether) => button.setAttribute("aria-disabled", String(!whether));
export const enabled = (button) => button.getAttribute("aria-disabled") !== "true";

// How good an answer will be, in one or two words and in colour.
export function judged(card) {
  const judgement = card.accuracy?.judgement ?? "not judged";
  const doubtful = judgement === "useful" && card.doubts.length > 0;
  const state = { useful: "good", doubtful: "doubtful", "no better than guessing": "bad" }[judgement];
  return { state: doubtful ? "doubtful" : state ?? "doubtful", word: doubtful ? "doubtful" : judgement };
}

// How good it will be, without the judgement that stands beside it.
export const accuracy = (card) => card.accuracy?.words.replace(`${card.accuracy.judgement}: `, "") ?? "depends on the data";

export const badge = ({ state, word }) => element("span", word, { class: "badge", "data-state": state });
