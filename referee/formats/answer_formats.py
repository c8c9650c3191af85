# SPDX-License-Identifier: Apache-2.0
"""The formats of answers that are no forms, in one table: all that knows formats follows it.

A format is an `AnswerFormat` that an entry point names, of the referee or of another package, with
a parser in the manner of `answers`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from power.plugins import Plugin
from referee.core.detections import Detections
from referee.formats.answers import parse_coco, parse_csv, parse_json
from referee.formats.json_lines import is_json_line, parse_json_lines
from referee.plugins import ANSWER_FORMATS, Usable, usable

FORM = "form"
"""The name of the format that is no line of the table: the parallel lists of an HTML form."""


@dataclass(frozen=True)
class AnswerFormat:
    """A format in which a contestant may post detections.

    `name` stands in the database and in the bundle. `title` and `words` are for people.
    `other_types` are media types that mean the same. `refusal` is the code of the refusal of a
    faulty body, and `nothing` tells what a body of no rows is. `coco_boxes` tells whether a box is
    x, y, width, height. `example` is a body of one detection, and `schema` describes any body, as
    OpenAPI wants it. `looks` tells from its beginning whether a body probably has this format.
    `parse` takes a
    body whole or raises `Refusal`.
    """

    name: str
    title: str
    words: str
    media_type: str
    other_types: tuple[str, ...]
    refusal: str
    nothing: str
    coco_boxes: bool
    example: str
    schema: Mapping[str, object]
    looks: Callable[[bytes], bool]
    parse: Callable[[bytes], Detections]


# The first line of a form is never six numbers or more: `curl -d @FILE` makes one line of all.
_CSV_LINE = re.compile(
    rb"[-+.\w]+(?:[ \t]*[ \t,;][ \t]*[-+.\w]+){5,}|[-+.\w]*(?:[ \t]*,[ \t]*[-+.\w]*){5,}"
)
# What JavaScript makes of an object that nobody has turned into text.
_NO_JSON = b"[object "
# The beginning of a body that shows its format.
_LOOK_BYTES = 1000

_NUMBER = {"type": "number"}
_COCO_RESULT = {
    "type": "object",
    "properties": {
        "image_id": {"type": "integer"},
        "category_id": {"type": "integer"},
        "bbox": {"type": "array", "items": _NUMBER, "minItems": 4, "maxItems": 4},
        "score": _NUMBER,
    },
    "required": ["image_id", "category_id", "bbox"],
}
_COCO_EXAMPLE = '{"image_id":1,"category_id":58,"bbox":[10,20,101,201],"score":0.9}'

JSON = AnswerFormat(
    name="json",
    title="JSON",
    words="JSON (COCO results)",
    media_type="application/json",
    other_types=("text/json", "application/x-json"),
    refusal="json_invalid",
    nothing="the list is empty",
    coco_boxes=True,
    example=f"[{_COCO_EXAMPLE}]",
    schema={"type": "array", "items": _COCO_RESULT},
    looks=lambda beginning: (
        beginning[:1] in (b"[", b"{")
        and not beginning.startswith(_NO_JSON)
        and not is_json_line(beginning)
    ),
    parse=parse_json,
)
CSV = AnswerFormat(
    name="csv",
    title="CSV",
    words="CSV",
    media_type="text/csv",
    other_types=("application/csv", "text/x-csv", "text/comma-separated-values"),
    refusal="csv_invalid",
    nothing="the body has no line that is not blank",
    coco_boxes=False,
    example="1 58 0.9 10 20 110 220",
    schema={"type": "string"},
    looks=lambda beginning: bool(_CSV_LINE.fullmatch(beginning.partition(b"\n")[0].strip())),
    parse=parse_csv,
)
JSON_LINES = AnswerFormat(
    name="ndjson",
    title="JSON lines",
    words="JSON lines",
    media_type="application/x-ndjson",
    other_types=tuple(
        "application/ndjson application/jsonl application/x-jsonl text/x-ndjson "
        "application/jsonlines application/x-jsonlines application/json-lines".split()
    ),
    refusal="ndjson_invalid",
    nothing="the body has no line that is not blank",
    coco_boxes=True,
    example=_COCO_EXAMPLE,
    schema={"type": "string"},
    looks=is_json_line,
    parse=partial(parse_coco, parse_json_lines, "ndjson_invalid"),
)


@cache
def installed_formats() -> Usable[AnswerFormat]:
    """Return the formats that are installed here; this imports the packages that bring them."""
    return usable(ANSWER_FORMATS, AnswerFormat, _fault_of)


def all_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats in which a contest of this machine takes answers, by name."""
    return tuple(installed_formats().objects.values())


def _fault_of(
    plugin: Plugin, found: AnswerFormat, others: Mapping[str, AnswerFormat]
) -> str | None:
    """Return why a format cannot stand beside the others: each word that tells them is its own."""
    if found.name != plugin.name or found.name == FORM:
        return f"its name is '{found.name}', and must be that of its entry point"
    for other in others.values():
        both = {found.media_type, *found.other_types} & {other.media_type, *other.other_types}
        if both or found.refusal == other.refusal:
            same = min(both, default=found.refusal)
            return f"'{same}' is of the answer format '{other.name}'"
    return None


def format_of_type(media_type: str) -> AnswerFormat | None:
    """Return the format of a media type, or None."""
    named = (one for one in all_formats() if media_type in (one.media_type, *one.other_types))
    return next(named, None)


def format_by_looks(content: bytes) -> AnswerFormat | None:
    """Return the format that a body seems to have, or None; one that looks like a form has none."""
    beginning = content[:_LOOK_BYTES].removeprefix(codecs.BOM_UTF8).lstrip()
    return next((one for one in all_formats() if one.looks(beginning)), None)


def media_type_by_looks(content: bytes) -> str | None:
    """Return the media type of the format that a body seems to have, or None."""
    answer_format = format_by_looks(content)
    return None if answer_format is None else answer_format.media_type


def why_nothing(name: str) -> str:
    """Return why a post of this format had no rows."""
    nothing = next((one.nothing for one in all_formats() if one.name == name), None)
    return f"no rows were stored: {nothing or 'the form has no ' + repr('image_name')}"


def has_coco_boxes(name: str) -> bool:
    """Tell whether the boxes of this format are x, y, width, height."""
    return any(one.coco_boxes for one in all_formats() if one.name == name)


def any_of(*words: str, last: str = "or") -> str:
    """Return words as people list them: `a, b or c`."""
    *others, final = words
    return f"{', '.join(others)} {last} {final}" if others else final
