// SPDX-License-Identifier: Apache-2.0
// The dialog of an action on the event. Without logins it asks who acts, too, and remembers the name
// for this page.

import { askAndAct } from "../shared/acting.js";
import { personName } from "../shared/person.js";

const NAME = "operator";

// Ask and act as `askAndAct` does.
export function ask({ fields = [], ...question }, requestOf, after) {
  if (personName()) return askAndAct({ fields, ...question }, requestOf, after);
  const own = { name: NAME, label: "Your name (it stays on record)", value: sessionStorage.getItem(NAME) ?? "" };
  return askAndAct({ fields: [...fields, own], ...question }, requestOf, (answer, texts) => {
    sessionStorage.setItem(NAME, texts[NAME]);
    return after(answer, texts);
  });
}
