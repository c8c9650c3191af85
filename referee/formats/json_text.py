# SPDX-License-Identifier: Apache-2.0
"""A JSON parser for UTF-8 text that tells every failure in one sentence."""

from __future__ import annotations

import json
import re
from typing import Any

from referee.formats.faults import FormatError
from referee.formats.lines import refuse_utf16

_SHOWN = 40

# A long list of objects is decoded in pieces of about so many characters. The decoder lets no
# other thread run until it is done, and a piece takes it some milliseconds.
_PIECE = 2**18
_BETWEEN_OBJECTS = re.compile(r"(?<=\})[ \t\n\r]*,[ \t\n\r]*(?=\{)")


def parse_json_text(content: bytes) -> Any:
    """Parse JSON; raise `FormatError` naming the line and column of the first error.

    A UTF-8 byte order mark is skipped. `NaN` and `Infinity` are taken, because Python writes them.
    """
    refuse_utf16(content)
    try:
        return _decoded(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        fault = f"line {error.lineno}, column {error.colno}: not JSON ({reason}); is it complete?"
    except UnicodeDecodeError as error:
        fault = f"not JSON (byte {error.start} is not UTF-8)"
    except RecursionError:
        fault = "not JSON that can be read (lists are nested too deeply)"
    except ValueError:
        # Python converts integers of at most 4,300 digits.
        fault = "not JSON that can be read (a number has too many digits)"
    raise FormatError((fault,))


def _decoded(text: str) -> Any:
    """Return what `json.loads` does, and let other threads run meanwhile where that is long."""
    entries = _decoded_in_pieces(text) if len(text) > _PIECE else None
    return json.loads(text) if entries is None else entries


def _decoded_in_pieces(text: str) -> list[Any] | None:
    """Return the entries of a list of objects; None where the pieces are not JSON.

    Lists that are joined by commas are one list. So where each piece is JSON the whole is, with
    the same entries.
    """
    text = text.strip(" \t\n\r")
    if not (text.startswith("[") and text.endswith("]")):
        return None
    entries: list[Any] = []
    start = 1
    while True:
        cut = _BETWEEN_OBJECTS.search(text, start + _PIECE)
        end = len(text) - 1 if cut is None else cut.start()
        try:
            entries += json.loads(f"[{text[start:end]}]")
        except (ValueError, RecursionError):
            return None
        if cut is None:
            return entries
        start = cut.end()


def shown(value: object) -> str:
    """Return a JSON value shortened for a message: a list or object by its kind alone."""
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else json.dumps(value)[:_SHOWN]
