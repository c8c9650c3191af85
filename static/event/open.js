// SPDX-License-Identifier: Apache-2.0
// The points that are open before results can be final: the acts that settle each of them.

// What stands beside a point, by its kind: the act, its word, and the name of its action in the audit
// log. An act on one session has its number in `session`.
const ACTS = {
  "session": ({ sessions }) => sessions.map((session) => ({ act: "void", words: "Void…", action: "void", session })),
  "several sessions": ({ sessions }) => sessions.map((session) => (
    { act: "void", words: `Void session ${session}…`, action: "void", session })),
  "waiting": () => [{ act: "defer", words: "Put off…", action: "defer team" },
    { act: "withdraw", words: "Withdraw…", action: "withdraw team" }],
  "doubt": ({ sessions: [session] }) => [{ act: "review", words: "Review…", action: "review" },
    { act: "void", words: "Void…", action: "void", session }],
  "proposal": () => [{ act: "apply", words: "Apply…", action: "apply proposal" },
    { act: "cancel", words: "Cancel…", action: "cancel proposal" }],
  "inputs": () => [{ act: "propose", words: "Score again…", action: "make proposal" }],
};
ACTS.conditions = ACTS.doubt;

export const actsOf = (point) => ACTS[point.kind]?.(point) ?? [];

// Points that one act settles, because they are open for the same reason: two or more of them.
export function groupsOf(points) {
  const byReason = new Map();
  for (const point of points.filter(({ reason }) => reason)) {
    const key = `${point.kind} ${point.reason}`;
    byReason.set(key, [...byReason.get(key) ?? [], point]);
  }
  return [...byReason.values()].filter((group) => group.length > 1).map(groupOf);
}

function groupOf(points) {
  const [{ kind, reason, doubt }] = points;
  const several = { kind, reason, doubt, teams: points.map(({ team }) => team),
    sessions: points.flatMap(({ sessions }) => sessions) };
  if (kind === "waiting") {
    return { ...several, act: "withdraw", action: "withdraw team", words: `Withdraw all ${points.length}…`,
      text: `${points.length} teams have no session that counts.` };
  }
  const why = kind === "doubt"
    ? `have an energy that is ${doubt}, for the same reason`
    : "differ from the others in the same way";
  return { ...several, act: "review", action: "review", words: `Review all ${points.length}…`,
    text: `${points.length} sessions ${why}: ${several.sessions.join(", ")}.` };
}
