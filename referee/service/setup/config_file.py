# SPDX-License-Identifier: Apache-2.0
"""Read and write `contest.toml`; an error names the file, section, key and expected value.

The tables `[[lane]]` declare several lanes, each with a meter and a port.
"""

from __future__ import annotations

import dataclasses
import json
import textwrap
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from power.bounded_file import file_text
from power.resource import split_resource
from referee.core.written_text import unfit_character
from referee.errors import ConfigError, about_file
from referee.service.setup.config import Config, TlsFiles
from referee.service.setup.config_values import known_are, section, types_of
from referee.service.setup.extra import Extra, extra_named, own_extras
from referee.service.setup.lane_config import LaneKeys, LaneSection, MeterSection
from referee.service.setup.real_path import real_path

_OWN = tuple(
    field.name
    for field in dataclasses.fields(Config)
    if field.name not in ("path", "extras", "declared_lanes")
)


def all_sections() -> dict[str, type]:
    """Return the dataclass of each section that a file has once: the contest's, its own guests'."""
    hints = types_of(Config)
    return {name: hints[name] for name in _OWN} | _sections_of(own_extras().values())


def _sections_of(extras: Iterable[Extra]) -> dict[str, type]:
    return {extra.name: extra.section for extra in extras if extra.section is not None}


_FORMER = {"server": ("worker", "threads")}
"""Keys that `init` used to write, by their section; they still may stand there."""

_LANES_MOST = 4
"""The most lanes of an event: one console still shows them all."""

_OF_LANES = {"server": "contest", "meter": "resource"}
"""The keys, by their section, that stand in each lane as soon as there are lanes."""

_NAME_MOST = 20
_ANY_HOST = frozenset({"0.0.0.0", "::", "[::]", ""})


def load_config(path: Path, *, pass_over: Collection[str] = ()) -> Config:
    """Read a configuration; relative paths in it start at the folder of the file.

    A section that is not the referee's own imports the package that is installed beside it and
    brings the guest of this name. A section of `pass_over` imports none, and is not read.
    Raises `ConfigError` for a file that cannot be read or parsed, an unknown section or key, a
    missing key, or a value of the wrong type or outside its limits.
    """
    with about_file(path):
        return _read(path, pass_over)


def _read(path: Path, pass_over: Collection[str]) -> Config:
    try:
        table = tomllib.loads(file_text(path))
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror}); write one with 'referee init'."
        ) from error
    except ValueError as error:  # An error of TOML or of UTF-8, or a number of too many digits.
        raise ConfigError(f"is not TOML: {error}.") from error
    except RecursionError:
        raise ConfigError("is not TOML that can be read: it is nested too deeply.") from None
    kinds = all_sections()
    for name in {*pass_over} - {*kinds, "lane"}:
        table.pop(name, None)
    kinds |= _sections_of(_other_guests(name for name in table if name not in (*kinds, "lane")))
    for name in table:
        if name not in (*kinds, "lane"):
            raise ConfigError(
                f"there is no section [{name}], and no installed package brings a guest of this "
                f"name{known_are(name, kinds)}"
            )
    values: dict[str, Any] = {
        name: section(path, f"[{name}]", kind, _present_keys(name, table.get(name, {})))
        for name, kind in kinds.items()
    }
    sections = {name: values.pop(name) for name in _OWN}
    lanes = _read_lanes(path, table)
    config = Config(path=real_path(path), **sections, extras=values, declared_lanes=lanes)
    _require_apart(config)
    return config


def _other_guests(names: Iterable[str]) -> Iterator[Extra]:
    """Yield what guests of other packages bring whose sections a file has."""
    for name in names:
        extra = extra_named(name)
        if extra is not None:
            yield extra


def _present_keys(name: str, table: object) -> object:
    """Return a section without the keys that say what is always so today.

    Raises `ConfigError` if one of them says otherwise.
    """
    if not isinstance(table, dict):
        return table
    if name == "server" and table.get("worker", "gevent") != "gevent":
        raise ConfigError(
            f"[server] worker = {table['worker']!r}: every worker runs gevent today. Delete the "
            "line."
        )
    return {key: value for key, value in table.items() if key not in _FORMER.get(name, ())}


def dump_config(config: Config) -> str:
    """Return the configuration as commented TOML that `load_config` reads back."""
    lines = []
    others = {name: type(values) for name, values in config.extras.items()}
    for name, kind in (all_sections() | others).items():
        values = getattr(config, name) if name in _OWN else config.extras.get(name, kind())
        of_lanes = _OF_LANES.get(name) if config.declared_lanes else None
        lines += [f"# {values.__class__.__doc__}", f"[{name}]"]
        for setting in dataclasses.fields(values):
            if setting.name != of_lanes:
                lines += _commented(setting, getattr(values, setting.name))
        lines.append("")
    for lane in config.declared_lanes:
        lines += ["[[lane]]", f"name = {_toml(lane.name)}", f"contest = {_toml(lane.contest)}"]
        lines += [f"{key} = {_toml(value)}" for key, value in _keys_of_lane(lane, config.meter)]
        lines.append("")
    return "\n".join(lines)


def tls_line(files: TlsFiles, path: Path) -> str:
    """Return the line that switches TLS on in a configuration, with paths from its folder."""
    folder = path.parent
    pairs = {field.name: getattr(files, field.name) for field in dataclasses.fields(files)}
    short = {
        name: one.relative_to(folder) if one.is_relative_to(folder) else one
        for name, one in pairs.items()
        if one is not None
    }
    return f"contest_tls = {_toml(TlsFiles(**short))}"


def _keys_of_lane(lane: LaneSection, shared: MeterSection) -> Iterator[tuple[str, object]]:
    """Yield the keys of a lane's meter that stand in the lane: those that are its own."""
    for key in dataclasses.fields(MeterSection):
        value = getattr(lane.meter, key.name)
        is_own = key.name == _OF_LANES["meter"] or value != getattr(shared, key.name)
        if is_own and value is not None:
            yield key.name, value


def _commented(setting: dataclasses.Field[Any], value: object) -> list[str]:
    """Return a setting's help and its line, which is a comment if the setting has no value."""
    comment = textwrap.wrap(
        setting.metadata["help"], 96, initial_indent="# ", subsequent_indent="# "
    )
    if value is None:
        example = setting.metadata.get("example", '""')
        return [*comment, f"# {setting.name} = {example}"]
    return [*comment, f"{setting.name} = {_toml(value)}"]


def _toml(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if dataclasses.is_dataclass(value):
        pairs = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        given = (f"{name} = {_toml(one)}" for name, one in pairs.items() if one is not None)
        return f"{{ {', '.join(given)} }}"
    # JSON strings, numbers and booleans are valid TOML, with two exceptions: TOML has no escapes
    # for surrogate pairs, and it requires an escape for the delete character.
    plain = str(value) if isinstance(value, Path) else value
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read_lanes(path: Path, table: Mapping[str, Any]) -> tuple[LaneSection, ...]:
    """Return the lanes of a configuration; a key of a lane takes the place of that in [meter].

    Raises `ConfigError` for a table that is not right by itself.
    """
    lanes = table.get("lane", [])
    if not isinstance(lanes, list) or not all(isinstance(one, dict) for one in lanes):
        raise ConfigError("write each lane as a table [[lane]], with two brackets.")
    if len(lanes) > _LANES_MOST:
        raise ConfigError(f"there are {len(lanes)} tables [[lane]], at most {_LANES_MOST}.")
    for name, key in _OF_LANES.items():
        if lanes and key in table.get(name, {}):
            raise ConfigError(f"[{name}] {key} does not go with [[lane]]: give {key} in each lane.")
    return tuple(_lane(path, number, one, table) for number, one in enumerate(lanes, 1))


def _lane(
    path: Path, number: int, lane: Mapping[str, Any], table: Mapping[str, Any]
) -> LaneSection:
    place = _place(number)
    lane_keys = [field.name for field in dataclasses.fields(LaneKeys)]
    known = [*lane_keys, *(field.name for field in dataclasses.fields(MeterSection))]
    for key in lane:
        if key not in known:
            raise ConfigError(f"{place} has no key '{key}'{known_are(key, known)}")
    if "resource" not in lane:
        raise ConfigError(f"{place} resource is missing: VISA resource of its meter.")
    ours = section(path, place, LaneKeys, {key: lane[key] for key in lane_keys if key in lane})
    if unfit_character(ours.name) or not ours.name or ours.name != ours.name.strip():
        raise ConfigError(f"{place} name must be printable, and not blank at its ends.")
    if len(ours.name) > _NAME_MOST:
        raise ConfigError(f"{place} name has more than {_NAME_MOST} characters.")
    given = {key: value for key, value in lane.items() if key not in lane_keys}
    meter = section(path, place, MeterSection, {**table.get("meter", {}), **given})
    return LaneSection(ours.name, ours.contest, meter)


def _require_apart(config: Config) -> None:
    """Raise `ConfigError` if two lanes have the same name, meter or address."""
    lanes = list(enumerate(config.declared_lanes, 1))
    for number, lane in lanes:
        place = _place(number)
        if _collide(lane.contest, config.server.console):
            raise ConfigError(f"{place} contest '{lane.contest}' is that of [server] console.")
        for before, other in lanes[: number - 1]:
            for key, value, same in (
                ("name", lane.name, _plain(lane.name) == _plain(other.name)),
                ("resource", lane.meter.resource, _same_meter(lane.meter, other.meter)),
                ("contest", lane.contest, _collide(lane.contest, other.contest)),
            ):
                if same:
                    raise ConfigError(f"{place} {key} '{value}' is that of {_place(before)} too.")


def _place(number: int) -> str:
    return f"[[lane]] number {number}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _same_meter(left: MeterSection, right: MeterSection) -> bool:
    """Tell whether two lanes would use one meter; each emulated lane has an emulator of its own."""
    if left.resource in ("emulated", "none"):
        return False
    first, second = (split_resource(meter.resource)[0] for meter in (left, right))
    return _plain(first) == _plain(second)


def _collide(left: str, right: str) -> bool:
    """Tell whether two servers cannot listen on these addresses at once; port 0 is any free one."""
    (host, _, port), (other_host, _, other_port) = left.rpartition(":"), right.rpartition(":")
    if port != other_port or port == "0":
        return False
    return host.strip("[]") == other_host.strip("[]") or not _ANY_HOST.isdisjoint(
        {host, other_host}
    )
