// SPDX-License-Identifier: Apache-2.0
// Asking the desk to act: each action happens once. A refusal appears where the action was: in its
// dialog, else in the bar at the foot of the page.

import { postOnce } from "./asking.js";
import { openDialog } from "./dialog.js";
import { backIfLost, wayBack } from "./focus.js";
import { logInAgain } from "./person.js";
import { say, sayWhileAsking } from "./saying.js";

const asked = new Set(); // the paths of the actions that are not done yet
let before = Promise.resolve(); // the end of the last of them

export const isAsked = (path) => asked.has(path);

// Ask the desk to do something, then call `after` with its answer, or with null where there is none.
// Until then the same action does nothing, and another one waits for its turn.
export async function act(path, body, after) {
  if (asked.has(path)) return;
  const back = wayBack();
  const told = sayWhileAsking();
  await inTurn(path, body, async ({ answer, sentence }) => {
    told();
    say(sentence);
    await after(answer);
  });
  backIfLost(back);
}

// Ask a question in a dialog, and then the desk. `requestOf` makes the path and the body of the texts.
// A refusal leaves the dialog open with its texts. Once it is done, `after` is called with the answer and
// the texts.
export async function askAndAct(question, requestOf, after) {
  const back = wayBack();
  let open = null; // what the desk is asked and has not refused
  let texts = null;
  const refused = async (filled) => {
    const [path, body] = requestOf(filled);
    if (asked.has(path)) return "The desk has not answered the last request yet. Wait for it.";
    texts = filled;
    open = inTurn(path, body, (found) => found);
    const { answer, sentence } = await open;
    if (answer === null) open = null;
    return answer === null ? sentence : "";
  };
  say("");
  await openDialog({ ...question, refused });
  if (open === null) return;
  // The answer is there, unless somebody has closed the dialog before it came.
  const { answer, sentence } = await open;
  say(sentence);
  if (answer !== null) await after(answer, texts);
  backIfLost(back);
}

// Ask the desk after all that it was asked before, and call `done` with what came of it.
function inTurn(path, body, done) {
  asked.add(path);
  const all = before.then(() => askDesk(path, body)).then(done).finally(() => asked.delete(path));
  before = all.catch(() => {});
  return all;
}

// The desk's answer, null without one, and the sentence for the operator. An action whose login has
// ended is done after a new login.
async function askDesk(path, body) {
  try {
    let done = await postOnce(path, body);
    if (done.answer.code === "login_needed") {
      await logInAgain();
      done = await postOnce(path, body);
    }
    return done.ok ? { answer: done.answer, sentence: done.answer.warning ?? "" }
      : { answer: null, sentence: done.answer.text };
  } catch (error) {
    const sentence = `The desk does not answer (${error.message}). Find out whether it was done before you try again.`;
    return { answer: null, sentence };
  }
}
