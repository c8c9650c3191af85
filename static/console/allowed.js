// SPDX-License-Identifier: Apache-2.0
// Which acts have a sense now. Whether they are allowed, the desk decides.

const LIVE = ["READY", "ARMED", "RUNNING"];
const CLOSED = ["SEALED", "VOID"];

// May a new session begin in this lane?
export const isFree = ({ next, current }) => !next && !LIVE.includes(current?.state);

// The acts on the session of a card, which is null while there is none.
export function sensibleActs(session) {
  const state = session?.state;
  return {
    "stop": state === "RUNNING",
    "void": session !== null && !CLOSED.includes(state),
    "rerun": session !== null && state !== "READY" && !CLOSED.includes(state),
    "extra": LIVE.includes(state),
    "note": session !== null,
    "aside": session !== null && state !== "SEALED",
    "card": true,
  };
}
