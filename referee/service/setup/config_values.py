# SPDX-License-Identifier: Apache-2.0
"""One setting of `contest.toml`: its declaration in a dataclass, and the check of its value."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from power.durations import duration_s
from referee.errors import ConfigError
from referee.service.setup.real_path import real_path

S = TypeVar("S")


def setting(text: str, default: Any = dataclasses.MISSING, **limits: Any) -> Any:
    """Declare a setting; `choices` lists the allowed values, `least` and `most` bound a number.

    `duration` is a number of seconds that may be a text, such as "10m". `check` raises ValueError,
    whose text is the fault, for a value that is not right in itself. `form` gives a value its usual
    form. `example` is the value that a
    written configuration shows for a setting that has none.
    """
    return dataclasses.field(default=default, metadata={"help": text, **limits})


def section(path: Path, place: str, kind: type[S], table: object) -> S:
    """Return the values of a table, each checked against its setting of the dataclass `kind`.

    `place` is what a fault calls the table, such as `[meter]`. Raises `ConfigError`.
    """
    if not isinstance(table, dict):
        raise ConfigError(f"{place} must be a section of keys.")
    settings = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = types_of(kind)  # type: ignore[arg-type]
    values: dict[str, object] = {}
    for key, value in table.items():
        if key not in settings:
            raise ConfigError(f"{place} has no key '{key}'{known_are(key, settings)}")
        here = f"{place} {key}"
        plain = _seconds(here, value) if settings[key].metadata.get("duration") else value
        values[key] = _within(here, _typed(path, here, hints[key], plain), settings[key].metadata)
    for key, declared in settings.items():
        if key not in values and declared.default is dataclasses.MISSING:
            raise ConfigError(f"{place} {key} is missing: {declared.metadata['help']}")
        if key not in values and isinstance(declared.default, Path):
            values[key] = real_path(path).parent / declared.default
    return kind(**values)


types_of = cache(typing.get_type_hints)
"""The type of each field of a dataclass; a process asks for the same few often."""


def _typed(path: Path, place: str, hint: Any, value: object) -> object:
    """Check one value against its annotation; a float setting also takes a whole number."""
    if typing.get_origin(hint) is tuple:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise ConfigError(f'{place} must be a list of texts, such as ["a", "b"], not {value!r}.')
    wanted = [t for t in typing.get_args(hint) if t is not types.NoneType] or [hint]
    kind = wanted[0]
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return section(path, place, kind, value)  # type: ignore[arg-type]
    if kind is Path and isinstance(value, str) and value and "\0" not in value:
        return real_path(path).parent / value
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        if math.isfinite(value):
            return float(value)
    elif (
        kind is not Path
        and isinstance(value, kind)
        and (kind is bool or not isinstance(value, bool))
        and not isinstance(value, datetime)
    ):
        return value
    names = {
        **{Path: "a path", float: "a number", int: "a whole number", bool: "true or false"},
        date: "a date without quotes, such as 2026-01-31",
    }
    if dataclasses.is_dataclass(kind):
        keys = ", ".join(f"{f.name} = …" for f in dataclasses.fields(kind))
        raise ConfigError(f"{place} must be {{ {keys} }}, not {value!r}.")
    raise ConfigError(f"{place} must be {names.get(kind, 'text')}, not {value!r}.")


def _seconds(place: str, value: object) -> object:
    """Return the seconds that a text names as a duration; a value of another type is itself."""
    if not isinstance(value, str):
        return value
    try:
        seconds = duration_s(value)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}.") from None
    return int(seconds) if seconds == int(seconds) else seconds


def _within(place: str, value: Any, limits: Any) -> Any:
    if "choices" in limits and value not in limits["choices"]:
        allowed = ", ".join(str(choice) for choice in limits["choices"])
        raise ConfigError(f"{place} must be one of {allowed}, not {value!r}.")
    if "least" in limits and value < limits["least"]:
        raise ConfigError(f"{place} must be at least {limits['least']}, not {value!r}.")
    if "most" in limits and value > limits["most"]:
        raise ConfigError(f"{place} must be at most {limits['most']}, not {value!r}.")
    if "check" in limits:
        try:
            limits["check"](value)
        except ValueError as error:
            raise ConfigError(f"{place}: {error}.") from None
    return limits["form"](value) if "form" in limits else value


def known_are(name: str, known: typing.Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: what is meant, and what is known."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return f"{hint} Known are: {', '.join(names)}."
