# SPDX-License-Identifier: Apache-2.0
"""JSON texts: decoded fast into known types, or slowly with each failure in one sentence."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from typing import Any, Generic, TypeVar

import msgspec

from referee.formats.faults import FormatError
from referee.formats.lines import refuse_other_text

_Shape = TypeVar("_Shape")

_SHOWN = 40
# A long list of objects is decoded in pieces of about so many bytes. The decoder lets no other
# thread run until it is done, and a piece takes it a millisecond. Its objects stay in a cache.
_PIECE = 2**16
_BETWEEN_OBJECTS = re.compile(rb"(?<=\})[ \t\n\r]*,[ \t\n\r]*(?=\{)")


def json_of(document: object) -> str:
    """Return a document, with Structs in it, as the standard library writes JSON; no NaN."""
    return json.dumps(msgspec.to_builtins(document, str_keys=True), allow_nan=False)


class TypedDecoder(Generic[_Shape]):
    """A fast decoder of JSON into one type, in a fraction of the time that objects take."""

    def __init__(self, shape: type[_Shape]) -> None:
        self._decoder = msgspec.json.Decoder(shape)

    def decode(self, content: bytes) -> _Shape | None:
        """Return the value of a JSON text, or None if it is not JSON or not of the type."""
        try:
            if not content.isascii():
                content.decode()  # The decoder does not look into texts that it skips.
            return self._decoder.decode(content)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return None


def list_spans(content: bytes) -> list[slice]:
    """Return where the pieces of a JSON list of objects lie in a `bare` text, without its brackets.

    Lists that are joined by commas are one list. So where each piece is JSON the whole is, with
    the same entries. Where a piece is not, the whole may still be: a cut may lie within an entry.
    A text in no brackets has no pieces.
    """
    spans = []
    start = 1 if content.startswith(b"[") and content.endswith(b"]") else 0
    while start:
        cut = _BETWEEN_OBJECTS.search(content, start + _PIECE)
        spans.append(slice(start, len(content) - 1 if cut is None else cut.start()))
        start = 0 if cut is None else cut.end()
    return spans


def bare(content: bytes) -> bytes:
    """Return the content without byte order mark, and without blanks around it."""
    return without_mark(content).strip(b" \t\n\r")


def without_mark(content: bytes) -> bytes:
    """Return the content without the byte order mark of UTF-8."""
    return content.removeprefix(codecs.BOM_UTF8)


def parse_json_text(content: bytes) -> Any:
    """Parse JSON; raise `FormatError` naming the line and column of the first error.

    A UTF-8 byte order mark is skipped. `NaN` and `Infinity` are taken, because Python writes them.
    """
    refuse_other_text(content)
    try:
        return _decoded(content)
    except json.JSONDecodeError as error:
        advice = "complete or correct it there"
        if error.msg == "Extra data":
            advice = "give one list; 'jq -s .' makes one of JSON lines"
        place = f"line {error.lineno}, column {error.colno}"
        fault = f"{place}: {why_not_json(error)}; {advice}"
    except (ValueError, RecursionError) as error:
        fault = why_not_json(error)
    raise FormatError((fault,))


def why_not_json(error: ValueError | RecursionError) -> str:
    """Return what an error of Python's decoder says of a text, without a place."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg[:1].lower()}{error.msg[1:]})"
    if isinstance(error, UnicodeDecodeError):
        return f"not JSON (byte {error.start} is not UTF-8)"
    if isinstance(error, RecursionError):
        return "not JSON that can be read (lists are nested too deeply)"
    # Python converts integers of at most 4,300 digits.
    return "not JSON that can be read (a number has too many digits)"


def _decoded(content: bytes) -> Any:
    """Return what `json.loads` does, and let other threads run meanwhile where that is long."""
    text = bare(content)
    spans = list_spans(text)
    if len(spans) > 1:
        entries: list[Any] = []
        with contextlib.suppress(ValueError, RecursionError):
            for span in spans:
                entries += json.loads((b"[" + text[span] + b"]").decode())
            return entries
    return json.loads(content.decode("utf-8-sig"))


def shown(value: object) -> str:
    """Return a JSON value shortened for a message: a list or object by its kind alone."""
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else json.dumps(value)[:_SHOWN]
