# SPDX-License-Identifier: Apache-2.0
"""The checked arguments of a request to the console: session numbers, whole numbers and texts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from flask import request

from referee.core.written_text import character_name, unfit_character
from referee.errors import Refusal

# Every number of 18 digits fits into SQLite's 64-bit integers.
_DIGITS_MOST = 18
# The pages have no limit of their own: this one is told in the dialog, which keeps the text.
_TEXT_MOST = 200
ALARM_MOST = 2000
"""The most characters of an alarm's text, which the page sends back as it came."""

_QUOTED_MOST = 40
_NAMES_MOST = 1000


def session_number(text: str) -> int:
    """Return the session number in a path; raise `Refusal` (code `session_unknown`) if wrong."""
    number = _whole_number(text)
    if number is None:
        raise Refusal("session_unknown", f"There is no session {text[:_QUOTED_MOST]}.")
    return number


def query_number(name: str) -> int:
    """Return a whole number from the query, or 0 if it is missing or not a whole number."""
    return _whole_number(request.args.get(name, "")) or 0


@dataclass(frozen=True)
class PostedFields:
    """What a page has posted: the fields of a JSON object, each checked as it is read."""

    fields: Mapping[str, object]

    def get(self, name: str, default: object = None) -> object:
        """Return a field as it came."""
        return self.fields.get(name, default)

    def text(self, name: str, most: int = _TEXT_MOST) -> str:
        """Return a text, or '' if it is missing.

        Raises `Refusal` (code `text_wrong`) unless the text is one line of up to `most` characters.
        """
        text = self.fields.get(name)
        if text is None:
            return ""
        unfit = unfit_character(text) if isinstance(text, str) else None
        if not isinstance(text, str) or len(text) > most or unfit is not None:
            what = name.replace("_", " ")
            said = f"The {what} must be one line of text, at most {most} characters long."
            hint = "" if unfit is None else f" It has {character_name(unfit)}: leave that out."
            raise Refusal("text_wrong", said + hint)
        return text

    def names(self, field: str) -> list[str]:
        """Return a list of names; raise `Refusal` (code `text_wrong`) for anything else."""
        names = self.fields.get(field)
        if not isinstance(names, list) or not 0 < len(names) <= _NAMES_MOST:
            raise Refusal("text_wrong", f"The {field} must be a list of names.")
        return [PostedFields({field: name}).text(field) for name in names]

    def sessions(self, field: str) -> list[int]:
        """Return a list of numbers of sessions; raise `Refusal` (code `number_wrong`) otherwise."""
        numbers = self.fields.get(field)
        if not isinstance(numbers, list) or not 0 < len(numbers) <= _NAMES_MOST:
            raise Refusal("number_wrong", f"The {field} must be a list of numbers.")
        return [PostedFields({field: number}).number(field) for number in numbers]

    def choice(self, name: str) -> bool:
        """Return a yes or no, yes if it is missing; raise `Refusal` (code `choice_wrong`)."""
        choice = self.fields.get(name, True)
        if not isinstance(choice, bool):
            raise Refusal("choice_wrong", f"The {name} must be yes or no.")
        return choice

    def number(self, name: str) -> int:
        """Return a whole number; raise `Refusal` (code `number_wrong`) for anything else."""
        number = self.fields.get(name)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 10**9:
            raise Refusal("number_wrong", f"The {name} must be a whole number.")
        return number


def fields_in(body: bytes) -> PostedFields:
    """Return the fields of a request's body, none without one.

    Raises `Refusal` (code `json_wrong`) for a body that is no JSON object.
    """
    if not body:
        return PostedFields({})
    if not request.is_json:
        raise _json_wrong("its Content-Type must be application/json")
    try:
        # The standard's JSON is UTF-8, and has no NaN and no Infinity.
        text = body.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError:
        raise _json_wrong("it is not UTF-8") from None
    except RecursionError:
        raise _json_wrong("it has too many brackets within brackets") from None
    except json.JSONDecodeError as error:
        raise _json_wrong(f"it is not JSON ({error})") from None
    except ValueError as error:  # NaN, or a number of thousands of digits.
        raise _json_wrong(f"a number is none ({str(error)[:_QUOTED_MOST]})") from None
    if not isinstance(value, dict):
        raise _json_wrong("it is no JSON object, like {}")
    return PostedFields(value)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _json_wrong(why: str) -> Refusal:
    return Refusal("json_wrong", f"Nothing was done: the request's body cannot be read, {why}.")


def _whole_number(text: str) -> int | None:
    fits = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MOST
    return int(text) if fits else None
