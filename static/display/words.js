// SPDX-License-Identifier: Apache-2.0
// What the display shows: black, a frame or the test card, and words for the operator.

// What the desk says, but a page that was opened for the test card shows it between the sessions.
export const modeOf = ({ mode, live }, wantsCard) => (mode === "black" && !live && wantsCard ? "card" : mode);

// The words on the black screen; "" over a picture, and while a session is armed or runs. `facts` are
// those of the screen, null before they are measured; `unfit` says why the desk cannot use it.
export function hintOf(truth, mode, { trouble, unfit, facts, lane }) {
  if (truth.live || mode === "card" || mode === "frame") return "";
  if (trouble) return `${trouble}\nThe display tries again by itself.`;
  if (mode === "waiting") {
    const whose = lane ? `This is the display of lane ${lane}. ` : "";
    return `${whose}A session runs, and this page shows none of its images.\n`
      + "Click, or press F, to show them here instead.";
  }
  if (mode === "other") return "A newer display page has taken over. Close this one.";
  if (unfit) return unfit;
  const size = `${facts?.width ?? 0} x ${facts?.height ?? 0} pixels`;
  if (!facts?.fills) return `Click, or press F: the display must fill its screen.\n${size}`;
  return `The display ${lane ? `of lane ${lane} ` : ""}is ready. ${size}\nA session makes this screen black.`;
}
