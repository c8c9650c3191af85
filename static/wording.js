// SPDX-License-Identifier: Apache-2.0
// Numbers and states as people read them.

export function figure(value, digits) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

export function clockText(seconds) {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

const TEXTS = {
  READY: "Arm it when the team stands at the table.",
  ARMED: "The meter is prepared; the clock starts when the team logs in.",
  RUNNING: "The clock and the meter run.",
  ENDED: "Time is over; the final energy is being read.",
  SCORED: "Scored.",
  SEALED: "Sealed.",
  VOID: "Void.",
};

export function stateText(session) {
  const cause = session.end_cause ? ` Ended by ${session.end_cause}.` : "";
  const reason = session.void_reason ? ` ${session.void_reason}` : "";
  return TEXTS[session.state] + cause + reason;
}
