// SPDX-License-Identifier: Apache-2.0
// The audience's page: who runs now and who is next, the ranking, and the charts.

import { offsetText } from "../shared/format.js";
import { moveFrom, placesIn, switchMotion } from "../shared/motion.js";
import { $, fill, isolated, make, show, showCut } from "../shared/page.js";
import { lineAbout, nameOf } from "../shared/parts.js";
import { cardOf, showCard, tickCard } from "./card.js";
import { finished, NOBODY, nextLead, resultText } from "./news.js";
import { pauseOf } from "./pause.js";
import { followPicture, showPicture } from "./picture.js";
import { championsOf, nameShare } from "./places.js";
import { championOf, headsOf, rowMaker } from "./rows.js";
import { leaderOf } from "./running.js";
import { source } from "./source.js";
import { showParts, showTeam } from "./turns.js";

const NEWS_MS = 10_000;

let view = null;
let live = { frozen: false, sessions: [], break: null };
let race = { leader: null, courses: [] };
let heardMs = 0;
let clockBehindMs = 0;
let lead = NOBODY;
let newsTimer = 0;

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});
const clockAt = (utc) => (utc === null ? "" : `${CLOCK.format(new Date(utc))} ${offsetText(new Date(utc))}`);

function stateText() {
  if (view.state === "FROZEN") {
    return `since ${clockAt(view.since_utc)}: what happens now is shown later`;
  }
  if (view.state === "FINAL") return `approved by ${view.approved_by.map(isolated).join(", ")}`;
  return "the results may still change";
}

// Words for the hall about a team. They stay for ten seconds, so that who looks up later can read them.
function tellHall(team, rest) {
  $("news").replaceChildren(lineAbout("", team, rest));
  restart($("news"), "fresh");
  clearTimeout(newsTimer);
  newsTimer = setTimeout(() => $("news").replaceChildren(), NEWS_MS);
}

// Let an animation of less than a second begin again.
function restart(element, name) {
  element.classList.remove(name);
  requestAnimationFrame(() => element.classList.add(name));
}

function showView(key) {
  document.title = `${view.contest}: scoreboard`;
  showCut("contest", view.contest);
  show("state", view.state);
  $("state").className = `badge ${view.state}`;
  show("state-text", stateText());
  if (fill("heads", view.columns, () => "")) $("heads").replaceChildren(...headsOf(view.columns));
  document.body.classList.remove("waiting");
  $("ranking").style.setProperty("--team-share", `${nameShare(view.entries)}%`);
  $("nobody").hidden = view.entries.length > 0;
  showChampions();
  const before = placesIn($("entries"));
  fill("entries", view.entries, rowMaker(view));
  if (view.stations) $("nobody").textContent = "No station has reported a team yet.";
  $("boards").hidden = view.boards.length === 0;
  fill("boards", view.boards, boardOf);
  showCharts(key);
  showParts();
  moveFrom(before, $("entries"));
}

// A projector has room for the best of them; the list on a phone has all.
function showChampions() {
  const champions = championsOf(view);
  $("champions-box").hidden = champions.length === 0;
  fill("champions", champions, championOf);
}

const CELL_CLASS = { text: "", number: "number", rank: "number rank", score: "number score" };

// A guest's leaderboard. The guest says which columns there are, and prints every cell.
function boardOf(board) {
  const title = make("h2", board.title);
  title.append(make("small", board.note));
  const heads = board.columns.map((column) => {
    const head = make("th", column.head);
    head.scope = "col";
    head.className = column.kind === "text" ? "" : "number";
    return head;
  });
  const rows = board.cells.map((texts) => make("tr", ...texts.map((text, place) => {
    const cell = make("td", text);
    cell.className = CELL_CLASS[board.columns[place].kind];
    return cell;
  })));
  const made = make("div", title, rows.length
    ? make("table", make("thead", make("tr", ...heads)), make("tbody", ...rows))
    : make("p", board.nothing));
  made.className = "board";
  return made;
}

// Charts without a point show the past champions; without these there is nothing to show.
function showCharts(key) {
  const drawn = view.entries.some((one) => one.mean_ap !== null && one.energy_wh !== null);
  $("charts").hidden = !drawn && view.champions.length === 0;
  if ($("charts").hidden) return;
  for (const name of ["energy", "speed"]) {
    showPicture($(`chart-${name}`), source.chart(name, key));
  }
}

function message(...parts) {
  const made = make("p", ...parts);
  made.className = "message";
  return made;
}

function prizes() {
  const list = make("ul", ...view.prizes.map((prize) =>
    make("li", `${prize.prize}: `, make("strong", prize.marked.join(" and ") || "nobody"))));
  list.className = "prizes";
  return view.prizes.length ? list : message("The results are final.");
}

const waitingLanes = () => view.lanes.filter(({ next }) => next);

// Who is next in a lane, and who comes after.
function nextOf({ name, next, on_deck: after }) {
  const lane = view.lanes.length > 1 ? `Next in lane ${name}` : "Next";
  const made = make("div", Object.assign(make("p", lane), { className: "label" }), nameOf(next, "strong"));
  if (after) {
    const deck = make("p", lineAbout("on deck: ", after, ""));
    deck.className = "deck";
    made.append(deck);
  }
  made.className = "upcoming";
  return made;
}

// The same in a line, below what is on now.
function showNext(isThere) {
  const lanes = isThere ? waitingLanes() : [];
  $("next").hidden = lanes.length === 0;
  fill("next", lanes, ({ name, next, on_deck: after }) => {
    const lane = view.lanes.length > 1 ? `Next in ${name}: ` : "Next: ";
    const line = make("span", lineAbout(lane, next, ""));
    if (after) line.append(lineAbout(", then ", after, ""));
    return line;
  });
}

function idle() {
  if (view.state === "FROZEN") {
    return [message("The scoreboard is frozen. Sessions go on, and their results are hidden until the "
      + "operators unfreeze it.")];
  }
  if (view.state === "FINAL") return [prizes()];
  if (waitingLanes().length) return waitingLanes().map(nextOf);
  if (view.next) return [nextOf({ next: view.next, on_deck: null })];
  return [message(view.entries.length === 0 ? "The event has not begun." : "Nobody is running.")];
}

function pauseCard({ text, clock, after }) {
  const made = make("div", Object.assign(make("p", "Break"), { className: "label" }),
    Object.assign(make("p", text), { className: "words" }),
    Object.assign(make("p", clock || after), { className: "clock" }));
  made.className = "pause";
  return made;
}

// A joint board tells in the place of the running sessions how its stations stand.
function showStations() {
  const told = new Map((live.stations ?? []).map((one) => [one.name, one]));
  const rows = view.stations.map((one) => [one.name, [one.fault, told.get(one.name)?.text ?? one.contest,
    one.frozen ? "frozen" : "", one.final ? "final" : "", one.remark].filter(Boolean).join("; ")]);
  fill("now", rows, ([name, text]) => {
    const made = make("div", make("strong", name), make("span", text));
    made.className = told.get(name)?.live ?? true ? "station" : "station silent";
    return made;
  });
}

const cardFor = ({ session }) => $("now").querySelector(`.run[data-session="${session}"]`);

function showLive() {
  const keys = live.sessions.map((one) => one.session);
  $("now").dataset.count = keys.length;
  showNext(keys.length > 0);
  if (view.stations) {
    showStations();
    return;
  }
  if (keys.length === 0) {
    showIdle();
    return;
  }
  const shown = [...$("now").querySelectorAll(".run")].map((one) => Number(one.dataset.session));
  if (JSON.stringify(shown) !== JSON.stringify(keys)) {
    $("now").replaceChildren(...live.sessions.map((one) => cardOf(one, view.figures)));
  }
  for (const session of live.sessions) showCard(cardFor(session), session, { view, live, race });
  showLead();
  tick();
}

let idleKey = "";

// What stands in the place of running sessions; a break is shown beside what is next.
function showIdle() {
  lead = { ...NOBODY, leader: leaderOf(view.entries, []) };
  const pause = pauseOf(live.break, Date.now() + clockBehindMs);
  const key = JSON.stringify([pause, view.state, view.lanes, view.next, view.prizes, view.entries.length === 0]);
  if (key === idleKey && !$("now").querySelector(".run")) return;
  idleKey = key;
  $("now").replaceChildren(...(pause ? [pauseCard(pause)] : idle()));
  showNext(pause !== null);
}

// Another team leads: its card and the head say so.
function showLead() {
  lead = nextLead(lead, leaderOf(view.entries, live.sessions), performance.now());
  if (!lead.changed) return;
  tellHall(lead.leader, " takes the lead");
  const session = live.sessions.find(({ team }) => team === lead.leader);
  if (session) restart(cardFor(session), "fresh");
}

// Between two events the page itself counts down.
function tick() {
  if (view === null || view.stations) return;
  if (live.sessions.length === 0) {
    showIdle();
    return;
  }
  const passedS = (performance.now() - heardMs) / 1000;
  for (const session of live.sessions) {
    const card = cardFor(session);
    if (card) tickCard(card, session, passedS);
  }
}

// The clock of a phone need not be that of the referee: the date of an answer tells the difference.
async function askTime() {
  clockBehindMs = await source.clockBehindMs();
}

source.follow({
  view: (news) => {
    const result = finished(view, news.view);
    view = news.view;
    showView(news.key);
    showLive();
    if (result) {
      tellHall(...resultText(result, view.figures.score.label));
      showTeam(result.team);
      const row = [...$("entries").rows].find((one) => one.dataset.team === result.team);
      if (row) restart(row, "fresh");
    }
  },
  live: (news) => {
    const isNew = JSON.stringify(news.break) !== JSON.stringify(live.break);
    live = { break: null, ...news };
    heardMs = performance.now() - source.ageMs();
    if (isNew && live.break) askTime().catch(() => {}).finally(tick);
    if (view !== null) showLive();
  },
  race: (news) => {
    race = news;
    if (view !== null) showLive();
  },
});
for (const picture of document.querySelectorAll("#charts img")) followPicture(picture);
switchMotion($("motion"));
setInterval(tick, 200);
