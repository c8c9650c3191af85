// SPDX-License-Identifier: Apache-2.0
// The audience's page: who runs now, the ranking, and the charts.

import { figure, points } from "../shared/format.js";
import { $, fill, make, show } from "../shared/page.js";
import { headOf, rowOfCells, showVerdict } from "../shared/ranking.js";
import { showParts } from "./parts.js";
import { ranked } from "./places.js";
import { clockOf, words } from "./running.js";
import { follow } from "./stream.js";

// The heights of the table's rows, by which its letters shrink until all fit on the projector.
const HEAD_EM = 2.2;
const ENTRY_EM = 2.75;
const CHAMPION_EM = 1.6;
// More teams than this get one line each instead of two.
const DENSE = 10;
const DENSE_EM = 1.75;

let view = null;
let live = { frozen: false, sessions: [] };
let heardMs = 0;

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
});
const clockAt = (utc) => (utc === null ? "" : CLOCK.format(new Date(utc)));

function stateText() {
  if (view.state === "FROZEN") {
    return `since ${clockAt(view.since_utc)}: what happens now is shown after the thaw`;
  }
  if (view.state === "FINAL") return `approved by ${view.approved_by.join(", ")}`;
  return "the results may still change";
}

function showView() {
  document.title = `${view.contest}: scoreboard`;
  show("contest", view.contest);
  show("state", view.state);
  $("state").className = `badge ${view.state}`;
  show("state-text", stateText());
  fill("heads", view.columns, headOf);
  const rows = ranked(view);
  const champions = rows.filter((row) => row.year).length;
  const entries = rows.length - champions;
  const dense = entries > DENSE;
  const lines = HEAD_EM + (dense ? DENSE_EM : ENTRY_EM) * entries + CHAMPION_EM * champions;
  $("entries").classList.toggle("dense", dense);
  document.body.style.setProperty("--lines", lines.toFixed(1));
  fill("entries", rows, (row) => (row.year ? championRow(row) : entryRow(row)));
  showParts();
  $("nobody").hidden = view.entries.length > 0;
  if (view.stations) $("nobody").textContent = "No station has told of a team yet.";
  $("boards").hidden = view.boards.length === 0;
  fill("boards", view.boards, boardOf);
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

function championRow(champion) {
  const row = rowOfCells(view.columns, champion.printed).element;
  row.className = "champion";
  return row;
}

function entryRow(entry) {
  const { element: row, cell: cellOf } = rowOfCells(view.columns, entry.printed);
  // On a joint board a team has its page at its station.
  const link = make(view.stations ? "span" : "a", entry.team);
  if (!view.stations) link.href = `team/${encodeURIComponent(entry.team)}`;
  cellOf("team").replaceChildren(link, ...[entry.station, entry.organisation, entry.word]
    .filter(Boolean).map((text) => make("small", text)));
  if (entry.score_low !== null) cellOf("score").append(make("small", entry.printed.interval));
  showVerdict(cellOf("verdict"), entry);
  if (entry.word === "on now") row.className = "on-now";
  return row;
}

function showCharts(key) {
  for (const name of ["energy", "speed"]) $(`chart-${name}`).src = `charts/${name}.svg?v=${key}`;
}

function message(...parts) {
  const made = make("p", ...parts);
  made.className = "message";
  return made;
}

function idle() {
  if (view.state === "FROZEN") {
    return message("The scoreboard is frozen. Sessions go on, and their results are hidden until the "
      + "operators thaw it.");
  }
  if (view.state === "FINAL") return prizes();
  const lanes = view.lanes.filter(({ next }) => next);
  if (view.lanes.length > 1 && lanes.length) {
    return message("Next ", ...lanes.flatMap(({ name, next }, place) => [
      `${place ? " · " : ""}in lane ${name}: `, make("strong", next)]));
  }
  if (view.next) return message("Next: ", make("strong", view.next));
  if (view.entries.length === 0) return message("The event has not begun.");
  return message("Nobody runs now.");
}

function prizes() {
  const list = make("ul", ...view.prizes.map((prize) =>
    make("li", `${prize.prize}: `, make("strong", prize.winners.join(" and ") || "nobody"))));
  list.className = "prizes";
  return view.prizes.length ? list : message("The results are final.");
}

const pair = (label, id) => {
  const value = make("dd", "–");
  value.dataset.figure = id;
  const made = make("div", value, make("dt", label));
  made.className = "pair";
  return made;
};

// A joint board tells in the place of the running sessions how its stations stand.
function showStations() {
  const told = new Map((live.stations ?? []).map((one) => [one.name, one.text]));
  const rows = view.stations.map((one) => [one.name, [one.fault, told.get(one.name) ?? one.contest,
    one.frozen ? "frozen" : "", one.final ? "final" : "", one.remark].filter(Boolean).join("; ")]);
  fill("now", rows, ([name, text]) => {
    const made = make("div", make("strong", name), make("span", text));
    made.className = text.startsWith("live") || !told.has(name) ? "station" : "station silent";
    return made;
  });
}

function card(session) {
  const clock = make("div", "");
  clock.className = "clock";
  clock.setAttribute("role", "timer");
  const team = make("div", session.team);
  team.className = "team";
  const word = make("div", "");
  word.className = "quiet";
  word.dataset.figure = "word";
  const figures = make("dl", pair(view.figures.accuracy.label, "accuracy"), pair("watts", "power"),
    pair(view.figures.score.label, "score"), pair("images", "images"));
  figures.className = "figures";
  const made = make("div", make("div", team, word), clock, figures);
  made.className = "run";
  made.dataset.session = session.session;
  return made;
}

// A figure of 0 is a figure; what is missing is a dash.
function showLive() {
  if (view.stations) {
    showStations();
    return;
  }
  const keys = live.sessions.map((one) => one.session);
  if (keys.length === 0) {
    $("now").replaceChildren(idle());
    return;
  }
  const shown = [...$("now").querySelectorAll(".run")].map((one) => Number(one.dataset.session));
  if (JSON.stringify(shown) !== JSON.stringify(keys)) $("now").replaceChildren(...live.sessions.map(card));
  live.sessions.forEach((session, place) => {
    const put = (name, text) => {
      const found = $("now").children[place].querySelector(`[data-figure=${name}]`);
      if (found.textContent !== text) found.textContent = text;
    };
    put("word", words(session));
    put("accuracy", figure(session.mean_ap, 4));
    put("power", figure(session.power_w, 2));
    put("score", points(session.score));
    put("images", `${session.images_fetched} of ${session.images}`);
  });
  tick();
}

// Between two events the page itself counts down.
function tick() {
  const passedS = (performance.now() - heardMs) / 1000;
  for (const session of live.sessions) {
    const found = $("now").querySelector(`[data-session="${session.session}"]`);
    if (found === null) continue;
    const { text, last } = clockOf(session, passedS);
    const clock = found.querySelector(".clock");
    if (clock.textContent !== text) clock.textContent = text;
    found.classList.toggle("last", last);
  }
}

follow("events", {
  view: (news) => {
    view = news.view;
    showView();
    showCharts(news.key);
    showLive();
  },
  live: (news) => {
    live = news;
    heardMs = performance.now();
    if (view !== null) showLive();
  },
});
setInterval(tick, 200);
