# SPDX-License-Identifier: Apache-2.0
"""Read and write `contest.toml`; an error names the file, section, key and expected value."""

from __future__ import annotations

import dataclasses
import json
import textwrap
import tomllib
import typing
from datetime import date
from pathlib import Path
from typing import Any

from referee.errors import ConfigError
from referee.service.setup.config import Config, TlsFiles
from referee.service.setup.config_values import known_are, section
from referee.service.setup.lane_tables import OF_LANES, read_lanes, require_apart

SECTIONS = tuple(
    field.name
    for field in dataclasses.fields(Config)
    if field.name not in ("path", "declared_lanes")
)
"""The names of the sections that a configuration has once."""


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
    except ValueError as error:  # An error of TOML or of UTF-8, or a number of too many digits.
        raise ConfigError(f"{path}: is not TOML: {error}.") from error
    except RecursionError:
        raise ConfigError(
            f"{path}: is not TOML that can be read: it is nested too deeply."
        ) from None
    kinds = typing.get_type_hints(Config)
    for name in table:
        if name not in (*SECTIONS, "lane"):
            raise ConfigError(f"{path}: there is no section [{name}]{known_are(name, SECTIONS)}")
    values = {
        name: section(path, f"[{name}]", kinds[name], table.get(name, {})) for name in SECTIONS
    }
    config = Config(path=path.resolve(), **values, declared_lanes=read_lanes(path, table))
    require_apart(config)
    if config.server.contest_tls is not None and config.server.worker != "gevent":
        raise ConfigError(
            f'{path}: [server] contest_tls needs worker = "gevent": only gevent bounds how long a '
            "client may take to begin with TLS."
        )
    return config


def dump_config(config: Config) -> str:
    """Return the configuration as commented TOML that `load_config` reads back."""
    lines = []
    for name in SECTIONS:
        values = getattr(config, name)
        of_lanes = OF_LANES.get(name) if config.declared_lanes else None
        lines += [f"# {values.__class__.__doc__}", f"[{name}]"]
        for setting in dataclasses.fields(values):
            if setting.name != of_lanes:
                lines += _commented(setting, getattr(values, setting.name))
        lines.append("")
    for lane in config.declared_lanes:
        lines += ["[[lane]]", f"name = {_toml(lane.name)}", f"contest = {_toml(lane.contest)}"]
        values = {key.name: getattr(lane.meter, key.name) for key in dataclasses.fields(lane.meter)}
        lines += [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
        lines.append("")
    return "\n".join(lines)


def tls_line(files: TlsFiles, path: Path) -> str:
    """Return the line that switches TLS on in a configuration, with paths from its folder."""
    folder = path.parent
    pairs = {it.name: getattr(files, it.name) for it in dataclasses.fields(files)}
    short = {
        name: one.relative_to(folder) if one.is_relative_to(folder) else one
        for name, one in pairs.items()
        if one is not None
    }
    return f"contest_tls = {_toml(TlsFiles(**short))}"


def _commented(setting: dataclasses.Field[Any], value: object) -> list[str]:
    """Return a setting's help and its line, which is a comment if the setting has no value."""
    told = textwrap.wrap(setting.metadata["help"], 96, initial_indent="# ", subsequent_indent="# ")
    if value is None:
        example = setting.metadata.get("example", '""')
        return [*told, f"# {setting.name} = {example}"]
    return [*told, f"{setting.name} = {_toml(value)}"]


def _toml(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if dataclasses.is_dataclass(value):
        pairs = {it.name: getattr(value, it.name) for it in dataclasses.fields(value)}
        given = (f"{name} = {_toml(one)}" for name, one in pairs.items() if one is not None)
        return f"{{ {', '.join(given)} }}"
    # JSON strings, numbers and booleans are valid TOML, with two exceptions: TOML has no escapes
    # for surrogate pairs, and it requires an escape for the delete character.
    plain = str(value) if isinstance(value, Path) else value
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
