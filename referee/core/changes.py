# SPDX-License-Identifier: Apache-2.0
"""The difference between two JSON documents: what a page needs that holds the older one.

A difference is one of three objects. `set` has another value. `fields` has the differences of an
object's fields, and `gone` the names that it lost. `rows` says of what a list is made: `[2, 5]` are
five rows of the old list from its row 2 on, `{"row": 2, "change": …}` is such a row with a
difference, and `{"new": …}` is a row that the old list has not. `static/shared/held.js` applies it.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NotRequired, TypeAlias, TypedDict, Union


class Set(TypedDict):
    """Another value."""

    set: Any


class Fields(TypedDict):
    """An object with other fields."""

    fields: dict[str, Difference]
    gone: NotRequired[list[str]]


class ChangedRow(TypedDict):
    """A row of the old list, changed."""

    row: int
    change: Difference


class NewRow(TypedDict):
    """A row that the old list has not."""

    new: Any


class RowChanges(TypedDict):
    """A list of old rows, changed ones and new ones."""

    rows: list[list[int] | ChangedRow | NewRow]


Difference: TypeAlias = Union[Set, Fields, RowChanges]  # noqa: UP007 - its classes name it before it is.

# What names a row among its neighbours, whatever else of it changes; the first that it has counts.
_NAMES = ("team", "session", "id", "number", "name")


def is_same(old: Any, new: Any) -> bool:
    """Tell whether two documents have the same JSON; for Python True is 1, and for JSON it is not.

    The order of an object's fields makes no difference.
    """
    return old is new or (old == new and _text(old) == _text(new))


def difference(old: Any, new: Any) -> Difference:
    """Return what makes the new document of the old one."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _fields(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return {"rows": _rows(old, new)}
    return {"set": new}


def _text(document: Any) -> str:
    return json.dumps(document, sort_keys=True)


def _fields(old: Mapping[str, object], new: Mapping[str, object]) -> Fields:
    fields: dict[str, Difference] = {}
    for name, value in new.items():
        if name not in old:
            fields[name] = {"set": value}
        elif not is_same(old[name], value):
            fields[name] = difference(old[name], value)
    gone = [name for name in old if name not in new]
    return {"fields": fields, "gone": gone} if gone else {"fields": fields}


def _rows(old: Sequence[Any], new: Sequence[Any]) -> list[list[int] | ChangedRow | NewRow]:
    """Match each row with at most one old row, and no old row twice."""
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, row in enumerate(old):
        places[_name(row)].append(place)
    made: list[list[int] | ChangedRow | NewRow] = []
    for row in new:
        free = places.get(_name(row))
        if not free:
            made.append({"new": row})
            continue
        place = free.popleft()
        if not is_same(old[place], row):
            made.append({"row": place, "change": difference(old[place], row)})
        elif made and isinstance(made[-1], list) and sum(made[-1]) == place:
            made[-1][1] += 1
        else:
            made.append([place, 1])
    return made


def _name(row: Any) -> Hashable:
    """Return what names a row: one of its fields, else all that is in it."""
    if isinstance(row, Mapping):
        for name in _NAMES:
            if isinstance(row.get(name), str | int):
                return name, _text(row[name])
    return _text(row)
