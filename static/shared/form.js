// SPDX-License-Identifier: Apache-2.0
// What stands in a dialog: its question, its fields, what is wrong with them, and its buttons.

import { make, put } from "./page.js";
import { buttonOf } from "./parts.js";

// A field is { name, label, value, optional } and any further property of its input, or it has
// `choices`, pairs of a value and its text. A field of type "number" answers a number. No field cuts
// what somebody types or pastes: the desk alone says what is too long.
export class Form {
  constructor({ id, text, yes, no = "Cancel", fields = [], destroys = false }) {
    this.fields = fields;
    this.canBeLeft = Boolean(no);
    this.inputs = fields.map(inputOf);
    // Without a field the question has the focus: no key that was pressed too early presses a button.
    this.question = Object.assign(make("p", text), { id: `${id}-text`, className: "question", tabIndex: -1 });
    this.wrong = Object.assign(make("p"), { id: `${id}-missing`, className: "missing" });
    this.wrong.setAttribute("role", "alert");
    this.leave = Object.assign(buttonOf(no), { id: `${id}-no` });
    this.sure = Object.assign(buttonOf(yes, "submit"), { id: `${id}-yes`, className: destroys ? "destroys" : "ends" });
    const labels = fields.map(({ label }, n) => make("label", label, this.inputs[n]));
    const actions = make("p", ...(no ? [this.leave] : []), this.sure);
    actions.className = "actions";
    this.element = make("form", this.question, ...labels, this.wrong, actions);
    // The dialog says by itself what is missing: a browser's own bubble would lie over its buttons.
    this.element.noValidate = true;
    this.place = this.inputs[0] ?? this.question;
    this.isUsed = false;
    this.listen();
  }

  listen() {
    this.element.addEventListener("input", () => {
      this.isUsed = true;
      this.say("");
    });
    this.element.addEventListener("focusin", ({ target }) => { if (this.inputs.includes(target)) this.place = target; });
    this.element.addEventListener("keydown", (event) => this.enter(event));
    // A double click on the button that opens the dialog must not answer it too.
    this.sure.addEventListener("click", (event) => { if (event.detail > 1) event.preventDefault(); });
  }

  // Enter in a field answers the dialog if somebody has typed in it. Before that it may be the second of
  // two presses of the button that opened the dialog.
  enter(event) {
    if (event.key !== "Enter" || event.isComposing || !this.inputs.includes(event.target)) return;
    // The Enter that ends a word of Japanese comes as key 229 in Safari, after the composition.
    if (event.repeat || event.keyCode === 229) event.preventDefault();
    else if (!this.isUsed && !this.missing()) {
      event.preventDefault();
      this.say(`Nothing is done yet. Press “${this.sure.textContent}”.`);
    }
  }

  // Say a sentence, and which input it is about.
  say(sentence, wrong = null) {
    put(this.wrong, sentence);
    for (const input of this.inputs) input.setAttribute("aria-invalid", String(input === wrong));
  }

  // While the desk is asked the buttons act no more, and keep the focus.
  wait(isAsking, canBeLeft = !isAsking) {
    this.element.ariaBusy = String(isAsking);
    this.sure.ariaDisabled = String(isAsking);
    this.leave.ariaDisabled = String(!canBeLeft);
  }

  focus() {
    this.place.focus();
    if (this.place.type === "password") this.place.select();
  }

  // The place of the first field that is empty and must not be.
  missing() {
    return this.inputs.find((input, n) => !this.fields[n].optional && !input.value.trim());
  }

  // The texts by field; null after saying what is missing.
  texts() {
    const input = this.missing();
    if (!input) return Object.fromEntries(this.fields.map(({ name }, n) => [name, valueOf(this.inputs[n])]));
    this.say(`Please fill in: ${this.fields[this.inputs.indexOf(input)].label}.`, input);
    input.focus();
    return null;
  }
}

const valueOf = (input) => (input.type === "number" ? input.valueAsNumber : input.value.trim());

function inputOf({ name, label, optional, choices = null, ...properties }) {
  if (choices) {
    const options = choices.map(([value, text]) => Object.assign(make("option", text), { value }));
    return Object.assign(make("select", ...options), { name });
  }
  return Object.assign(make("input"), { name, type: "text", autocomplete: "off", ...properties });
}
