// SPDX-License-Identifier: Apache-2.0
// The one dialog of the operators' pages: a question, the texts that its action needs, two buttons.

import { make, put } from "./page.js";
import { buttonOf } from "./parts.js";

// Open a dialog; resolve to the texts by field, or to null when it is left alone. Without `no` it
// cannot be left. `destroys` colours its button. `refused` takes the texts and resolves to what is
// wrong with them, or to "".
//
// A field is { name, label, value, optional } and any further property of its input, or it has
// `choices`, pairs of a value and its text. A field of type "number" answers a number.
export function openDialog({ id = "confirm", fields = [], refused = () => "", ...asked }) {
  const { form, inputs, leave, sure, say } = formOf({ id, fields, ...asked });
  const dialog = Object.assign(make("dialog", form), { id });
  dialog.setAttribute("aria-labelledby", `${id}-text`);
  let answer = null;

  async function submit() {
    const empty = inputs.findIndex((input, n) => !fields[n].optional && !input.value.trim());
    if (empty >= 0) {
      say(`Please fill in: ${fields[empty].label}.`, inputs[empty]);
      return inputs[empty].focus();
    }
    const texts = Object.fromEntries(fields.map(({ name }, n) => [name, valueOf(inputs[n])]));
    sure.disabled = true;
    const refusal = await refused(texts);
    sure.disabled = false;
    say(refusal);
    if (refusal) return inputs.at(-1).select();
    answer = texts;
    dialog.close();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  leave.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  const canBeLeft = leave.isConnected;
  (inputs.find((input) => !input.value) ?? leave).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      // A browser closes a dialog by Escape, whatever its page says of that, if nobody has used it yet.
      if (!answer && !canBeLeft) return dialog.showModal();
      dialog.remove();
      resolve(answer);
    });
  });
}

// The form, what people act on in it, and `say(sentence, input)`, which says what is wrong, and where.
function formOf({ id, text, yes, no = "Leave it", fields, destroys = false }) {
  const question = Object.assign(make("p", text), { id: `${id}-text`, className: "question" });
  const inputs = fields.map(inputOf);
  const labels = fields.map(({ label }, n) => make("label", label, inputs[n]));
  const missing = Object.assign(make("p"), { id: `${id}-missing`, className: "missing" });
  missing.setAttribute("role", "alert");
  const leave = Object.assign(buttonOf(no), { id: `${id}-no` });
  const sure = Object.assign(buttonOf(yes, "submit"), { id: `${id}-yes`, className: destroys ? "destroys" : "ends" });
  const actions = Object.assign(make("p", ...(no ? [leave] : []), sure), { className: "actions" });
  const form = make("form", question, ...labels, missing, actions);
  const say = (sentence, wrong = null) => {
    put(missing, sentence);
    for (const input of inputs) input.setAttribute("aria-invalid", String(input === wrong));
  };
  // The dialog says by itself what is missing: a browser's own bubble would lie over its buttons.
  form.noValidate = true;
  form.addEventListener("input", () => say(""));
  // A double click on the button that opens the dialog must not answer it too.
  sure.addEventListener("click", (event) => { if (event.detail > 1) event.preventDefault(); });
  return { form, inputs, leave, sure, say };
}

const valueOf = (input) => (input.type === "number" ? input.valueAsNumber : input.value.trim());

function inputOf({ name, label, optional, choices = null, ...properties }) {
  if (choices) {
    const options = choices.map(([value, text]) => Object.assign(make("option", text), { value }));
    return Object.assign(make("select", ...options), { name });
  }
  return Object.assign(make("input"), { name, type: "text", maxLength: 200, autocomplete: "off", ...properties });
}
