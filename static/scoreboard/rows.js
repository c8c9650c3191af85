// SPDX-License-Identifier: Apache-2.0
// The ranking as a table: places, names, bars of the scores, and the server's columns.

import { make } from "../shared/page.js";
import { lineAbout, nameOf, pillOf } from "../shared/parts.js";
import { headOf } from "../shared/ranking.js";
import { barOf, moveOf, placeOn, scaleOf } from "./places.js";
import { ordinal } from "./running.js";
import { source } from "./source.js";

const MOVED = { field: "moved", head: "", words: "places gained or lost by the newest result", left: true };
const BAR = { field: "spread", head: "95 % interval", words: "score, with the 95 % interval around it", left: true };

// The columns of the page: the server's, with the moves behind the places, and the bars before the
// score. What is most important stands first.
export function columnsOf(columns) {
  const found = new Map(columns.map((column) => [column.field, column]));
  const first = ["rank", "team", "score"];
  const rest = columns.filter(({ field }) => !first.includes(field));
  const [rank, team, score] = first.map((field) => found.get(field));
  return [rank, MOVED, team, BAR, score, ...rest];
}

export const headsOf = (columns) => columnsOf(columns).map(headOf);

// A function that makes the row of an entry.
export function rowMaker(view) {
  const columns = columnsOf(view.columns);
  const scale = scaleOf(view);
  const best = view.champions.length ? Math.max(...view.champions.map(({ score }) => score)) : null;
  return (row) => {
    const cells = {
      moved: () => movedCell(row),
      team: () => teamCell(row, view),
      spread: () => (row.score === null ? [""] : [bar(row, scale, best)]),
      verdict: () => verdictCell(row),
    };
    const made = make("tr", ...columns.map(({ field, left, wide }) => {
      const cell = make("td", ...(cells[field]?.() ?? [row.short[field] ?? row.printed[field]]));
      cell.className = [field, left ? "" : "number", wide ? "wide" : ""].filter(Boolean).join(" ");
      if (row.short[field] !== undefined) cell.title = row.printed[field];
      return cell;
    }));
    if (row.word === "on now") made.className = "on-now";
    else if (row.newest) made.className = "newest";
    made.dataset.team = row.team;
    return made;
  };
}

function movedCell(row) {
  const { text, kind, words } = moveOf(row);
  if (!text) return [""];
  const made = make("span", text);
  made.className = `move ${kind}`;
  made.title = words;
  return [made];
}

// On a joint board a team has its page at its station.
function teamCell(row, view) {
  const name = nameOf(row.team, view.stations ? "span" : "a");
  if (!view.stations) name.href = source.teamPage(row.team);
  const whose = [row.station, row.organisation].filter(Boolean).join(" · ");
  return row.word || whose ? [name, remarkOf(row.word, whose)] : [name];
}

// What is to be said of a row is read whole; where its team comes from may be cut.
function remarkOf(word, whose) {
  const made = make("small", lineAbout(word && whose ? `${word} · ` : word, whose, ""));
  made.classList.toggle("whose", !word);
  return made;
}

function verdictCell({ verdict, emulated }) {
  const shown = verdict ? [pillOf(verdict)] : [""];
  return emulated ? [...shown, make("small", "EMULATED")] : shown;
}

function bar(row, scale, best) {
  const made = make("div");
  made.className = "interval";
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", labelOf(row));
  const add = (name, at, width = "") => {
    const part = make("span");
    part.className = name;
    Object.assign(part.style, { left: `${at}%`, width });
    made.append(part);
  };
  const record = best === null ? null : placeOn(best, scale);
  if (record !== null) add("best", record);
  const { at, from, to } = barOf(row, scale);
  // It stands on its middle: a narrow one is as wide as its two ends.
  if (from !== null && to !== null) add("range", (from + to) / 2, `max(var(--ends), ${(to - from).toFixed(3)}%)`);
  if (at !== null) add("at", at);
  return made;
}

function labelOf({ printed }) {
  return printed.interval && printed.interval !== "–" ? `interval ${printed.interval}` : "no interval";
}

// A past champion stands aside, with the place that its score would have now.
export function championOf({ year, place, printed, short }) {
  const score = make("span", short.score ?? printed.score);
  score.className = "score";
  const now = place === null ? "" : ` would be ${ordinal(place)}`;
  const made = make("li", make("span", String(year)), " ", score, make("small", now));
  made.title = `champion of ${year}: mAP ${printed.mean_ap}, ${printed.energy_wh} Wh`;
  return made;
}
