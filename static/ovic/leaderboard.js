// SPDX-License-Identifier: Apache-2.0
// The leaderboard of OVIC: the best entry of each team, and where each entry is.

import { $, fill, make, show } from "../shared/page.js";
import { logInAgain } from "../shared/person.js";
import { cellsOf, heardText, isSilent, lineText, saidOf, SILENT_MS } from "./texts.js";

const EVERY_MS = 2000;
const SHOWN_MOST = 200; // the newest entries that the lower table shows

let heardAt = performance.now();

async function ask(path) {
  const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(SILENT_MS) });
  const found = await response.json();
  if (response.status === 401) await logInAgain();
  if (!response.ok) throw new Error(found.text);
  return found;
}

// What the desk says now; null if it does not answer. The page then keeps what it has, and says how
// old that is.
async function news() {
  try {
    return await Promise.all([ask("ovic/leaderboard"), ask("ovic/entries")]);
  } catch {
    return null;
  }
}

async function refresh() {
  try {
    await showNews();
  } finally {
    setTimeout(refresh, EVERY_MS);
  }
}

async function showNews() {
  const found = await news();
  if (found) {
    const [board, all] = found;
    heardAt = performance.now();
    fill("tasks", board.tasks, taskSection);
    showEntries(all.entries);
    show("line", lineText(board));
  }
  const silentMs = performance.now() - heardAt;
  show("connection", heardText(silentMs));
  $("connection").className = isSilent(silentMs) ? "lost" : "";
}

function taskSection(task) {
  const title = make("h2", task.task);
  const facts = make("p", `${task.accuracy} above the frontier at the entry’s latency. `
    + `Target ${task.target_ms} ms: below ${task.fastest_ms} ms nothing is gained, above `
    + `${task.slowest_ms} ms an entry is invalid. Rules: ${task.rules}.`);
  facts.className = "quiet";
  const section = make("section", title, facts);
  section.id = task.task;
  if (task.rows.length) section.append(rankTable(task));
  else section.append(make("p", "No entry is scored yet."));
  if (task.note) {
    const note = make("p", task.note);
    note.className = "note";
    section.append(note);
  }
  return section;
}

const RANK_HEADS = [
  ["rank", "id"], ["team", "team"], ["metric, points", "number"], ["accuracy %", "number"],
  ["latency ms", "number"], ["entry", "number extra"], ["entries", "number extra"],
];

function rankTable(task) {
  const heads = RANK_HEADS.map(([text, name]) => {
    const head = make("th", text);
    head.scope = "col";
    head.className = name;
    return head;
  });
  const body = make("tbody", ...task.rows.map(rankRow));
  return make("table", make("thead", make("tr", ...heads)), body);
}

function rankRow(row) {
  const element = make("tr", ...cellsOf(row).map((text, n) => {
    const cell = make("td", text);
    cell.className = RANK_HEADS[n][1];
    return cell;
  }));
  element.classList.toggle("invalid", !row.valid);
  element.title = row.reasons.join(" ");
  return element;
}

function showEntries(entries) {
  $("no-entries").hidden = entries.length > 0;
  fill("entries", entries.slice(-SHOWN_MOST).reverse(), entryRow);
}

function entryRow(entry) {
  const state = make("span", entry.state);
  state.className = `state ${entry.state}`;
  const texts = [String(entry.entry), entry.team, entry.task, state, saidOf(entry)];
  const names = ["id", "team", "extra", "", ""];
  return make("tr", ...texts.map((text, n) => {
    const cell = make("td", text);
    cell.className = names[n];
    return cell;
  }));
}

refresh();
