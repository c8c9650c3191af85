// SPDX-License-Identifier: Apache-2.0
// The choice of the next session: its team and its lane. The desk's running order proposes both.
// What an operator has chosen by hand stays until the session is made.

import { $, fill, make, show, showCut } from "../shared/page.js";
import { say } from "../shared/acting.js";

const LIVE = ["READY", "ARMED", "RUNNING"];
const NOBODY = { turn: "", lane: "", counted: null, replaces: "" };

let board = null;
let byHand = false;
let changes = 0; // how often somebody has chosen by hand
let proposed = ""; // the facts that the last proposal was made of

export function showChoice(news) {
  board = news;
  $("next").hidden = board.mode === "practice";
  const before = $("team").value;
  const options = board.teams.map((name) => ({ name, turn: board.choices[name].turn }));
  if (fill("team", [{ name: "", turn: "" }, ...options], optionOf)) $("team").value = before;
  if (!board.teams.includes(before)) leave(before);
  propose();
  $("team").disabled = board.teams.length === 0;
  showCut("next-team", nextText());
  $("team").title = $("team").value;
  const none = board.mode === "practice" || board.teams.length
    ? "" : "No team is registered: run ‘referee team add NAME’. The team then appears here by itself.";
  show("teams-text", board.teams_text ?? none);
}

function optionOf({ name, turn }) {
  const option = make("option", name ? name + (turn && ` – ${turn}`) : "Choose a team");
  option.value = name;
  return option;
}

// What the operator sees as chosen, with what the desk says of the team.
export function chosen() {
  const team = $("team").value;
  return { ...NOBODY, ...board.choices[team], team, lane: Number($("lane").value) };
}

// How often somebody has chosen by hand so far.
export const choices = () => changes;

// A session was made: from now on the running order proposes again. What was chosen since then, after
// so many choices, is for the session behind it.
export function forgetChoice(after = changes) {
  if (changes !== after) return;
  byHand = false;
  proposed = "";
}

// The chosen team has withdrawn, or has another name.
function leave(team) {
  $("team").value = "";
  if (byHand && team) say(`'${team}' takes no part any more, so no team is chosen.`);
  if (team) forgetChoice();
}

// Choose the first free lane where somebody is next, and who that is. Nothing changes under the
// operator's hand, and without anybody who is next no team is chosen.
function propose() {
  const free = board.lanes.filter((lane) => !lane.next && !LIVE.includes(lane.current?.state));
  const facts = JSON.stringify([board.next_teams, free.map(({ number }) => number)]);
  if (byHand || facts === proposed) return;
  proposed = facts;
  const mine = free.filter(({ number }) => number === Number($("lane").value));
  const fits = ({ number }) => board.next_teams[number];
  const lane = mine.find(fits) ?? free.find(fits) ?? mine[0] ?? free[0];
  if (lane) $("lane").value = lane.number;
  $("team").value = nextIn(Number($("lane").value));
}

function nextIn(lane) {
  const next = board.next_teams[lane];
  return board.teams.includes(next) ? next : "";
}

function nextText() {
  const named = board.lanes.filter(({ number }) => board.next_teams[number]);
  if (!named.length) return "";
  if (board.lanes.length === 1) return `Next: ${board.next_teams[1]}`;
  return `Next in lane ${named.map(({ number, name }) => `${name}: ${board.next_teams[number]}`).join(" · ")}`;
}

const nameOf = (number) => board.lanes.find((lane) => lane.number === number).name;

// The sentence that a team may not run in the chosen lane, or "".
function wrongLane({ team, lane }) {
  const only = board.choices[team]?.lane;
  return only && only !== nameOf(lane) ? `'${team}' runs in lane ${only} only.` : "";
}

$("team").addEventListener("change", () => {
  byHand = true;
  changes += 1;
  $("team").title = $("team").value;
  say(wrongLane(chosen()));
});

// The lane is chosen for the team that is chosen: only one that may not run there gives way.
$("lane").addEventListener("change", () => {
  byHand = true;
  changes += 1;
  const wrong = wrongLane(chosen());
  if (!wrong) {
    say("");
    return;
  }
  const { lane } = chosen();
  const next = nextIn(lane);
  $("team").value = next;
  say(`${wrong} ${next ? `'${next}' is next in lane ${nameOf(lane)}, and is chosen now.`
    : `No team is chosen for lane ${nameOf(lane)}.`}`);
});
