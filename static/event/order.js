// SPDX-License-Identifier: Apache-2.0
// Moving a team in the running order, by keys and by a pointer.

// The names with one of them at another place: a number, "first" or "last". The same list if nothing
// moves.
export function moved(names, name, to) {
  const from = names.indexOf(name);
  const place = { first: 0, last: names.length - 1 }[to] ?? to;
  if (from < 0 || place === from || place < 0 || place >= names.length) return names;
  const rest = names.filter((one) => one !== name);
  return [...rest.slice(0, place), name, ...rest.slice(place)];
}

// Follow a pointer until it is lifted; call `over` with the place of the row under it. The rows may be
// drawn anew meanwhile, so nothing is bound to them.
export function dragged(pointer, rows, over) {
  const end = new AbortController();
  const follow = (event) => {
    if (event.pointerId !== pointer) return;
    event.preventDefault();
    const place = [...rows.children].findIndex((row) => event.clientY < row.getBoundingClientRect().bottom);
    over(place < 0 ? rows.children.length - 1 : place);
  };
  addEventListener("pointermove", follow, { signal: end.signal });
  for (const kind of ["pointerup", "pointercancel"]) {
    addEventListener(kind, (event) => { if (event.pointerId === pointer) end.abort(); }, { signal: end.signal });
  }
}
