// SPDX-License-Identifier: Apache-2.0
// A dialog that asks for the texts that an action needs. Without logins it asks who acts, too, and
// remembers the name for this page.

import { make } from "../shared/page.js";
import { personName } from "../shared/person.js";

const NAME = "operator";

// Ask; resolve to the texts by field, or to null when it is left alone. A field is
// { name, label, value, optional }, or with `choices`, pairs of a value and its text.
export function ask({ text, yes, fields, destroys = false }) {
  const own = { name: NAME, label: "Your name (it stays on record)",
    value: sessionStorage.getItem(NAME) ?? "" };
  const all = personName() ? fields : [...fields, own];
  const missing = make("p");
  missing.className = "missing";
  missing.setAttribute("role", "alert");
  const question = make("p", text);
  question.id = question.className = "question";
  const inputs = all.map(inputOf);
  const labels = all.map((field, n) => make("label", field.label, inputs[n]));
  const no = button("Leave it", "button");
  const sure = button(yes, "submit");
  sure.className = destroys ? "destroys" : "ends";
  const actions = make("p", no, sure);
  actions.className = "actions";
  const form = make("form", question, ...labels, missing, actions);
  form.noValidate = true;
  const dialog = make("dialog", form);
  dialog.setAttribute("aria-labelledby", question.id);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let answer = null;
    no.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const empty = inputs.findIndex((input, n) => !all[n].optional && !input.value.trim());
      if (empty >= 0) {
        missing.textContent = `Please fill in: ${all[empty].label}.`;
        inputs[empty].focus();
        return;
      }
      answer = Object.fromEntries(all.map(({ name }, n) => [name, inputs[n].value.trim()]));
      if (answer[NAME]) sessionStorage.setItem(NAME, answer[NAME]);
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    }, { once: true });
    dialog.showModal();
    (inputs.find((input) => !input.value) ?? no).focus();
  });
}

function inputOf({ name, value = "", choices = null }) {
  if (choices) {
    const select = make("select", ...choices.map(([word, text]) => Object.assign(make("option", text), { value: word })));
    select.name = name;
    return select;
  }
  const input = make("input");
  input.name = name;
  input.value = value;
  input.maxLength = 200;
  input.autocomplete = "off";
  return input;
}

export function button(label, type = "button") {
  const element = make("button", label);
  element.type = type;
  return element;
}
