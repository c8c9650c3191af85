// SPDX-License-Identifier: Apache-2.0
// The words for the operator, on a black screen only, and never while a session is armed or runs.

const element = document.getElementById("hint");

export function hint(text) {
  element.hidden = text === "";
  if (element.textContent !== text) element.textContent = text;
}

// A browser needs a click or a key for full screen, and for the lock that keeps the screen on.
export function onGesture(act) {
  addEventListener("click", act);
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "f" && !event.ctrlKey && !event.metaKey) act();
  });
}

export async function fillScreen() {
  try {
    if (!document.fullscreenElement) await document.documentElement.requestFullscreen();
  } catch {
    // The browser refuses: the hint stays, and the desk says what is wrong.
  }
}

// The lock ends when the page is hidden, so it is asked for again.
export function keepAwake() {
  const ask = async () => {
    if (document.visibilityState !== "visible") return;
    try {
      await navigator.wakeLock?.request("screen");
    } catch {
      // Some systems refuse it. Then the operator's settings keep the screen on.
    }
  };
  document.addEventListener("visibilitychange", ask);
  ask();
}
