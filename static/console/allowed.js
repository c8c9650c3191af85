// SPDX-License-Identifier: Apache-2.0
// Which acts have a sense now. Whether they are allowed, the desk decides.

const LIVE = ["READY", "ARMED", "RUNNING"];
const CLOSED = ["SEALED", "VOID"];

// May a new session begin in this lane?
export const isFree = ({ next, current }) => !next && !LIVE.includes(current?.state);

// The acts on the session of a card, and on the one that is next in its lane. `session` is null
// while there is none, `current` is the one that the desk chose.
export function sensibleActs(session, current) {
  const state = session?.state;
  return {
    "arm": state === "READY",
    "stop": state === "RUNNING",
    "void": session !== null && !CLOSED.includes(state),
    "rerun": session !== null && state !== "READY" && !CLOSED.includes(state),
    "extra": LIVE.includes(state),
    "note": session !== null,
    "aside": session !== null && state !== "SEALED",
    "seen": true,
    "arm-next": !["ARMED", "RUNNING"].includes(current?.state),
    "card": true,
  };
}
