// Two ways to experience ε: guess which world an answer comes from, or push an answer out of the band.
import { chartFigure, drawChart } from "./charts.js";
import { specification } from "./decide.js";
import { $, $$, figure, make, percent } from "./dom.js";
import { clear, notify } from "./notices.js";
import { post } from "./server.js";
import { state } from "./state.js";
import { isDark } from "./theme.js";

const VOTES = ["red", "blue"];
const RATIOS = [{ field: "answer", title: "Answer" }, { field: "probability", title: "Probability", number: true }, { field: "neighbour", title: "In the other world", number: true }, { field: "ratio", title: "Log-ratio", number: true }];
const PRESETS = [
  ["Permute-and-flip is ε-DP: true", { mechanism: "permute-and-flip", claim: "pure", scores: [0, 4, 0], moves: [1, -1, -1] }],
  ["Permute-and-flip has bounded range ε, as published: false", { mechanism: "permute-and-flip", claim: "bounded-range", scores: [0, 3], moves: [1, -1] }],
  ["The exponential mechanism has bounded range ε: true", { mechanism: "exponential", claim: "bounded-range", scores: [0, 1, 0], moves: [1, -1, -1] }],
  ["Naive exponential randomized response is ε-DP: false", { mechanism: "exponential-randomized-response-naive", claim: "pure", scores: [3, 2.5, 0], moves: [-1, 1, 0] }],
];

const games = {};
const broken = { mechanism: "permute-and-flip", claim: "pure", epsilon: "1", sensitivity: "1", monotonic: false, scores: [0, 4, 0], moves: [1, -1, -1] };
let playing = "this";
let offered = null;

export function startAttack(start) {
  offered = start;
  const table = make("table", { id: "game-table" });
  $("#view-attack").append(
    make("section", { class: "card", "aria-labelledby": "h-game" },
      make("h2", { id: "h-game" }, "Play the attacker"),
      make("p", {}, "Fifteen people vote, red or blue. You know how fourteen of them voted: seven to seven. Ana is the fifteenth, and a fair coin decides her vote. The mechanism publishes a winner. Guess how Ana voted."),
      make("div", { class: "pair" },
        make("div", { class: "field" }, make("label", { for: "game-which" }, "Play at"), make("select", { id: "game-which", onchange: (event) => { playing = event.target.value; showGame(); } }, make("option", { value: "this" }, ""), make("option", { value: "other" }, ""))),
        make("div", { class: "field" }, make("label", { for: "game-other" }, "The other ε"), make("input", { type: "text", inputmode: "decimal", id: "game-other", value: "5", maxlength: 20, oninput: () => { delete games.other; showGame(); } }))),
      make("div", { class: "round", onkeydown: pressed },
        make("p", { id: "game-answer", role: "status" }),
        make("ol", { class: "ballots", id: "game-ballots", "aria-label": "Ana’s votes so far" }),
        make("div", { id: "game-luck" }),
        make("div", { class: "actions" }, ...VOTES.map((vote, index) => make("button", { type: "button", class: `vote ${vote}`, disabled: true, onclick: () => guess(index) }, `Ana voted ${vote}`)),
          make("button", { type: "button", class: "primary", id: "game-start", onclick: begin }, "Twenty rounds"),
          make("button", { type: "button", id: "game-machine", onclick: machine }, "Let the best strategy play 1,000 rounds")),
        make("p", { class: "hint" }, "During a game: R or ← for red, B or → for blue.")),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Your score beside the proven bound" }, table),
      make("p", { class: "hint" }, "The bound holds for every attacker, whatever else they know: in the long run, no guess between two equally likely worlds is right more often than e^ε times in 1 + e^ε.")),
    make("section", { class: "card", "aria-labelledby": "h-break" },
      make("h2", { id: "h-break" }, "Break it"),
      make("p", {}, "Two worlds that differ in one person. Move the scores, and what the person changes; the chart shows how much each answer’s probability changes, and the band in which the claim keeps it."),
      make("div", { class: "presets", role: "group", "aria-label": "Claims to break" }, ...PRESETS.map(([title, parts]) => make("button", { type: "button", class: "small", onclick: () => set(structuredClone(parts)) }, title))),
      make("div", { class: "break" },
        make("div", {},
          make("div", { class: "pair" }, choice("mechanism", "Mechanism", start.mechanisms.map(({ name, title }) => [name, title])), choice("claim", "Claim", [["pure", "ε-differential privacy"], ["bounded-range", "ε-bounded range"]]),
            make("div", { class: "field" }, make("label", { for: "break-epsilon" }, "ε"), make("input", { type: "text", inputmode: "decimal", id: "break-epsilon", value: "1", maxlength: 20, oninput: (event) => set({ epsilon: event.target.value.trim() }) }), make("p", { class: "wrong", id: "break-wrong", role: "alert", hidden: true })),
            choice("monotonic", "One person moves the scores", [["false", "in any direction"], ["true", "all one way"]])),
          make("div", { id: "break-scores" }),
          make("div", { class: "actions" }, make("button", { type: "button", class: "small", id: "break-more", onclick: () => resize(1) }, "One answer more"), make("button", { type: "button", class: "small", id: "break-less", onclick: () => resize(-1) }, "One answer less"))),
        make("div", {}, make("p", { id: "break-headline", class: "verdict", role: "status" }), chartFigure("break", "How far one person moves each answer", RATIOS)))));
  buildScores();
}

const choice = (name, label, options) => make("div", { class: "field" }, make("label", { for: `break-${name}` }, label),
  make("select", { id: `break-${name}`, onchange: (event) => set({ [name]: name === "monotonic" ? event.target.value === "true" : event.target.value }) }, ...options.map(([value, text]) => make("option", { value }, text))));

export function openAttack() {
  showGame();
  showBreak();
}

const titleOf = (name) => offered.mechanisms.find((one) => one.name === name)?.title ?? name;
const epsilonOf = (which) => (which === "this" ? state.epsilon : $("#game-other").value.trim());

async function play(which, rounds) {
  const game = await post("api/game", { mechanism: state.choice, epsilon: epsilonOf(which), rounds });
  clear("game");
  return game;
}

async function begin() {
  try {
    games[playing] = { ...(await play(playing, 20)), epsilon: epsilonOf(playing), guesses: [], machine: games[playing]?.machine };
    showGame();
    $(".vote").focus();
  } catch (error) {
    notify("game", `The game did not start: ${error.message}`);
  }
}

async function machine() {
  try {
    const { right, rounds, best, bound } = await play(playing, 1000);
    games[playing] = { ...(games[playing] ?? { guesses: [], rounds: [] }), best, bound, epsilon: epsilonOf(playing), machine: `${right} of ${rounds.length.toLocaleString("en")}` };
    showGame();
  } catch (error) {
    notify("game", `The game did not start: ${error.message}`);
  }
}

function guess(vote) {
  const game = games[playing];
  game.guesses.push(vote);
  showGame();
  // A disabled button loses the keyboard focus, so move it.
  if (game.guesses.length === game.rounds.length) $("#game-start").focus();
}

// Called only while the game has the focus, so that keys typed into a field are not taken as guesses.
function pressed(event) {
  const vote = { r: 0, ArrowLeft: 0, b: 1, ArrowRight: 1 }[event.key];
  if (vote === undefined || $(".vote").disabled || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  guess(vote);
}

function showLuck(game) {
  if (!game?.luck || game.bound >= 1) {
    $("#game-luck").replaceChildren();
    return;
  }
  const most = game.rounds.length;
  const ended = game.guesses.length === most;
  const placed = (kind, from, to = null) => {
    const element = make("div", { class: kind });
    element.style.left = `${(100 * from) / most}%`;
    if (to !== null) element.style.width = `${(100 * (to - from)) / most}%`;
    return element;
  };
  const ticks = [0, 5, 10, 15, 20].map((count) => {
    const tick = make("span", {}, String(count));
    tick.style.left = `${(100 * count) / most}%`;
    return tick;
  });
  const [low, high] = game.luck;
  const words = `Right guesses out of ${most}. Shaded: ${low} to ${high}, where 95 of 100 games of the best possible attacker end. Line: that attacker’s average, at most ${mean(game)}.${ended ? ` Dot: you, ${rightOf(game)}.` : ""}`;
  $("#game-luck").replaceChildren(make("div", { class: "luck", role: "img", "aria-label": words },
    make("div", { class: "track" }, placed("band", low, high), placed("average", game.bound * most), ended ? placed("you", rightOf(game)) : null),
    make("div", { class: "ticks" }, ...ticks)), make("p", { class: "hint", "aria-hidden": "true" }, words));
}

function showGame() {
  for (const [which, option] of [["this", $("#game-which").options[0]], ["other", $("#game-which").options[1]]]) {
    if (games[which] && games[which].epsilon !== epsilonOf(which)) delete games[which];
    option.textContent = `ε = ${epsilonOf(which)}${which === "this" ? ", as chosen" : ""}`;
  }
  const game = games[playing];
  const played = game?.guesses.length ?? 0;
  const open = Boolean(game) && played < game.rounds.length;
  const last = played ? `${game.guesses[played - 1] === game.rounds[played - 1].vote ? "Right" : "Wrong"}: Ana had voted ${VOTES[game.rounds[played - 1].vote]}. ` : "";
  $("#game-answer").textContent = open ? `${last}Round ${played + 1} of ${game.rounds.length}: the published winner is`
    : played ? `${last}${summary(game)}` : `${titleOf(state.choice)} at ε = ${epsilonOf(playing)}. Press “Twenty rounds”.`;
  if (open) $("#game-answer").append(" ", make("span", { class: `ballot ${VOTES[game.rounds[played].answer]}` }, VOTES[game.rounds[played].answer]));
  $("#game-ballots").replaceChildren(...(game?.guesses ?? []).map((vote, index) => {
    const { vote: real } = game.rounds[index];
    return make("li", { class: `ballot ${VOTES[real]}`, title: `Round ${index + 1}: Ana voted ${VOTES[real]}` }, make("span", { "aria-hidden": "true" }, vote === real ? "✓" : "✗"), make("span", { class: "unseen" }, `${VOTES[real]}, your guess was ${vote === real ? "right" : "wrong"}`));
  }));
  showLuck(game);
  for (const button of $$(".vote")) button.disabled = !open;
  const heads = ["", "Rounds", "You were right", "Best strategy, in the long run", "Proven bound for anybody", "Best strategy, played"];
  const rows = ["this", "other"].map((which) => {
    const one = games[which];
    const right = one ? rightOf(one) : 0;
    const cells = one ? [one.guesses.length, one.guesses.length ? `${right} (${percent(right / one.guesses.length)})` : "–", percent(one.best), percentUp(one.bound), one.machine ?? "–"] : ["–", "–", "–", "–", "–"];
    return make("tr", {}, make("th", { scope: "row" }, `ε = ${epsilonOf(which)}`), ...cells.map((text) => make("td", { class: "number" }, String(text))));
  });
  $("#game-table").replaceChildren(make("thead", {}, make("tr", {}, ...heads.map((text, index) => make("th", { scope: "col", class: index ? "number" : "" }, text || make("span", { class: "unseen" }, "ε"))))), make("tbody", {}, ...rows));
}

const rightOf = ({ guesses, rounds }) => guesses.filter((vote, index) => vote === rounds[index].vote).length;
const percentUp = (value) => (value >= 1 ? "none" : value > 0.999 ? "above 99.9%" : `${Math.ceil(1000 * value - 1e-9) / 10}%`);

function summary(game) {
  const right = rightOf(game);
  const [low, high] = game.luck;
  const place = right < low ? "below" : right > high ? "above" : "within";
  const bound = game.bound < 1 ? `In the long run nobody is right in more than ${percentUp(game.bound)} of rounds, ${mean(game)} of 20 on average. A single game depends on luck: 95 of 100 end between ${low} and ${high}, and yours is ${place} that band.` : "Nothing bounds what an attacker can learn here.";
  return `You were right in ${right} of ${game.rounds.length} rounds. ${bound}`;
}

const mean = (game) => figure(Math.ceil(10 * game.rounds.length * game.bound - 1e-9) / 10);

function set(parts) {
  const size = broken.scores.length;
  Object.assign(broken, parts);
  if (broken.monotonic && Math.min(...broken.moves) < 0) broken.moves = broken.moves.map((move) => Math.abs(move));
  for (const name of ["mechanism", "claim", "epsilon", "monotonic"]) if (document.activeElement !== $(`#break-${name}`)) $(`#break-${name}`).value = String(broken[name]);
  if (broken.scores.length !== size || parts.scores || parts.monotonic !== undefined) buildScores();
  showBreak();
}

function resize(by) {
  const count = broken.scores.length + by;
  if (count < 2 || count > 6) return;
  set(by > 0 ? { scores: [...broken.scores, 0], moves: [...broken.moves, broken.monotonic ? 0 : -1] } : { scores: broken.scores.slice(0, count), moves: broken.moves.slice(0, count) });
}

function buildScores() {
  const slider = (label, kind, place, low, high, step) => {
    const shown = make("output", {}, String(broken[kind][place]));
    return make("div", { class: "drag" }, make("span", {}, label),
      make("input", { type: "range", min: low, max: high, step, value: broken[kind][place], "aria-label": `${label} of answer ${place}`, oninput: (event) => { broken[kind][place] = Number(event.target.value); shown.textContent = event.target.value; showBreak(); } }), shown);
  };
  $("#break-scores").replaceChildren(...broken.scores.map((_, place) => make("fieldset", { class: "answer" }, make("legend", {}, `Answer ${place}`),
    slider("Score", "scores", place, 0, 8, 0.1), slider("One person moves it by", "moves", place, broken.monotonic ? 0 : -1, 1, 0.05))));
  $("#break-more").disabled = broken.scores.length >= 6;
  $("#break-less").disabled = broken.scores.length <= 2;
}

let asking = false;
let again = false;

async function showBreak() {
  if ($("#view-attack").hidden) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  const wrong = $("#break-wrong");
  try {
    const began = performance.now();
    const seen = await post("api/ratios", broken);
    wrong.hidden = true;
    $("#break-headline").textContent = seen.words;
    $("#break-headline").className = `verdict ${seen.state}`;
    await drawChart("break", { specification: await specification("ratios"), key: `${isDark()}`, data: { ratios: seen.rows, band: seen.band }, rows: seen.rows, text: seen.words, colours: tellingColours });
    $("#view-attack").dataset.milliseconds = String(Math.round(performance.now() - began));
  } catch (error) {
    wrong.textContent = error.message.replace(/^.*?: /, "");
    wrong.hidden = false;
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    showBreak();
  }
}

export const tellingColours = (kind) => (kind === "telling answer" ? "m7" : "m0");
