// SPDX-License-Identifier: Apache-2.0
// Where the focus goes, so that nobody who works with keys loses their place.

const atKey = (key) => key && document.querySelector(`[data-key="${CSS.escape(key)}"]`);

// Give an element the focus; return whether it takes it: what is hidden, disabled or gone does not.
function takes(element) {
  element?.focus();
  return Boolean(element) && document.activeElement === element;
}

const isLost = () => [document.body, null].includes(document.activeElement);

// Remember what has the focus. Return a function that leads back to it, or if it is gone, to what has
// taken its place on the page, to the menu that it was in, or to the heading above it.
export function wayBack() {
  const from = document.activeElement;
  if (isLost()) return () => {};
  const menu = from.closest("details")?.firstElementChild;
  const section = from.closest("section") ?? document.querySelector("main section");
  const keys = [from, menu].map((one) => one?.dataset.key);
  return () => {
    const places = [from, atKey(keys[0]), menu, atKey(keys[1])];
    if (places.some(takes)) return;
    const heading = (section?.isConnected ? section : document).querySelector("h1, h2");
    if (heading) heading.tabIndex = -1;
    takes(heading);
  };
}

// Call a way back if the focus has been lost since it was last called.
export const backIfLost = (back) => { if (isLost()) back(); };

const PRESSED = "button, summary, a";
let typed = null; // the button on which a letter was typed last

// Who types a text while a button has the focus believes to be in a field: the blank in the text, and the
// Enter after it, press nothing. A key that is held down presses once.
function pressesByAccident({ key, repeat, target, ctrlKey, altKey, metaKey }) {
  if (!target.matches?.(PRESSED)) return false;
  const among = typed === target;
  const isPress = key === " " || key === "Enter";
  typed = key.length === 1 && !isPress && !ctrlKey && !altKey && !metaKey ? target : null;
  return isPress && (repeat || among);
}

export function pressNothingByAccident() {
  let swallowed = false;
  addEventListener("keydown", (event) => {
    swallowed = pressesByAccident(event);
    if (swallowed) event.preventDefault();
  }, { capture: true });
  // A blank presses when it is let go.
  addEventListener("keyup", (event) => { if (swallowed && event.key === " ") event.preventDefault(); }, { capture: true });
}
