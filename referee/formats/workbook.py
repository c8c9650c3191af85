# SPDX-License-Identifier: Apache-2.0
"""Tables as a workbook for spreadsheets, in which each cell has a type.

So a number stays a number in every country, and a name that looks like a number, a date or a
formula stays a name.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from referee.core.written_text import storable
from referee.errors import InputError
from referee.formats.tables import Table

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

_ROWS_MOST, _LETTERS_MOST = 1_048_576, 32_767
_NAME_MOST = 31
_NOT_IN_A_NAME = re.compile(r"[\[\]:*?/\\]|^'|'$")
# More digits than a double has; a spreadsheet has no other numbers.
_WHOLE_MOST = 2**53
_DATE = "yyyy-mm-dd hh:mm:ss"
_WIDTH_MOST_PX = 360


def workbook_of(tables: Sequence[Table], utc: str) -> bytes:
    """Return the tables as an .xlsx file, a sheet each; equal tables give equal bytes.

    `utc` is the moment that the file tells as that of its making. Raises `InputError` for a table
    that no spreadsheet can hold.
    """
    import xlsxwriter  # Slow to import, and few commands need it.

    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    book.set_properties({"created": _moment(utc) or datetime(2000, 1, 1)})
    bold, date = book.add_format({"bold": True}), book.add_format({"num_format": _DATE})
    taken: set[str] = set()
    for table in tables:
        if len(table.rows) >= _ROWS_MOST:
            raise InputError(
                f"The table '{table.name}' has {len(table.rows)} rows. A spreadsheet takes fewer:"
                " use --csv."
            )
        sheet = book.add_worksheet(_sheet_name(table.name, taken))
        sheet.freeze_panes(1, 0)
        for place, head in enumerate(table.heads):
            sheet.write_string(0, place, head, bold)
        for line, row in enumerate(table.rows, 1):
            for place, (head, value) in enumerate(zip(table.heads, row, strict=True)):
                _write(sheet, (line, place), value, date if head.endswith("_utc") else None)
        sheet.autofit(_WIDTH_MOST_PX)
    book.close()
    return file.getvalue()


def _write(sheet: Worksheet, at: tuple[int, int], value: object, date: Format | None) -> None:
    """Write a value as what it is; `date` says that a text is a moment."""
    if value is None or value == "":
        return
    if isinstance(value, bool):
        sheet.write_boolean(*at, value)
    elif (number := _number(value)) is not None:
        sheet.write_number(*at, number)
    elif date is not None and (moment := _moment(str(value))) is not None:
        sheet.write_datetime(*at, moment, date)
    else:
        _write_text(sheet, at, storable(str(value)))


def _write_text(sheet: Worksheet, at: tuple[int, int], text: str) -> None:
    if len(text.encode("utf-16-le")) // 2 > _LETTERS_MOST:
        raise InputError("A text is longer than a cell of a spreadsheet can be. Use --csv.")
    if text.startswith("<r>") and text.endswith("</r>"):
        # The library takes such a string for its own markup of parts, so it gets parts.
        sheet.write_rich_string(*at, text[:1], text[1:2], text[2:])
    else:
        sheet.write_string(*at, text)


def _number(value: object) -> float | None:
    """Return a value as a number with all its digits, or None if it is none for a spreadsheet."""
    if isinstance(value, int):
        return value if abs(value) <= _WHOLE_MOST else None
    return _AllDigits(value) if isinstance(value, float) and math.isfinite(value) else None


class _AllDigits(float):
    """A number that is written with 17 digits where they count; the library asks for 16."""

    def __format__(self, form: str) -> str:
        return repr(float(self))


def _moment(text: str) -> datetime | None:
    """Return a moment as a spreadsheet has it, in UTC without saying so."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo is None else moment.astimezone(UTC)
        return moment.replace(tzinfo=None)
    return None


def _sheet_name(name: str, taken: set[str]) -> str:
    """Return a name that a sheet may have and that no other one has."""
    plain = _NOT_IN_A_NAME.sub(" ", storable(name)).strip() or "table"
    for number in range(1, _ROWS_MOST):
        end = "" if number == 1 else f" {number}"
        found = plain[: _NAME_MOST - len(end)].rstrip() + end
        if found.casefold() not in taken:
            break
    taken.add(found.casefold())
    return found
