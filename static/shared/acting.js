// SPDX-License-Identifier: Apache-2.0
// Asking the desk to act: each action happens once, and a refusal is told in words on the page.

import { postOnce } from "./asking.js";
import { $, show } from "./page.js";
import { logInAgain } from "./person.js";

const asked = new Set(); // the paths of the actions that are not done yet
let before = Promise.resolve(); // the end of the last of them

export const isAsked = (path) => asked.has(path);

export function say(text, kind = "") {
  show("refusal", text);
  $("refusal").className = kind;
}

// Ask the desk to do something, then call `after` with its answer, or with null where there is none.
// Until then the same action does nothing, and another one waits for its turn.
export async function act(path, body, after) {
  if (asked.has(path)) return;
  asked.add(path);
  const turn = before;
  const done = turn.then(() => askDesk(path, body)).then(after).finally(() => asked.delete(path));
  before = done.catch(() => {});
  await done;
}

// An action whose login has ended is done after a new login.
async function askDesk(path, body) {
  say("Asking the desk…", "asking");
  let answer = null;
  try {
    let done = await postOnce(path, body);
    if (done.answer.code === "login_needed") {
      await logInAgain();
      done = await postOnce(path, body);
    }
    if (done.ok) answer = done.answer;
    say(done.ok ? done.answer.warning ?? "" : done.answer.text);
  } catch (error) {
    say(`The desk does not answer (${error.message}). Look whether it was done before you try again.`);
  }
  return answer;
}
