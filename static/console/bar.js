// SPDX-License-Identifier: Apache-2.0
// The foot of the page: the red bar of the alarms, or what stands in its place.

import { ageText } from "../shared/format.js";
import { failText, standing } from "./next.js";

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
  return {
    alarm: null,
    calm: hindered || "Nothing is wrong.",
    hindered: hindered !== "",
    link: hindered !== "" && !board.final && checks !== null && !checks.running,
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

// What stands in the place of the red bar while there is no alarm: "" if nothing is wrong, and sessions
// can be armed. `list` is that of the page Check, null while nobody knows it.
function hinderedText({ mode, final, lanes }, list) {
  if (final) return "The results are final, so no session can be armed.";
  if (!list) return "The checks are not known yet.";
  if (list.running) return "No session can be armed while the slow checks run.";
  return list.ready ? "" : failingText(list.findings, mode, lanes);
}

function failingText(findings, mode, lanes) {
  const hindered = lanes.filter(({ number }) => standing({ findings }, number).length);
  const where = hindered.length < lanes.length
    ? ` in lane ${hindered.map(({ name }) => name).join(", ")}` : "";
  const count = failText(standing({ findings }).length);
  if (mode === "practice") return `Before a login: ${count}. `;
  return `No session can be armed${where}: ${count}. `;
}

function seenText(alarms) {
  const names = [...new Set(alarms.map(({ seen }) => seen).filter(Boolean))];
  return names.length ? `Acknowledged by ${names.join(", ")}` : "";
}

function silenceAlarm(silentS, trouble) {
  return { text: trouble || NO_ANSWER, detail: `The connection was lost ${ageText(silentS)}.` };
}
