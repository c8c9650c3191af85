// SPDX-License-Identifier: Apache-2.0
// The large line of a card: the time that is left, then what the session gave.

import { clockText } from "../shared/format.js";
import { ABOUT_WORDS, isAbout } from "./wording.js";

const LAST_S = 30;
const LAST_TEN_S = 10;

export const isOver = ({ state }) => ["SCORED", "SEALED", "VOID"].includes(state);

// While a session runs every figure is one so far.
export const isTooShort = (session) => session.too_short && isOver(session);

// Between two boards the page counts down by itself, from the time that the desk computed. `ageS` is
// the age of the board.
export function leftOf(session, board, ageS) {
  if (!session) return board.settings.seconds;
  return session.state === "RUNNING" ? Math.max(0, session.remaining_s - ageS) : session.remaining_s;
}

// Text, label and classes of the line, and how much of the bar below it is full.
export function clockOf(session, board, ageS) {
  if (session && isOver(session)) {
    const sure = session.state !== "VOID" && !session.too_short;
    return { ...resultOf(session, board.figures.score.unit), classes: sure ? [] : ["still"], percent: 100 };
  }
  const left = leftOf(session, board, ageS);
  const running = session?.state === "RUNNING";
  return {
    text: clockText(left),
    label: running ? "to go" : "",
    classes: running ? lastClasses(left) : ["still"],
    percent: 100 * (1 - left / (session?.length_s ?? board.settings.seconds)),
  };
}

function lastClasses(left) {
  if (left <= LAST_TEN_S) return ["last", "ten"];
  return left < LAST_S ? ["last"] : [];
}

function resultOf(session, unit) {
  if (session.state === "VOID") return { text: "void", label: "" };
  if (session.score === null) return { text: "no score", label: "" };
  const doubt = session.too_short ? "too short to be exact" : isAbout(session) ? ABOUT_WORDS : "";
  return { text: session.score_text, label: doubt ? `${unit}, ${doubt}` : unit };
}
