// SPDX-License-Identifier: Apache-2.0
// What the page knows of its screen: its device pixels, its refresh, and whether a camera sees it.

const FRAMES = 30;
const SLACK_PX = 2; // Fractional scales round a window's sides.
const AGAIN_MS = 1000; // A window may reach its size after the event that tells of a change.

// Call `changed` with the screen's facts at the start and after each change.
export function watchScreen(changed) {
  const facts = { width: 0, height: 0, ratio: 1, refresh_hz: null, visible: true, fills: false };
  let box = null;
  let told = "";

  const tell = () => {
    facts.ratio = devicePixelRatio;
    facts.width = devicePixels(innerWidth, box?.inlineSize);
    facts.height = devicePixels(innerHeight, box?.blockSize);
    facts.visible = document.visibilityState === "visible";
    facts.fills = fills();
    if (told === JSON.stringify(facts)) return;
    told = JSON.stringify(facts);
    changed({ ...facts });
  };

  new ResizeObserver(([entry]) => {
    box = entry.devicePixelContentBoxSize?.[0] ?? null;
    tell();
  }).observe(document.documentElement, observed());

  setInterval(tell, AGAIN_MS);
  for (const name of ["resize", "focus"]) addEventListener(name, tell);
  for (const name of ["fullscreenchange", "visibilitychange"]) document.addEventListener(name, tell);
  measureRefresh((hz) => {
    facts.refresh_hz = hz;
    tell();
  });
}

// Only the browser knows how it rounds a window's side to device pixels. Its number counts where it
// is a rounding of the exact side; a browser that emulates a screen tells the side in CSS pixels.
function devicePixels(side, told) {
  const exact = side * devicePixelRatio;
  return told !== undefined && Math.abs(told - exact) < SLACK_PX ? told : Math.round(exact);
}

function observed() {
  const knows = "devicePixelContentBoxSize" in ResizeObserverEntry.prototype;
  return knows ? { box: "device-pixel-content-box" } : {};
}

// The window fills its screen in full-screen mode, and in a kiosk, which has no such mode. The page's
// zoom changes the size of CSS pixels inside, but neither the screen's size nor the window's. So the
// window must be as large as the screen, and the page must have the screen's shape at any zoom.
function fills() {
  const zoom = screen.width / innerWidth;
  return outerWidth + SLACK_PX >= screen.width
    && outerHeight + SLACK_PX >= screen.height
    && Math.abs(innerHeight * zoom - screen.height) <= SLACK_PX * Math.max(1, zoom);
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
