// SPDX-License-Identifier: Apache-2.0
// The display page: it shows what the desk says, and black while it cannot know.

import { fillScreen, hint, keepAwake, onGesture } from "./hint.js";
import { Link } from "./link.js";
import { Painter } from "./painter.js";
import { watchScreen } from "./screen.js";
import { hintOf, modeOf } from "./words.js";

const CARD_MS = 200; // How often the test card shows a new time.
const BLACK = { mode: "black", live: true };

const wantsCard = new URLSearchParams(location.search).has("card");
const painter = new Painter(document.getElementById("screen"));
let facts = null; // the screen, once it is measured
let taken = null; // the facts that the desk has of this connection
let telling = false;
let truth = BLACK;
let shown = ""; // what the canvas shows or is about to show
let trouble = "";
let unfit = ""; // why the desk cannot use this screen
let lane = ""; // whose display this is

function show() {
  document.body.classList.toggle("live", truth.live);
  const mode = modeOf(truth, wantsCard);
  hint(hintOf(truth, mode, { trouble, unfit, facts, lane }));
  const now = JSON.stringify([mode, truth.session, truth.frame]);
  if (now === shown || facts === null) return;
  shown = now;
  if (mode === "frame") showFrame(truth, now);
  else if (mode === "card") showCard(now);
  else painter.black();
}

async function showFrame({ session, frame }, mine) {
  try {
    const times = await painter.paint(`${location.pathname}/frames/${session}/${frame}`);
    if (times !== null) await link.report("painted", { session, frame, ...times });
    else if (shown === mine) shown = ""; // The next truth tries again.
  } catch {
    if (shown === mine) shown = "";
  }
}

async function showCard(mine) {
  while (shown === mine) {
    try {
      await painter.paint(`${location.pathname}/card`);
    } catch {
      painter.black();
    }
    await new Promise((done) => { setTimeout(done, CARD_MS); });
  }
}

// Tell the desk the screen's facts, one report after the other: of two on their way at once the older
// one might come last, and count. What gets lost is told again with the next truth.
async function tellScreen() {
  if (telling) return;
  telling = true;
  while (facts !== taken && link.me !== null) {
    const [mine, line] = [facts, link.me];
    try {
      unfit = await link.report("screen", mine);
    } catch {
      break;
    }
    if (line === link.me) taken = mine;
  }
  telling = false;
  show();
}

const link = new Link({
  hello: (name) => {
    lane = name;
    taken = null;
    tellScreen();
  },
  truth: (told, why = "") => {
    trouble = why;
    truth = told ?? { ...BLACK, live: truth.live };
    show();
    tellScreen();
  },
});

watchScreen((measured) => {
  const sameSize = facts && ["width", "height", "ratio"].every((key) => facts[key] === measured[key]);
  facts = measured;
  tellScreen();
  if (!sameSize) {
    painter.resize(facts);
    shown = "";
  }
  show();
});

onGesture(() => {
  if (truth.live) return;
  fillScreen();
  if (truth.mode === "waiting") link.report("take", {}).catch(() => {});
});
keepAwake();
