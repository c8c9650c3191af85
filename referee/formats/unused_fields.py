# SPDX-License-Identifier: Apache-2.0
"""The fields of a form that no list of an answer is: what they were meant for, and what to do.

A form is matched by name, and each name counts exactly once. A field under another name is content
of which nothing would be used, so such a form is refused, and the refusal names the field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from referee.errors import Refusal
from referee.formats.faults import quoted

MOST_NAMED = 8
"""Most unused fields of one form that are named; the others are counted."""

LOOKED_AT = 1000
"""Characters of a field's value that show what it holds."""

_LONGEST_NAME = 40
# What JavaScript makes of an object that nobody has turned into text.
_OBJECT = "[object "


class FieldKind(Enum):
    """Why a field is not used. The values stand in the database."""

    FILE = "file"
    """A part with a file name, as `curl -F file=@a.csv` sends it."""
    BRACKETS = "brackets"
    """A name with an index, `image_name[]` or `detections[0][xmin]`, as PHP and axios make it."""
    SPELLING = "spelling"
    """A name in other capitals or with other hyphens, `Image_Name`, `classId`."""
    COCO = "coco"
    """A field of COCO results, such as `category_id`."""
    OTHER_NAME = "other_name"
    """Another usual word for a list: `label`, `x1`."""
    CONTENT = "content"
    """A value that holds a whole answer: JSON or CSV."""
    NO_NAME = "no_name"
    """Text without a name, as a body without `=` has it."""
    QUERY = "query"
    """A field of the address; those of an answer are read from the body alone."""
    UNKNOWN = "unknown"
    """A name that says nothing."""


@dataclass(frozen=True)
class UnusedField:
    """A field that is not used: its name, why, and the lists or the media type it was meant for."""

    name: str
    kind: FieldKind
    meant: tuple[str, ...] = ()


class FieldsUnused(Refusal):
    """The refusal of a form of which fields are not used; `fields` are the first of them."""

    def __init__(self, message: str, faults: tuple[str, ...], fields: Sequence[UnusedField]):
        super().__init__("fields_unused", message, faults)
        self.fields = tuple(fields)


class UnusedParts:
    """What a form's parser finds and no list takes: the first names.

    `others` counts the parts that have another name. It keeps little, however much comes.
    """

    def __init__(self) -> None:
        self.others = 0
        self._parts: dict[str, tuple[str, bool, bool]] = {}

    def add(self, name: str, value: str, *, is_file: bool = False, is_query: bool = False) -> None:
        """Note a part; of each name the first one is kept."""
        if name in self._parts:
            return
        if len(self._parts) == MOST_NAMED:
            self.others += 1
        else:
            self._parts[name] = (value[:LOOKED_AT], is_file, is_query)

    def fields(self, media_type_of: Callable[[bytes], str | None]) -> list[UnusedField]:
        """Return the first parts; the function tells by a text's beginning what type it has."""
        return [_judged(name, *part, media_type_of) for name, part in self._parts.items()]


def require_used(
    sent: Collection[str], unused: Iterable[UnusedField], wanted: Sequence[str], others: int = 0
) -> None:
    """Raise `FieldsUnused` where fields that are not used have what the form lacks.

    `sent` are the names of the form's lists, and `wanted` those of an answer. A form without any
    list must have no other field either. A form with lists may: they are refused only if a list is
    missing for which one of them was meant. `others` is the number of parts beside `unused`.
    """
    lacking = [name for name in wanted if name not in sent]
    fields = list(unused)
    some = len(lacking) < len(wanted)
    lost = [one for one in fields if not some or set(one.meant) & set(lacking)]
    if not lost:
        return
    more = f" and {others} more" if others and not some else ""
    missing = lacking if some else wanted[:1]
    message = (
        f"Nothing was stored: {_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing, "
        f"and nothing would be used of {_listed(one.name for one in lost)}{more}. "
        + " ".join(_cures(lost, wanted))
    )
    faults = tuple(f"{quoted(one.name)} is not used{_meant(one)}" for one in lost)
    raise FieldsUnused(message, faults, lost)


def not_used(fields: Sequence[UnusedField]) -> tuple[str, ...]:
    """Return the remark on a stored form's fields that are not used, if there are any."""
    return (f"not used: {_listed([one.name for one in fields])}",) if fields else ()


def _meant(field: UnusedField) -> str:
    return f": send {_listed(field.meant)}" if field.meant and "/" not in field.meant[0] else ""


def _cures(lost: Sequence[UnusedField], wanted: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each kind of field: what to do."""
    kinds = {one.kind: [two for two in lost if two.kind is one.kind] for one in lost}
    for kind, fields in kinds.items():
        yield _CURES[kind](fields, wanted)


def _cure_of_file(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    if any(set(one.meant) & set(wanted) for one in fields):
        return (
            f"{_listed([one.name for one in fields])} came with a file name: send plain fields "
            "(requests: data=, not files=; curl: -d, not -F NAME=@FILE)."
        )
    kind = next((one.meant[0] for one in fields if one.meant), "text/csv")
    return (
        "A file part is not read: send the file itself as the body, with curl "
        f"--data-binary @FILE -H 'Content-Type: {kind}' and the token in the header "
        "'Authorization: Bearer TOKEN'."
    )


def _cure_of_brackets(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    name = next((meant for one in fields for meant in one.meant), wanted[0])
    return f"Send the name alone, without brackets, once for each box: {name}=1&{name}=2."


def _cure_of_names(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    pairs = [f"{quoted(one.name)} is {_listed(one.meant)} here" for one in fields]
    return f"The names are fixed, capitals too: {', '.join(pairs)}."


def _cure_of_coco(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    return (
        "COCO results go as the body, with 'Content-Type: application/json'. In a form image_id is "
        "image_name, category_id is CLASS_ID, score is confidence, and a bbox becomes its corners "
        "xmin, ymin, xmax, ymax."
    )


def _cure_of_content(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    (kind, *_) = fields[0].meant
    return (
        f"{quoted(fields[0].name)} holds a whole answer: send that alone as the body, with "
        f"'Content-Type: {kind}' (curl: --data-binary) and the token in the header "
        "'Authorization: Bearer TOKEN'."
    )


def _cure_of_no_name(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    if fields[0].name.startswith(_OBJECT):
        return "JavaScript made this text of an object: send JSON.stringify(it) as JSON."
    if fields[0].meant:
        return (
            f"The body is no form: send it as it is, with 'Content-Type: {fields[0].meant[0]}' "
            "(curl: --data-binary)."
        )
    return f"The body has no fields NAME=VALUE: a form's are {_listed(wanted)}."


def _cure_of_query(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    return "Of the address only the token is read: send all other fields in the body."


def _cure_of_unknown(fields: Sequence[UnusedField], wanted: Sequence[str]) -> str:
    return f"An answer's fields are {_listed(wanted)}."


_CURES: dict[FieldKind, Callable[[Sequence[UnusedField], Sequence[str]], str]] = {
    FieldKind.FILE: _cure_of_file,
    FieldKind.BRACKETS: _cure_of_brackets,
    FieldKind.SPELLING: _cure_of_names,
    FieldKind.COCO: _cure_of_coco,
    FieldKind.OTHER_NAME: _cure_of_names,
    FieldKind.CONTENT: _cure_of_content,
    FieldKind.NO_NAME: _cure_of_no_name,
    FieldKind.QUERY: _cure_of_query,
    FieldKind.UNKNOWN: _cure_of_unknown,
}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_COCO = {
    "image_id": ("image_name",),
    "category_id": ("CLASS_ID",),
    "bbox": _CORNERS,
    "score": ("confidence",),
}
# Words for an answer's lists, without capitals and what joins words.
_WORDS: dict[str, tuple[str, ...]] = {
    **{
        word: ("image_name",)
        for word in "imagename image imageid imageno imagenumber imageindex img imgid".split()
    },
    **{
        word: ("CLASS_ID",)
        for word in "classid class cls clsid category categoryid label labelid".split()
    },
    **{
        word: ("confidence",) for word in "confidence conf score prob probability certainty".split()
    },
    **{word: ("xmin",) for word in "xmin minx x0 x1 left".split()},
    **{word: ("ymin",) for word in "ymin miny y0 y1 top".split()},
    **{word: ("xmax",) for word in "xmax maxx x2 right".split()},
    **{word: ("ymax",) for word in "ymax maxy y2 bottom".split()},
    **{word: _CORNERS for word in "bbox box boundingbox xyxy xywh".split()},
}
_OURS = {"imagename", "classid", "confidence", *_CORNERS}
_SEGMENT = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_INDEX = re.compile(r"[\[\].]")
_JOINS = re.compile(r"[^a-z0-9]")


@lru_cache(4096)
def meaning_of(name: str) -> tuple[str, ...]:
    """Return the lists of an answer for which a name is another word; an unknown one has none."""
    plain = _JOINS.sub("", name.lower())
    counted = plain.rstrip("0123456789")
    words = (plain, plain.removesuffix("s"), plain.removesuffix("es"), counted)
    return next((_WORDS[word] for word in words if word in _WORDS), ())


def _judged(
    name: str,
    value: str,
    is_file: bool,
    is_query: bool,
    media_type_of: Callable[[bytes], str | None],
) -> UnusedField:
    shown = name[:_LONGEST_NAME]
    segments = _SEGMENT.findall(shown)
    meant = meaning_of(segments[-1]) if segments else ()
    media_type = media_type_of(value.encode()) if value else media_type_of(name.encode())
    if value.startswith(_OBJECT):
        media_type = "application/json"
    holds = () if media_type is None else (media_type,)
    if is_query:
        return UnusedField(shown, FieldKind.QUERY, meant)
    if is_file:
        return UnusedField(shown, FieldKind.FILE, holds or meant)
    if not value and (holds or not meant):
        return UnusedField(shown, FieldKind.NO_NAME, holds)
    if holds:
        return UnusedField(shown, FieldKind.CONTENT, holds)
    return UnusedField(shown, _kind_of(shown, segments, meant), meant)


def _kind_of(name: str, segments: Sequence[str], meant: tuple[str, ...]) -> FieldKind:
    if not meant:
        return FieldKind.UNKNOWN
    if _INDEX.search(name):
        return FieldKind.BRACKETS
    if name in _COCO:
        return FieldKind.COCO
    plain = _JOINS.sub("", name.lower())
    return FieldKind.SPELLING if plain in _OURS else FieldKind.OTHER_NAME
