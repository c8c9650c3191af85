// SPDX-License-Identifier: Apache-2.0
// What the audience reads of a session that is on.

import { clockText } from "../shared/format.js";

const LAST_S = 10;

export function words(session) {
  const lane = session.lane_name ? `lane ${session.lane_name}: ` : "";
  if (session.state === "ARMED") return `${lane}gets ready`;
  if (session.state === "ENDED") return `${lane}has ended: the energy is judged`;
  return `${lane}running${session.old ? ", no news from the meter" : ""}`;
}

// The clock, `passedS` after the news came: between two events the page itself counts down.
export function clockOf(session, passedS) {
  const running = session.state === "RUNNING";
  const leftS = running ? Math.max(0, session.remaining_s - passedS) : session.remaining_s;
  return { text: clockText(leftS), last: running && leftS <= LAST_S };
}
