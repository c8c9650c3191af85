# SPDX-License-Identifier: Apache-2.0
"""A JSON parser for UTF-8 text that tells every failure in one sentence."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from referee.formats.faults import FormatError
from referee.formats.lines import refuse_other_text
from referee.formats.typed_json import list_pieces

_SHOWN = 40


def parse_json_text(content: bytes) -> Any:
    """Parse JSON; raise `FormatError` naming the line and column of the first error.

    A UTF-8 byte order mark is skipped. `NaN` and `Infinity` are taken, because Python writes them.
    """
    refuse_other_text(content)
    try:
        return _decoded(content)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        advice = "complete or correct it there"
        if reason == "extra data":
            advice = "give one list; 'jq -s .' makes one of JSON lines"
        fault = f"line {error.lineno}, column {error.colno}: not JSON ({reason}); {advice}"
    except UnicodeDecodeError as error:
        fault = f"not JSON (byte {error.start} is not UTF-8)"
    except RecursionError:
        fault = "not JSON that can be read (lists are nested too deeply)"
    except ValueError:
        # Python converts integers of at most 4,300 digits.
        fault = "not JSON that can be read (a number has too many digits)"
    raise FormatError((fault,))


def _decoded(content: bytes) -> Any:
    """Return what `json.loads` does, and let other threads run meanwhile where that is long."""
    pieces = list_pieces(content)
    if pieces is not None:
        entries: list[Any] = []
        with contextlib.suppress(ValueError, RecursionError):
            for piece in pieces:
                entries += json.loads(piece.decode())
            return entries
    return json.loads(content.decode("utf-8-sig"))


def shown(value: object) -> str:
    """Return a JSON value shortened for a message: a list or object by its kind alone."""
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else json.dumps(value)[:_SHOWN]
