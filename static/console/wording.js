// SPDX-License-Identifier: Apache-2.0
// The few sentences that the page has of its own; all others come from the desk.

import { figure } from "../shared/format.js";

// What the mark before a score says: the desk prints the score, and marks one with few digits.
export const ABOUT_WORDS = "too uncertain for more digits";

export const isAbout = ({ score_about: about }) => about;

// The verdict with the marks of the energy: VALID EMULATED.
export function verdictOf({ verdict, marks }) {
  return verdict ? [verdict, ...marks.filter((mark) => mark !== verdict)].join(" ") : "–";
}

// A session that is over, in one line of three parts: its beginning, the team's name, and the rest.
export const rowParts = (row, figures) => [`session ${row.id} of `, row.team, resultText(row, figures)];

function resultText(row, { accuracy, score }) {
  const said = [""];
  if (row.state === "VOID") return `${said[0]}: VOID, ${row.void_reason}`;
  if (row.rehearsal) said.push("rehearsal");
  if (row.verdict === null) return `${said.join(", ")}: ${row.state}, no result yet`;
  // The score comes first: what a small card cuts is behind it.
  const figures = [row.score === null ? "no score" : `${row.score_text} ${score.unit}`];
  figures.push(`${accuracy.label} ${figure(row.mean_ap, 4)}`, `${figure(row.energy_wh, 4)} Wh`);
  return `${said.join(", ")}: ${verdictOf(row)}, ${figures.join(", ")}`;
}

const REASONS = {
  "unknown image": "of an image that does not exist",
  "class out of range": "of a class that does not exist",
  "confidence not finite": "without a finite confidence",
  "coordinate not finite": "without finite coordinates",
  "inverted box": "with corners the wrong way round",
};

export function flagText(counts) {
  const parts = Object.entries(counts).map(([why, n]) => `${n} ${REASONS[why] ?? why}`);
  return parts.length ? `These boxes match no object: ${parts.join(", ")}.` : "";
}
