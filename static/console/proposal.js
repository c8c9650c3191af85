// SPDX-License-Identifier: Apache-2.0
// Who is next, and where: the rules of the choice of the next session.

import { isolated } from "../shared/page.js";
import { isFree } from "./allowed.js";

export function nextIn(board, lane) {
  const next = board.next_teams[lane];
  return board.teams.includes(next) ? next : "";
}

// The first free lane where somebody is next, and who that is. The lane that is chosen stays, if
// anybody may run there; without anybody who is next no team is proposed.
export function proposalOf(board, chosenLane) {
  const free = board.lanes.filter(isFree).map(({ number }) => number);
  const mine = free.filter((number) => number === chosenLane);
  const fits = (number) => board.next_teams[number];
  const lane = mine.find(fits) ?? free.find(fits) ?? mine[0] ?? free[0] ?? chosenLane;
  return { lane, team: nextIn(board, lane), facts: JSON.stringify([board.next_teams, free]) };
}

// The sentence beside the form.
export function nextText(board) {
  const named = board.lanes.filter(({ number }) => board.next_teams[number]);
  if (!named.length) return "";
  if (board.lanes.length === 1) return `Next: ${isolated(board.next_teams[1])}`;
  return `Next in lane ${named.map(({ number, name }) => `${isolated(name)}: ${isolated(board.next_teams[number])}`).join(" · ")}`;
}

// The sentence that a team may not run in a lane, or "".
export function wrongLane(board, { team, lane }) {
  const only = board.choices[team]?.lane;
  return only && only !== laneName(board, lane) ? `'${team}' runs only in lane ${only}.` : "";
}

export const laneName = (board, number) => board.lanes.find((lane) => lane.number === number).name;
