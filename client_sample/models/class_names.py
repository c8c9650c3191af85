# SPDX-License-Identifier: Apache-2.0
"""The contest's class ids of a model's classes: by name, by order, or by number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

NO_CLASS = ("", "-", "???", "n/a", "background", "__background__")
"""What lists of names have in the place of a number without a class, in small letters."""

WAYS = ("order", "ids", "ids+1")


class ClassMap(NamedTuple):
    """The contest's class id by a model's class index.

    `names` are the model's own, for a person. `unmapped` are those that the contest's list has not
    exactly once, and `missed` the contest's names that the model does not know.
    """

    ids: Dict[int, int]
    names: Dict[int, str]
    unmapped: Tuple[str, ...] = ()
    missed: Tuple[str, ...] = ()

    def remarks(self) -> List[str]:
        """Return what a person should know before the login."""
        said = []
        if self.unmapped:
            said.append(
                "not in the contest's list, so their boxes are left out: "
                f"{', '.join(self.unmapped)} ({len(self.unmapped)} of the model's "
                f"{len(self.names)} classes)"
            )
        if self.missed:
            said.append(
                f"the model knows {len(self.ids)} of the contest's "
                f"{len(self.ids) + len(self.missed)} classes; it lacks {', '.join(self.missed)}"
            )
        return said


def read_names(path: Path) -> Dict[int, str]:
    """Return a file's class names: one a line, the first line is the model's class 0."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    return {index: line.strip() for index, line in enumerate(lines)}


def map_classes(
    contest: Mapping[int, str], way: Optional[str], names: Mapping[int, str], count: int
) -> ClassMap:
    """Return the map from a model's classes to the contest's.

    `count` is how many classes the model has, 0 if its outputs do not tell. `way` is one of `WAYS`,
    or None for names. Raises ValueError for a way that the count contradicts.
    """
    _require_count(contest, way, count)
    known = {index: name for index, name in names.items() if name.lower() not in NO_CLASS}
    ids = sorted(contest)
    if way == "order":
        pairs = dict(enumerate(ids))
    elif way is not None:
        less = 1 if way == "ids+1" else 0
        pairs = {number - less: number for number in ids}
    else:
        pairs = _by_name(contest, known)
    own = known or {index: contest[number] for index, number in pairs.items()}
    return ClassMap(
        pairs,
        dict(own),
        tuple(name for index, name in own.items() if index not in pairs),
        tuple(contest[number] for number in ids if number not in pairs.values()),
    )


def _require_count(contest: Mapping[int, str], way: Optional[str], count: int) -> None:
    """Raise ValueError if a model of so many classes cannot have the contest's in this way."""
    if not count:
        return
    if way == "order" and count != len(contest):
        raise ValueError(
            f"it has {count} classes and the contest has {len(contest)}, so they are not the same "
            "in the same order: --names order is wrong"
        )
    if way in ("ids", "ids+1") and max(contest) - (way == "ids+1") >= count:
        raise ValueError(
            f"it has {count} classes, and the contest's ids go up to {max(contest)}: --names {way} "
            "is wrong"
        )


def _by_name(contest: Mapping[int, str], names: Mapping[int, str]) -> Dict[int, int]:
    """Return pairs of one name each: as it is written, otherwise but for case, '_' and '-'."""
    pairs: Dict[int, int] = {}
    for same in (str, _plain):
        left = [index for index in names if index not in pairs]
        free = [number for number in contest if number not in pairs.values()]
        ours = [same(names[index]) for index in left]
        theirs = [same(contest[number]) for number in free]
        for index, name in zip(left, ours):
            if ours.count(name) == theirs.count(name) == 1:
                pairs[index] = free[theirs.index(name)]
    return pairs


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()
