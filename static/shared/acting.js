// SPDX-License-Identifier: Apache-2.0
// Asking the desk to act: each action happens once, and a refusal is told in words on the page.

import { postOnce } from "./asking.js";
import { $, show } from "./page.js";
import { logInAgain } from "./person.js";

let busy = false;

export const isBusy = () => busy;

export function say(text, kind = "") {
  show("refusal", text);
  $("refusal").className = kind;
}

// Ask the desk to do something, then call `after` with its answer, or with null where there is none.
// Until then further clicks do nothing. An action whose login has ended is done after a new login.
export async function act(path, body, after) {
  if (busy) return;
  busy = true;
  say("Asking the desk…", "asking");
  let answer = null;
  try {
    let done = await postOnce(path, body);
    if (done.answer.code === "login_needed") {
      await logInAgain();
      done = await postOnce(path, body);
    }
    if (done.ok) answer = done.answer;
    say(done.ok ? "" : done.answer.text);
  } catch (error) {
    say(`The desk does not answer (${error.message}). Look whether it was done before you try again.`);
  }
  try {
    await after(answer);
  } finally {
    busy = false;
  }
}
