// SPDX-License-Identifier: Apache-2.0
// What the page asks before each action on a session; an action without a question has no entry.

import { isolated } from "../shared/page.js";

const REASON = { name: "reason", id: "reason", label: "Reason (kept in the evidence)" };
const SECONDS = { name: "seconds", id: "seconds", label: "Extra seconds", type: "number", min: 1, value: 60 };

const place = (session) => `session ${session.id} of ${isolated(session.team)}`;

// A sentence behind a question, if there is one.
const after = (sentence) => (sentence ? ` ${sentence}` : "");

// A new session of a team whose result counts; `why` and `scoredWith` are the desk's sentences.
export const replaceQuestion = (team, why, scoredWith) => ({
  text: `${why} Make a new session for ${isolated(team)}?${after(scoredWith)}`,
  yes: "Make a new session",
  destroys: true,
});

export const QUESTIONS = {
  stop: (session) => ({
    text: `Stop the running ${place(session)}? The answers received so far will be scored.`,
    yes: "Stop it now",
    no: "Let it run",
  }),
  void: (session) => ({
    text: `Void ${place(session)}? It will have no score. This cannot be undone.`,
    yes: "Void it",
    fields: [REASON],
    destroys: true,
  }),
  rerun: (session, scoredWith) => ({
    text: `Void ${place(session)}, and make a new session for ${isolated(session.team)}? The old one will have `
      + `no score, and that cannot be undone.${after(scoredWith)}`,
    yes: "Void it and run again",
    fields: [REASON],
    destroys: true,
  }),
  extra: (session) => ({
    text: `Extend ${place(session)} beyond its ${session.length_s} s? This cannot be undone.`,
    yes: "Extend it",
    fields: [SECONDS, REASON],
  }),
  note: (session) => ({
    text: `A note on ${place(session)}`,
    yes: "Save the note",
    fields: [{ ...REASON, label: "Note (kept in the evidence)" }],
  }),
  rehearsal: (session) => ({
    text: `Mark ${place(session)} as a rehearsal? It will not count in the ranking.`,
    yes: "Mark as rehearsal",
    fields: [REASON],
  }),
  counts: (session) => ({
    text: `Let ${place(session)} count again? It is marked as a rehearsal now.`,
    yes: "Let it count",
    fields: [REASON],
  }),
};
