# SPDX-License-Identifier: Apache-2.0
"""Answers as a table of tabs with a header, as spreadsheets write them, in any order of columns."""

from __future__ import annotations

from referee.errors import Refusal
from referee.formats.answer_formats import AnswerFormat
from referee.formats.answers import parse_csv
from referee.scoring import Detections

_HEAD = ("image", "class", "confidence", "left", "top", "right", "bottom")


def parse_table(body: bytes) -> Detections:
    """Parse a table whole, or raise `Refusal`."""
    head, _, rows = body.replace(b"\r\n", b"\n").partition(b"\n")
    names = head.decode("ascii", "replace").split("\t")
    if sorted(names) != sorted(_HEAD):
        raise Refusal("table_invalid", f"Nothing was stored: the header must have {_HEAD}.")
    places = [names.index(name) for name in _HEAD]
    lines = []
    for number, line in enumerate(rows.splitlines(), 2):
        cells = line.split(b"\t")
        if len(cells) != len(_HEAD):
            raise Refusal("table_invalid", f"Nothing was stored: line {number} is no row.")
        lines.append(b"\t".join(cells[place] for place in places))
    try:
        return parse_csv(b"\n".join(lines))
    except Refusal as refusal:
        if refusal.code != "csv_invalid":
            raise
        raise Refusal("table_invalid", refusal.message, refusal.faults) from None


TABLE = AnswerFormat(
    name="table",
    title="A table of tabs",
    words="tables of tabs with a header",
    media_type="text/tab-separated-values",
    other_types=(),
    refusal="table_invalid",
    nothing="the table has no row below its header",
    coco_boxes=False,
    example="image\tclass\tconfidence\tleft\ttop\tright\tbottom\n1\t58\t0.9\t10\t20\t110\t220",
    schema={"type": "string"},
    looks=lambda beginning: b"\t" in beginning.partition(b"\n")[0] and b"image" in beginning[:200],
    parse=parse_table,
)
