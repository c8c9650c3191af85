// SPDX-License-Identifier: Apache-2.0
// What the switches of the scoreboard show: the freeze, and the break.

import { momentText } from "../shared/format.js";

// The sentence, and which of the two buttons is there. Without a scoreboard nothing can be frozen,
// and final results are frozen no more.
export function freezing({ address, freeze }, final) {
  const frozen = freeze !== null && freeze.kind === "frozen";
  return {
    text: frozen
      ? `The scoreboard is FROZEN for the public. ${freeze.operator} froze it at ${momentText(freeze.utc)}.` : "",
    freeze: address !== null && !frozen && !final,
    unfreeze: frozen,
  };
}

// What of the event's images anybody may see once the results are final and not frozen.
export function publishing({ audience, published, of }) {
  if (!audience) return "";
  if (published === 0) return "The scoreboard shows none of the event’s images.";
  return `The scoreboard then shows ${published} of the event’s ${of} images to anybody, with their true boxes.`;
}

// The sentence about the break, and which of its two buttons is there.
export function pausing({ address, break: pause }) {
  return {
    text: pause ? `The scoreboard shows a break: ${pause.text} It ends at ${momentText(pause.until_utc)}.` : "",
    begin: address !== null,
    end: pause !== null,
  };
}
