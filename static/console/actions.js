// SPDX-License-Identifier: Apache-2.0
// The question that the page asks back before an action that hurts, or that needs words.

import { $, show } from "../shared/page.js";

const REASON = "Reason (the evidence keeps it)";

// Ask back in a dialog; resolve to what was filled in, or to null when it is left alone. `reason` is
// the name of the text that is asked for, or "" for none; `seconds` asks for a time too. `destroys`
// colours the button.
export function confirmed({ text, yes, no, withReason = false, reason = REASON, seconds = false, destroys = withReason }) {
  const dialog = $("confirm");
  show("confirm-text", text);
  show("confirm-yes", yes);
  show("confirm-no", no);
  show("reason-name", reason);
  $("confirm-yes").className = destroys ? "destroys" : "ends";
  $("seconds-label").hidden = !seconds;
  $("reason-label").hidden = !withReason;
  $("reason").required = withReason;
  $("reason").value = "";
  showReasonMissing(false);
  dialog.returnValue = "";
  dialog.showModal();
  $(withReason ? "reason" : "confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const filled = { reason: $("reason").value.trim(), seconds: Number($("seconds").value) };
      resolve(dialog.returnValue === "yes" ? filled : null);
    }, { once: true });
  });
}

// The dialog says by itself what is missing: a browser's own bubble would lie over its buttons.
function showReasonMissing(missing) {
  show("reason-missing", missing ? "Please give a reason first." : "");
  $("reason").setAttribute("aria-invalid", String(missing));
}

$("confirm").querySelector("form").addEventListener("submit", (event) => {
  const missing = $("reason").required && !$("reason").value.trim();
  showReasonMissing(missing);
  if (!missing) return;
  event.preventDefault();
  $("reason").focus();
});
$("reason").addEventListener("input", () => showReasonMissing(false));
$("confirm-no").addEventListener("click", () => $("confirm").close(""));
// A double click on the button that opens the dialog must not answer it too.
$("confirm-yes").addEventListener("click", (event) => {
  if (event.detail > 1) event.preventDefault();
});
