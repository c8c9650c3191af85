// SPDX-License-Identifier: Apache-2.0
// The question that the page asks back before an action that hurts.

import { $, show } from "../shared/page.js";

// Ask back in a dialog; resolve to the reason ("" where none is asked for), or to null when it is
// left alone.
export function confirmed({ text, yes, no, withReason }) {
  const dialog = $("confirm");
  show("confirm-text", text);
  show("confirm-yes", yes);
  show("confirm-no", no);
  $("confirm-yes").className = withReason ? "destroys" : "ends";
  $("reason-label").hidden = !withReason;
  $("reason").required = withReason;
  $("reason").value = "";
  showReasonMissing(false);
  dialog.returnValue = "";
  dialog.showModal();
  $(withReason ? "reason" : "confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes" ? $("reason").value.trim() : null);
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
