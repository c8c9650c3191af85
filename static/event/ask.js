// SPDX-License-Identifier: Apache-2.0
// The dialog of an action on the event. Without logins it asks who acts, too, and remembers the name
// for this page.

import { openDialog } from "../shared/dialog.js";
import { personName } from "../shared/person.js";

const NAME = "operator";

// Ask as `openDialog` does.
export async function ask({ fields, ...asked }) {
  if (personName()) return openDialog({ fields, ...asked });
  const own = { name: NAME, label: "Your name (it stays on record)", value: sessionStorage.getItem(NAME) ?? "" };
  const answer = await openDialog({ fields: [...fields, own], ...asked });
  if (answer) sessionStorage.setItem(NAME, answer[NAME]);
  return answer;
}
