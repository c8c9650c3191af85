# SPDX-License-Identifier: Apache-2.0
"""What a request to the console brings along: session numbers, whole numbers and texts, checked."""

from __future__ import annotations

import unicodedata
from typing import Any

from flask import request

from referee.errors import Refusal

# Each number of so many digits fits into the 64 bits that SQLite has for it.
_DIGITS_MOST = 18
# The page's own field for a reason takes no more either.
_TEXT_MOST = 200
_QUOTED_MOST = 40
# Control characters, halves of a character, and separators of lines and paragraphs.
_UNFIT = frozenset({"Cc", "Cs", "Zl", "Zp"})


def session_number(text: str) -> int:
    """Return the session number that a path names; raises `Refusal` (code `session_unknown`)."""
    number = _whole_number(text)
    if number is None:
        raise Refusal("session_unknown", f"There is no session {text[:_QUOTED_MOST]}.")
    return number


def query_number(name: str) -> int:
    """Return a whole number of the query; 0 where it is missing or is no such number."""
    return _whole_number(request.args.get(name, "")) or 0


def posted_arguments() -> dict[str, Any]:
    """Return the JSON object of the request's body; empty where the body is anything else."""
    try:
        arguments = request.get_json(silent=True)
    except RecursionError:
        # Thousands of brackets, one in the other: Python's parser gives up.
        return {}
    return arguments if isinstance(arguments, dict) else {}


def posted_text(arguments: dict[str, Any], name: str) -> str:
    """Return a text of the arguments, '' where it is missing.

    Raises `Refusal` (code `text_wrong`) for anything but one line of up to 200 characters.
    """
    text = arguments.get(name)
    if text is None:
        return ""
    if not isinstance(text, str) or len(text) > _TEXT_MOST or not _is_one_line(text):
        raise Refusal(
            "text_wrong",
            f"The {name} must be one line of text, at most {_TEXT_MOST} characters long.",
        )
    return text


def _is_one_line(text: str) -> bool:
    return not any(unicodedata.category(character) in _UNFIT for character in text)


def _whole_number(text: str) -> int | None:
    fits = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MOST
    return int(text) if fits else None
