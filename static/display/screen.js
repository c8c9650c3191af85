// SPDX-License-Identifier: Apache-2.0
// What the page knows of its screen: its device pixels, its refresh, and whether a camera sees it.

const FRAMES = 30;
const SLACK_PX = 2; // Fractional scales round a window's sides.

// Call `changed` with the screen's facts at the start and after each change.
export function watchScreen(changed) {
  const facts = { width: 0, height: 0, ratio: 1, refresh_hz: null, visible: true, fills: false };
  let told = "";

  const tell = () => {
    facts.ratio = devicePixelRatio;
    facts.visible = document.visibilityState === "visible";
    facts.fills = fills(facts);
    if (facts.width === 0 || told === JSON.stringify(facts)) return;
    told = JSON.stringify(facts);
    changed({ ...facts });
  };

  // Only the browser knows how it rounds a window's sides to device pixels.
  new ResizeObserver(([entry]) => {
    const [box] = entry.devicePixelContentBoxSize ?? [];
    facts.width = box?.inlineSize ?? Math.round(innerWidth * devicePixelRatio);
    facts.height = box?.blockSize ?? Math.round(innerHeight * devicePixelRatio);
    tell();
  }).observe(document.documentElement, observed());

  for (const name of ["resize", "fullscreenchange", "visibilitychange", "focus"]) {
    (name === "visibilitychange" || name === "fullscreenchange" ? document : window)
      .addEventListener(name, tell);
  }
  measureRefresh((hz) => {
    facts.refresh_hz = hz;
    tell();
  });
}

function observed() {
  const knows = "devicePixelContentBoxSize" in ResizeObserverEntry.prototype;
  return knows ? { box: "device-pixel-content-box" } : {};
}

// The window fills its screen in full-screen mode, and in a kiosk, which has no such mode.
function fills({ width, height, ratio }) {
  return width + SLACK_PX >= Math.round(screen.width * ratio)
    && height + SLACK_PX >= Math.round(screen.height * ratio);
}

// The median distance of animation frames, measured while the page is visible.
function measureRefresh(done) {
  const distances = [];
  let before = null;
  const step = (now) => {
    if (document.visibilityState !== "visible") before = null;
    else if (before !== null) distances.push(now - before);
    if (before !== null || document.visibilityState === "visible") before = now;
    if (distances.length < FRAMES) return requestAnimationFrame(step);
    const median = distances.sort((a, b) => a - b)[FRAMES / 2];
    return done(median > 0 ? Math.round(10000 / median) / 10 : null);
  };
  requestAnimationFrame(step);
}
