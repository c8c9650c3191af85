// SPDX-License-Identifier: Apache-2.0
// The choice of the next session: its team and its lane. The desk's running order proposes both.
// What an operator has chosen by hand stays until the session is made.

import { $, fill, isolated, make, show, showCut } from "../shared/page.js";
import { say } from "../shared/saying.js";
import { laneName, nextIn, nextText, proposalOf, wrongLane } from "./proposal.js";

const NOBODY = { turn: "", lane: "", counted: null, replaces: "" };

let board = null;
let byHand = false;
let changes = 0; // how often somebody has chosen by hand
let proposed = ""; // the facts that the last proposal was made of

export function showChoice(news) {
  board = news;
  $("next").hidden = board.settings.mode === "practice";
  const before = $("team").value;
  const options = board.teams.map((name) => ({ name, turn: board.choices[name].turn }));
  if (fill("team", [{ name: "", turn: "" }, ...options], optionOf)) $("team").value = before;
  if (!board.teams.includes(before)) leave(before);
  propose();
  $("team").disabled = board.teams.length === 0;
  showCut("next-team", nextText(board));
  $("team").title = $("team").value;
  const none = board.settings.mode === "practice" || board.teams.length
    ? "" : "No team is registered. Run ‘referee team add NAME’, and the team appears here.";
  show("teams-text", board.teams_text ?? none);
}

function optionOf({ name, turn }) {
  // An option is text alone, so it keeps the isolates.
  const text = name ? isolated(name) + (turn && ` – ${turn}`) : "Choose a team";
  return Object.assign(make("option"), { text, value: name });
}

// What the operator sees as chosen, with what the desk says of the team.
export function chosen() {
  return chosenFor(Number($("lane").value), $("team").value);
}

// A team for a lane, with what the desk says of the team.
export const chosenFor = (lane, team) => ({ ...NOBODY, ...board.choices[team], team, lane });

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
  if (byHand && team) say(`'${team}' no longer takes part, so no team is chosen.`);
  if (team) forgetChoice();
}

// Choose what the desk's running order proposes. Nothing changes under the operator's hand.
function propose() {
  const { lane, team, facts } = proposalOf(board, Number($("lane").value));
  if (byHand || facts === proposed) return;
  proposed = facts;
  $("lane").value = lane;
  $("team").value = team;
}

$("team").addEventListener("change", () => {
  byHand = true;
  changes += 1;
  $("team").title = $("team").value;
  say(wrongLane(board, chosen()));
});

// The lane is chosen for the team that is chosen: only one that may not run there gives way.
$("lane").addEventListener("change", () => {
  byHand = true;
  changes += 1;
  const wrong = wrongLane(board, chosen());
  if (!wrong) {
    say("");
    return;
  }
  const { lane } = chosen();
  const next = nextIn(board, lane);
  $("team").value = next;
  say(`${wrong} ${next ? `'${next}' is next in lane ${laneName(board, lane)} and is now chosen.`
    : `No team is chosen for lane ${laneName(board, lane)}.`}`);
});
