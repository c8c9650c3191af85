// SPDX-License-Identifier: Apache-2.0
// The one dialog of the operators' pages: a question, the texts that its action needs, two buttons.

import { pressNothingByAccident, wayBack } from "./focus.js";
import { Form } from "./form.js";
import { make } from "./page.js";

const SLOW_MS = 5000;
const SLOW = "The desk has not answered yet. You may close this: its answer will appear at the foot of the page.";

// Open a dialog; resolve to the texts by field, or to null when it is cancelled. `refused` takes the
// texts and resolves to what is wrong with them, or to "". Until then the dialog stays open, and after a
// refusal it still has its texts. Who waits for long may close it, and then it resolves to null, too.
// Without `no` it cannot be cancelled. `destroys` colours its button. `Form` says what a field is.
export function openDialog({ id = "confirm", refused = () => "", ...asked }) {
  const back = wayBack();
  const form = new Form({ id, ...asked });
  const dialog = Object.assign(make("dialog", form.element), { id });
  dialog.setAttribute("aria-labelledby", `${id}-text`);
  let answer = null;
  let stays = !form.canBeLeft;
  let isAsking = false;

  // Nothing but the answer closes the dialog while the desk is asked, for some seconds.
  function hold(asking, mayLeave) {
    isAsking = asking;
    stays = !(form.canBeLeft && mayLeave);
    form.wait(asking, !stays);
  }

  async function submit() {
    const texts = isAsking ? null : form.texts();
    if (!texts) return;
    hold(true, false);
    const slow = setTimeout(() => {
      hold(true, true);
      form.say(form.canBeLeft ? SLOW : "The desk has not answered yet.");
    }, SLOW_MS);
    const refusal = await refused(texts);
    clearTimeout(slow);
    hold(false, true);
    if (!dialog.open) return;
    form.say(refusal);
    if (refusal) form.focus();
    else {
      answer = texts;
      dialog.close();
    }
  }

  form.element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  form.leave.addEventListener("click", () => { if (!stays) dialog.close(); });
  dialog.addEventListener("cancel", (event) => { if (stays) event.preventDefault(); });
  document.body.append(dialog);
  dialog.showModal();
  form.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      // A browser closes a dialog by a second Escape, whatever its page says of that.
      if (!answer && stays) {
        dialog.showModal();
        return form.focus();
      }
      dialog.remove();
      back();
      resolve(answer);
    });
  });
}

pressNothingByAccident();
