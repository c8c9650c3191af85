// SPDX-License-Identifier: Apache-2.0
// What is next in a lane: the one act that has a sense now, or what keeps it from being done.

import { failText, standing } from "../shared/arming.js";
import { isolated } from "../shared/page.js";

const LIVE = ["ARMED", "RUNNING"];
const CHECK = { href: "check", words: "look" };

// Why no session can be armed in a lane, with the page that removes it; null if one can, or while
// nobody knows. `checks` is the list of the page Check, null while nobody knows it.
export function forbiddenIn(board, checks, lane) {
  if (board.final) return { text: "The results are final.", link: { href: "results", words: "Results" } };
  if (!checks) return null;
  if (checks.running) return { text: "The slow checks are running. Wait a minute.", link: CHECK };
  const count = standing(checks, lane).length;
  if (!count) return null;
  const text = failText(count);
  return { text: `${text[0].toUpperCase()}${text.slice(1)}:`, link: CHECK };
}

// The session that Arm arms: the READY one on the card, else the next in line. Null if there is none,
// or while the lane has a live one.
export function toArm({ current, next }, shown) {
  if (LIVE.includes(current?.state)) return null;
  return [shown, current].find((one) => one?.state === "READY") ?? (next && { ...next, state: "READY" });
}

// The result that somebody should see: the oldest that is complete.
export const toSee = ({ unseen }) => unseen.find(({ state, verdict }) => state !== "ENDED" && verdict !== null) ?? null;

// The step of a lane. `act` is "seen", "arm", "new", "choose", or null where there is nothing to do but
// wait. `text` and `link` say what the desk's sentence about the session does not. `shown` is the
// session on the card, `chosen` what the operator has chosen as next: its team and lane.
export function stepOf(board, lane, checks, shown, chosen) {
  const forbidden = forbiddenIn(board, checks, lane.number);
  const said = { text: forbidden?.text ?? "", link: forbidden?.link ?? null };
  const { current } = lane;
  if (board.settings.mode === "practice") return { act: null, ...(current?.state === "RUNNING" ? { text: "", link: null } : said) };
  if (toSee(lane)) return { act: "seen", text: "", link: null };
  if (LIVE.includes(current?.state) || (current?.state === "ENDED" && current.verdict === null)) {
    return { act: null, text: "", link: null };
  }
  if (toArm(lane, shown)) return { act: forbidden ? null : "arm", ...said };
  if (board.final) return { act: null, ...said };
  const team = teamOf(board, lane, chosen);
  if (team) return { act: "new", text: said.text || `${isolated(team)} is next.`, link: said.link };
  if (board.teams.length) return { act: "choose", text: said.text || "No team is next in this lane.", link: said.link };
  return { act: null, text: "No team is registered:", link: { href: "teams", words: "Teams" } };
}

// The team of the next session in a lane: the one that is chosen for it, else the next in the order.
export function teamOf(board, lane, chosen) {
  if (chosen.lane === lane.number && chosen.team) return chosen.team;
  const next = board.next_teams[lane.number];
  return board.teams.includes(next) ? next : "";
}
