# SPDX-License-Identifier: Apache-2.0
"""The tables `[[lane]]` of `contest.toml`: several lanes, each with a meter and a port."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from power.resource import split_resource
from referee.errors import ConfigError
from referee.service.setup.config import Config, LaneKeys, LaneSection, MeterSection
from referee.service.setup.config_values import known_are, section

LANES_MOST = 4
"""The most lanes of an event: one console still shows them all."""

OF_LANES = {"server": "contest", "meter": "resource"}
"""The keys, by their section, that stand in each lane as soon as there are lanes."""

_NAME_MOST = 20
_ANY_HOST = frozenset({"0.0.0.0", "::", "[::]", ""})


def read_lanes(path: Path, table: Mapping[str, Any]) -> tuple[LaneSection, ...]:
    """Return the lanes of a configuration; a key of a lane takes the place of that in [meter].

    Raises `ConfigError` for a table that is not right by itself.
    """
    found = table.get("lane", [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ConfigError(f"{path}: write each lane as a table [[lane]], with two brackets.")
    if len(found) > LANES_MOST:
        raise ConfigError(f"{path}: there are {len(found)} tables [[lane]], at most {LANES_MOST}.")
    for name, key in OF_LANES.items():
        if found and key in table.get(name, {}):
            raise ConfigError(
                f"{path}: [{name}] {key} does not go with [[lane]]: give {key} in each lane."
            )
    return tuple(_lane(path, number, one, table) for number, one in enumerate(found, 1))


def _lane(
    path: Path, number: int, lane: Mapping[str, Any], table: Mapping[str, Any]
) -> LaneSection:
    place = _place(number)
    own = [field.name for field in dataclasses.fields(LaneKeys)]
    known = [*own, *(field.name for field in dataclasses.fields(MeterSection))]
    for key in lane:
        if key not in known:
            raise ConfigError(f"{path}: {place} has no key '{key}'{known_are(key, known)}")
    if "resource" not in lane:
        raise ConfigError(f"{path}: {place} resource is missing: VISA resource of its meter.")
    ours = section(path, place, LaneKeys, {key: lane[key] for key in own if key in lane})
    if not ours.name.isprintable() or not ours.name or ours.name != ours.name.strip():
        raise ConfigError(f"{path}: {place} name must be printable, and not blank at its ends.")
    if len(ours.name) > _NAME_MOST:
        raise ConfigError(f"{path}: {place} name has more than {_NAME_MOST} characters.")
    given = {key: value for key, value in lane.items() if key not in own}
    meter = section(path, place, MeterSection, {**table.get("meter", {}), **given})
    return LaneSection(ours.name, ours.contest, meter)


def require_apart(config: Config) -> None:
    """Raise `ConfigError` if two lanes have the same name, meter or address."""
    lanes = list(enumerate(config.declared_lanes, 1))
    for number, lane in lanes:
        place = f"{config.path}: {_place(number)}"
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


def _same_meter(one: MeterSection, other: MeterSection) -> bool:
    """Tell whether two lanes would use one meter; each emulated lane has an emulator of its own."""
    if one.resource in ("emulated", "none"):
        return False
    first, second = (split_resource(meter.resource)[0] for meter in (one, other))
    return _plain(first) == _plain(second)


def _collide(one: str, other: str) -> bool:
    """Tell whether two servers cannot listen on these addresses at once; port 0 is any free one."""
    (host, _, port), (other_host, _, other_port) = one.rpartition(":"), other.rpartition(":")
    if port != other_port or port == "0":
        return False
    return host == other_host or not _ANY_HOST.isdisjoint({host, other_host})
