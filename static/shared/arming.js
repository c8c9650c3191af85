// SPDX-License-Identifier: Apache-2.0
// Whether sessions can be armed, and why not: one rule for the pages Session and Check.

// The checks that keep a lane from arming; without a lane, those that keep any.
export function standing({ findings }, lane = null) {
  return findings.filter((found) => found.level === "FAIL" && !found.override
    && (lane === null || found.lane === null || found.lane === lane));
}

export const failText = (count) => (count === 1 ? "a check fails" : `${count} checks fail`);

// The lanes in which no session can be armed because a check fails.
const hinderedLanes = (lanes, list) => lanes.filter(({ number }) => standing(list, number).length);

// Why no session can be armed, in one sentence; "" if sessions can be armed in each lane. `list` is
// that of the page Check, null while nobody knows it.
export function hinderedText({ mode, final, lanes }, list) {
  if (final) return "The results are final, so no session can be armed.";
  if (!list) return "The checks are not known yet.";
  if (list.running) return "No session can be armed while the slow checks run.";
  const count = standing(list).length;
  if (!count) return "";
  if (mode === "practice") return `Before a login: ${failText(count)}.`;
  const hindered = hinderedLanes(lanes, list);
  const where = hindered.length < lanes.length ? ` in lane ${hindered.map(({ name }) => name).join(", ")}` : "";
  return `No session can be armed${where}: ${failText(count)}.`;
}

// The state of the list in a word or two, and its class.
export function readyState({ final, lanes, running }, list) {
  if (final) return { kind: "FINAL", text: "FINAL" };
  if (running) return { kind: "CHECKING", text: "… CHECKING" };
  if (!standing(list).length) return { kind: "READY", text: "✓ READY" };
  const some = hinderedLanes(lanes, list).length < lanes.length;
  return some ? { kind: "CHECKING", text: "△ PARTLY READY" } : { kind: "NOT-READY", text: "✕ NOT READY" };
}

// How far the slow checks are: a share between 0 and 1, and a sentence.
export function progressOf({ done, total, item, for_s: seconds }) {
  const now = item ? `, now: ${item}` : "";
  return { share: total ? done / total : 0, text: `${done} of ${total} done${now} (${seconds} s)` };
}
