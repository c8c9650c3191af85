// SPDX-License-Identifier: Apache-2.0
// Motion that a person can do without: whoever's computer asks for less gets none, and so does a page
// on which somebody switched it off.

const MOVE_MS = 700;
const KEPT = "motion";
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const root = document.documentElement;

const isOff = () => root.dataset.motion === "off";
const moves = () => !calm.matches && !isOff();

// Let a button switch all motion of the page off and on again. The browser keeps the choice.
export function switchMotion(button) {
  const show = () => {
    button.textContent = isOff() ? "Motion is off" : "Motion is on";
    button.setAttribute("aria-pressed", String(!isOff()));
  };
  if (kept() === "off") root.dataset.motion = "off";
  show();
  button.addEventListener("click", () => {
    root.dataset.motion = isOff() ? "on" : "off";
    keep(root.dataset.motion);
    show();
  });
}

// A browser may forbid a page to keep anything: then the choice lasts as long as the page.
function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function keep(choice) {
  try {
    localStorage.setItem(KEPT, choice);
  } catch { /* See above. */ }
}

// Where each team's element stands on the page now.
export function placesIn(part) {
  return new Map([...part.querySelectorAll("[data-team]")].map((one) => [one.dataset.team, one.getBoundingClientRect()]));
}

// Let each team come from where it stood. Nothing waits for it, and what was not shown does not move.
export function moveFrom(before, part) {
  if (!moves()) return;
  for (const element of part.querySelectorAll("[data-team]")) {
    const [from, to] = [before.get(element.dataset.team), element.getBoundingClientRect()];
    if (!from?.height || !to.height || (from.top === to.top && from.left === to.left)) continue;
    const shift = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
    element.animate([{ transform: shift }, { transform: "none" }], { duration: MOVE_MS, easing: "ease-in-out" });
  }
}
