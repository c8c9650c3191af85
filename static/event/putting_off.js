// SPDX-License-Identifier: Apache-2.0
// Putting a team off: one act moves it to the end of the running order.

import { act } from "../shared/acting.js";
import { ask } from "./ask.js";

export async function putOff(team, after) {
  const answer = await ask({
    text: `Put '${team}' off? It moves to the end of the running order at once.`,
    yes: "Put it off",
    fields: [{ name: "reason", label: "Reason" }],
  });
  if (answer) await act("teams/defer", { ...answer, team }, after);
}
