// SPDX-License-Identifier: Apache-2.0
// The document that a page holds: it comes whole once, and then as differences, each against the number
// of the state that the page holds (`referee/core/changes.py` makes them).

// Return the document that a difference makes of the old one. What it does not touch stays the same object.
export function applied(old, difference) {
  if (Object.hasOwn(difference, "set")) return difference.set;
  if (Object.hasOwn(difference, "fields")) {
    const made = new Map(Object.entries(old));
    for (const name of difference.gone ?? []) made.delete(name);
    for (const [name, change] of Object.entries(difference.fields)) {
      made.set(name, applied(made.get(name), change));
    }
    return Object.fromEntries(made);
  }
  return difference.rows.flatMap((part) => {
    if (Array.isArray(part)) return old.slice(part[0], part[0] + part[1]);
    return [Object.hasOwn(part, "new") ? part.new : applied(old[part.row], part.change)];
  });
}

export class Held {
  number = ""; // of the state that is held; "" before the first one
  document = null;

  take({ number, document }) {
    this.number = number;
    this.document = document;
  }

  // Take a difference; return false, and hold nothing any more, if it is against another state.
  change({ from, number, change }) {
    if (from !== this.number) return this.forget();
    this.take({ number, document: applied(this.document, change) });
    return true;
  }

  // Tell whether the page holds this state; without it, it holds nothing any more.
  has(number) {
    return number === undefined || number === this.number || this.forget();
  }

  forget() {
    this.number = "";
    return false;
  }
}
