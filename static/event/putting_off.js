// SPDX-License-Identifier: Apache-2.0
// Putting a team off: one act moves it to the end of the running order.

import { ask } from "./ask.js";

export function putOff(team, after) {
  ask({
    text: `Put '${team}' off? It moves to the end of the running order at once.`,
    yes: "Put it off",
    fields: [{ name: "reason", label: "Reason" }],
  }, (answer) => ["teams/defer", { ...answer, team }], after);
}
