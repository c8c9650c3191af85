# SPDX-License-Identifier: Apache-2.0
"""Answers as contestants send them (form lists, JSON, CSV), parsed into detections.

A post is taken whole or refused whole. A refusal names every fault of the post at once, so that
a contestant does not have to find them one by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.errors import Refusal
from referee.formats.image_numbers import UNKNOWN_IMAGE, parse_posted_image

FORM_FIELDS = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")
"""Names of the parallel lists of a form post, as the clients of 2015-2019 send them."""

MAX_ROWS = 200_000
"""Most detections in one answer: four times what the whole sample answer file holds."""

# A long body as lists of short texts takes twenty times its length in memory: part by part.
_LINES_AT_ONCE = 5000

_MAX_FAULTS = 20
_INT64_LIMIT = 2**63


class _Faults:
    """Collect the faults of one post and refuse it when there are any."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._count = 0

    def add(self, text: str) -> None:
        self._count += 1
        if len(self._texts) < _MAX_FAULTS:
            self._texts.append(text)

    def refuse_if_any(self, code: str) -> None:
        if not self._texts:
            return
        listed = "; ".join(self._texts)
        more = self._count - len(self._texts)
        tail = f"; and {more} more" if more else ""
        raise Refusal(code, f"Nothing was stored: {listed}{tail}.", tuple(self._texts))


def parse_form(fields: Mapping[str, Sequence[str]]) -> Detections:
    """Parse the parallel lists of a form post.

    `fields` maps a field's name to its values in the order sent; names outside `FORM_FIELDS` are
    ignored. No `image_name` at all is an empty answer. `confidence` may be missing altogether,
    then every detection has 1.0. Numbers are read as Python's float() reads them, so NaN and
    infinity are taken. Raises `Refusal`: code `lists_unequal` when a list is shorter or longer
    than `image_name` (a number that is none is then reported with it), `not_a_number` (text that
    is not ASCII never is one), or `too_many_rows`.
    """
    names = fields.get("image_name", ())
    _require_rows(len(names))
    faults = _Faults()
    columns = [fields.get(field, ()) for field in FORM_FIELDS]
    columns[2] = columns[2] or ("1.0",) * len(names)
    unequal = len(set(map(len, columns))) > 1
    if unequal:
        for field, values in zip(FORM_FIELDS, columns, strict=True):
            if len(values) != len(names):
                faults.add(f"{field} has {len(values)} values and image_name has {len(names)}")
    detections = _from_text_columns(columns, faults, unequal)
    faults.refuse_if_any("lists_unequal" if unequal else "not_a_number")
    return detections


def parse_csv(body: bytes) -> Detections:
    """Parse lines `image_id class_id confidence xmin ymin xmax ymax`, blanks or commas between.

    Every line may leave the confidence out, which is then 1.0. Empty lines are skipped. Raises
    `Refusal` with code `csv_invalid`, naming the lines, or `too_many_rows`.
    """
    try:
        text = body.decode("ascii")
    except UnicodeDecodeError as error:
        raise Refusal(
            "csv_invalid",
            f"Nothing was stored: byte {error.start} is not ASCII; send plain numbers, one "
            "detection a line.",
        ) from None
    lines = text.splitlines()
    faults = _Faults()
    parts: list[Detections] = []
    if len(lines) > MAX_ROWS:
        _require_rows(sum(bool(line.replace(",", " ").strip()) for line in lines))
    width = None
    for start in range(0, len(lines), _LINES_AT_ONCE):
        numbered = _cells_of(lines[start : start + _LINES_AT_ONCE], start + 1)
        if numbered:
            width = width or _width_of(numbered[0][1])
            parts.append(_from_lines(numbered, width, faults))
    faults.refuse_if_any("csv_invalid")
    return Detections.concatenate(parts)


def _cells_of(lines: Sequence[str], first: int) -> list[tuple[int, list[str]]]:
    """Return the cells of each line that has any, with the line's number."""
    cells = (line.replace(",", " ").split() for line in lines)
    return [(number, found) for number, found in enumerate(cells, first) if found]


def _width_of(cells: Sequence[str]) -> int:
    return len(cells) if len(cells) in (6, 7) else 7


def _from_lines(
    numbered: Sequence[tuple[int, list[str]]], width: int, faults: _Faults
) -> Detections:
    for number, cells in numbered:
        if len(cells) != width:
            faults.add(f"line {number} has {len(cells)} numbers, not {width}")
    # The other lines are looked at all the same, so that their faults are told with these.
    rows = [(number, cells) for number, cells in numbered if len(cells) == width]
    table = list(zip(*(cells for _, cells in rows), strict=True)) or [()] * width
    if width == 6:
        table.insert(2, ("1.0",) * len(rows))
    return _from_text_columns(table, faults, False, lambda row: f"line {rows[row][0]}")


def parse_json(body: bytes) -> Detections:
    """Parse COCO results: a list of objects `image_id`, `category_id`, `bbox` and `score`.

    `bbox` is [x, y, width, height]; its inclusive corners are x, y, x+width-1, y+height-1. When
    no object has a `score` every detection has 1.0. Raises `Refusal` with code `json_invalid`,
    naming the objects by their index from 0, or `too_many_rows`.
    """
    try:
        items = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(
            "json_invalid", f"Nothing was stored: the body is not JSON ({error})."
        ) from None
    if not isinstance(items, list):
        raise Refusal(
            "json_invalid",
            'Nothing was stored: the JSON must be a list of {"image_id", "category_id", "bbox", '
            '"score"}, as in COCO results.',
        )
    _require_rows(len(items))
    scored = any(isinstance(item, dict) and "score" in item for item in items)
    faults = _Faults()
    rows = [_coco_row(index, item, scored, faults) for index, item in enumerate(items)]
    faults.refuse_if_any("json_invalid")
    return Detections.from_rows([row for row in rows if row is not None])


def _require_rows(count: int) -> None:
    if count > MAX_ROWS:
        raise Refusal(
            "too_many_rows",
            f"Nothing was stored: {count} detections in one post, at most {MAX_ROWS} are taken; "
            "send them in several posts.",
        )


def _from_text_columns(
    columns: Sequence[Sequence[str]],
    faults: _Faults,
    unequal: bool,
    place: Callable[[int], str] = lambda row: f"row {row + 1}",
) -> Detections:
    """Convert the columns of `FORM_FIELDS`, adding a fault for each cell that is no number."""
    # int() and float() also read the digits of other scripts, which no client means.
    together = not unequal and "".join(map("".join, columns)).isascii()
    ids = _ids(columns[0], columns[1]) if together else None
    floats = _floats(columns[2:]) if together else None
    if ids is not None and floats is not None:
        return Detections(ids[0], ids[1], floats[0], floats[1:].T.copy())
    # Go through again, slowly, to name each cell.
    if ids is None:
        _name_faults("image_name", columns[0], _image_number, faults, place)
        _name_faults("CLASS_ID", columns[1], _integer, faults, place)
    if floats is None:
        for name, texts in zip(FORM_FIELDS[2:], columns[2:], strict=True):
            _name_faults(name, texts, float, faults, place)
    return Detections.empty()


def _ids(names: Sequence[str], classes: Sequence[str]) -> NDArray[np.int64] | None:
    """Return images and classes in two rows, or None when any of these ASCII texts is no id."""
    texts = [*names, *classes]
    if "".join(texts).isdigit() and max(map(len, texts)) < 18:
        numbers: Iterator[int] = map(int, texts)
    else:
        numbers = chain(map(_image_number, names), map(_integer, classes))
    try:
        return np.fromiter(numbers, np.int64, len(texts)).reshape(2, len(names))
    except ValueError:
        return None


def _floats(columns: Sequence[Sequence[str]]) -> NDArray[np.float64] | None:
    """Return each column as a row, or None when any of these ASCII texts is no number."""
    rows = len(columns[0])
    # All in one go: with five boxes in a post a call of numpy takes longer than their numbers.
    numbers = map(float, chain.from_iterable(columns))
    try:
        table = np.fromiter(numbers, np.float64, len(columns) * rows)
    except ValueError:
        return None
    return table.reshape(len(columns), rows)


def _name_faults(
    name: str,
    texts: Sequence[str],
    convert: Callable[[str], float],
    faults: _Faults,
    place: Callable[[int], str],
) -> None:
    for row, text in enumerate(texts):
        try:
            convert(text if text.isascii() else "")
        except ValueError:
            faults.add(f"{place(row)}: {name} '{text[:40]}' is not a number")


def _image_number(text: str) -> int:
    return int(text) if len(text) < 18 and text.isdigit() else parse_posted_image(text)


def _integer(text: str) -> int:
    """Read a class id: an integer, or a float with no fraction as numeric libraries print it."""
    try:
        number = int(text)
    except ValueError:
        value = float(text)
        if not value.is_integer():
            raise ValueError(text) from None
        number = int(value)
    return number if -_INT64_LIMIT <= number < _INT64_LIMIT else UNKNOWN_IMAGE


def _coco_row(
    index: int, item: object, scored: bool, faults: _Faults
) -> tuple[float, float, float, float, float, float, float] | None:
    """Return one row, or None after adding the faults of this object."""
    if not isinstance(item, dict):
        faults.add(f"object {index} is not an object")
        return None
    before: list[str] = []
    image = _json_integer(item, "image_id", before)
    category = _json_integer(item, "category_id", before)
    score = _json_number(item.get("score"), "score", before) if scored else 1.0
    box = item.get("bbox")
    if isinstance(box, list) and len(box) == 4:
        corners = [_json_number(value, "bbox", before) for value in box]
    else:
        corners = []
        before.append("bbox is not a list of four numbers")
    for text in before:
        faults.add(f"object {index}: {text}")
    if before:
        return None
    x, y, width, height = corners
    return (image, category, score, x, y, x + width - 1, y + height - 1)


def _json_number(value: object, name: str, faults: list[str]) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return float("inf")
    faults.append(f"{name} {_shown(value)} is not a number")
    return 0.0


def _json_integer(item: Mapping[str, object], name: str, faults: list[str]) -> int:
    value = item.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -_INT64_LIMIT <= value < _INT64_LIMIT else UNKNOWN_IMAGE
    faults.append(f"{name} {_shown(value)} is not an integer")
    return 0


def _shown(value: object) -> str:
    """Show a JSON value in a message; a list or object, which may be nested deeply, by its kind."""
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else json.dumps(value)[:40]
