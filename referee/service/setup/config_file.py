# SPDX-License-Identifier: Apache-2.0
"""Read and write `contest.toml`; an error names the file, section, key and expected value."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import textwrap
import tomllib
import types
import typing
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

from referee.errors import ConfigError
from referee.service.setup.config import Config

S = TypeVar("S")


def load_config(path: Path) -> Config:
    """Read a configuration; relative paths in it start at the folder of the file.

    Raises `ConfigError` for a file that cannot be read or parsed, an unknown section or key, a
    missing key, or a value of the wrong type or outside its limits.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}); write one with 'referee init'."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not TOML: {error}.") from error
    sections = {f.name: f.type for f in dataclasses.fields(Config) if f.name != "path"}
    hints = typing.get_type_hints(Config)
    for name in table:
        if name not in sections:
            raise ConfigError(f"{path}: there is no section [{name}]{_known(name, sections)}")
    return Config(
        path=path.resolve(),
        **{name: _section(path, name, hints[name], table.get(name, {})) for name in sections},
    )


def dump_config(config: Config) -> str:
    """Return the configuration as commented TOML that `load_config` reads back."""
    lines = []
    for section in dataclasses.fields(config):
        if section.name == "path":
            continue
        values = getattr(config, section.name)
        lines += [f"# {values.__class__.__doc__}", f"[{section.name}]"]
        for setting in dataclasses.fields(values):
            lines += textwrap.wrap(
                setting.metadata["help"], 96, initial_indent="# ", subsequent_indent="# "
            )
            value = getattr(values, setting.name)
            comment = "# " if value is None else ""
            lines.append(f"{comment}{setting.name} = {_toml(value)}")
        lines.append("")
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    # JSON strings, numbers and booleans are valid TOML, with two exceptions: TOML has no escapes
    # for surrogate pairs, and it requires an escape for the delete character.
    plain = "" if value is None else str(value) if isinstance(value, Path) else value
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def _section(path: Path, name: str, kind: type[S], table: object) -> S:
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: [{name}] must be a section of keys.")
    settings = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in settings:
            raise ConfigError(f"{path}: [{name}] has no key '{key}'{_known(key, settings)}")
        place = f"{path}: [{name}] {key}"
        values[key] = _within(place, _typed(path, place, hints[key], value), settings[key].metadata)
    for key, setting in settings.items():
        if key not in values and setting.default is dataclasses.MISSING:
            raise ConfigError(f"{path}: [{name}] {key} is missing: {setting.metadata['help']}")
        if key not in values and isinstance(setting.default, Path):
            values[key] = path.resolve().parent / setting.default
    return kind(**values)


def _typed(path: Path, place: str, hint: Any, value: object) -> object:
    """Check one value against its annotation; a float setting also takes a whole number."""
    wanted = [t for t in typing.get_args(hint) if t is not types.NoneType] or [hint]
    kind = wanted[0]
    if kind is Path and isinstance(value, str) and value:
        return path.resolve().parent / value
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
    raise ConfigError(f"{place} must be {names.get(kind, 'text')}, not {value!r}.")


def _within(place: str, value: Any, limits: Any) -> Any:
    if "choices" in limits and value not in limits["choices"]:
        allowed = ", ".join(str(choice) for choice in limits["choices"])
        raise ConfigError(f"{place} must be one of {allowed}, not {value!r}.")
    if "least" in limits and value < limits["least"]:
        raise ConfigError(f"{place} must be at least {limits['least']}, not {value!r}.")
    if "most" in limits and value > limits["most"]:
        raise ConfigError(f"{place} must be at most {limits['most']}, not {value!r}.")
    return value


def _known(name: str, known: typing.Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return f"{hint} Known are: {', '.join(names)}."
