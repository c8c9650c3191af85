// SPDX-License-Identifier: Apache-2.0
// The foot of the page: the red bar of the alarms, or what stands in its place.

import { hinderedText } from "../shared/arming.js";
import { ageText } from "../shared/format.js";

const NO_ANSWER = "The desk does not answer, so what you see is old. It starts again by itself within "
  + "seconds. A running session and the meter go on.";
const SILENT_S = 4;

// Whether a board of that age says that the desk does not answer.
export const isSilent = (ageS) => ageS > SILENT_S;

// What the foot shows. `checks` is the list of the page Check, null while nobody knows it; `trouble`
// is what the desk last said instead of a board. `alarm` is null without an alarm; then `calm` says
// how things are. Before the first board nothing is known.
export function footOf(board, checks, ageS, trouble) {
  const silent = isSilent(ageS);
  const alarms = silent ? [silenceAlarm(ageS, trouble)] : board?.alarms ?? [];
  if (alarms.length) {
    const details = [...alarms.map(({ detail }) => detail), seenText(alarms)];
    return {
      alarm: alarmLines(alarms).join("\n"),
      detail: [...new Set(details.filter(Boolean))].join(" · "),
      seen: silent || alarms.every(({ seen }) => seen),
      calm: null,
    };
  }
  if (!board) return { alarm: null, calm: null };
  const hindered = hinderedText(board, checks);
  const link = hindered !== "" && !board.final && checks !== null && !checks.running;
  return {
    alarm: null,
    calm: hindered ? hindered + (link ? " " : "") : "Nothing is wrong.",
    hindered: hindered !== "",
    link,
  };
}

// The lines of the red bar: what is wrong in several lanes stands there once.
function alarmLines(alarms) {
  const lanesOf = new Map();
  for (const { text, lane } of alarms) {
    lanesOf.set(text, [...lanesOf.get(text) ?? [], ...lane ? [lane] : []]);
  }
  return [...lanesOf].map(([text, lanes]) => {
    if (!lanes.length) return text;
    return `${lanes.length > 1 ? "Lanes" : "Lane"} ${lanes.join(", ")}: ${text}`;
  });
}

function seenText(alarms) {
  const names = [...new Set(alarms.map(({ seen }) => seen).filter(Boolean))];
  return names.length ? `Acknowledged by ${names.join(", ")}` : "";
}

function silenceAlarm(silentS, trouble) {
  return { text: trouble || NO_ANSWER, detail: `The connection was lost ${ageText(silentS)}.` };
}
