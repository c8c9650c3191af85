# SPDX-License-Identifier: Apache-2.0
"""What packages bring to the referee by entry points: guests, tracks and answer formats.

The referee's own ones are entry points of its own package, and are found the same way. Those of
other packages are imported where a contest of this machine uses them, or a caller names one: never
because a bundle, a feed or a model asks for one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from power.plugins import (
    Plugin,
    Unloadable,
    UnreadEntryPoint,
    brought_by,
    in_group,
    installed,
    only_one,
)
from power.plugins import load as load_plugin
from referee import __version__
from referee.errors import ConfigError

EXTRAS = "lpirc_referee.extras"
"""The group of guests; an entry point's name is the guest's, its object an `Extra`."""
TRACKS = "lpirc_referee.tracks"
"""The group of tracks; an entry point's name is what `[contest] track` says, its object a `Track`.
"""
ANSWER_FORMATS = "lpirc_referee.answer_formats"
"""The group of answer formats; an entry point's name is the format's, its object an `AnswerFormat`.
"""
METERS = "power.meters"
"""The group of kinds of meters, which `power.meters.kinds` loads."""

WORDS = {
    EXTRAS: "guest",
    TRACKS: "track",
    ANSWER_FORMATS: "answer format",
    METERS: "kind of meter",
}
"""The word for a member of each group."""

_PACKAGE = "lpirc-referee"
_ROOT = Path(__file__).resolve().parents[1]
_INSTALL = "install the referee again: pip install -e . in a clone, or its wheel"

_Kind = TypeVar("_Kind")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Usable(Generic[_Kind]):
    """The plugins of a group that can be used, by name, and why the others cannot."""

    plugins: Mapping[str, Plugin]
    objects: Mapping[str, _Kind]
    faults: tuple[Unloadable, ...] = ()


@cache
def own(group: str) -> Mapping[str, Plugin]:
    """Return the referee's own plugins of a group by name; no other package is looked at.

    Raises `ConfigError` where the referee is not installed, or an earlier version of it.
    """
    points = _of_checkout(_ROOT / "setup.cfg") or brought_by(_PACKAGE)
    found = {one.name: one for one in points if one.group == group}
    if not found:
        raise ConfigError(f"The referee's own entry points {group} are not there: {_INSTALL}.")
    return dict(sorted(found.items()))


def _of_checkout(settings: Path) -> list[Plugin]:
    """Return the entry points of a checkout that is used in place, none where there is none.

    What is installed of it has those of the day on which it was installed.
    """
    if not settings.exists():
        return []
    from configparser import ConfigParser

    parser = ConfigParser(interpolation=None)
    parser.read(settings, encoding="utf-8")
    if parser.get("metadata", "name", fallback="") != _PACKAGE:
        return []
    return [
        Plugin(group, name, value, _PACKAGE, __version__)
        for group, lines in parser["options.entry_points"].items()
        for name, _, value in (line.partition(" = ") for line in lines.strip().splitlines())
    ]


def others(group: str) -> list[Plugin]:
    """Return what other packages bring to a group, by name; a name may come twice."""
    return [plugin for plugin in in_group(group) if not is_own(plugin)]


def is_own(plugin: Plugin) -> bool:
    """Tell whether a plugin is the referee's own code, whoever names it."""
    return plugin.module.partition(".")[0] in ("referee", "power")


def named(group: str, name: str) -> Plugin | None:
    """Return the plugin of a name, or None; the referee's own one comes first.

    Raises `ConfigError` where two packages bring the name.
    """
    plugin = own(group).get(name)
    if plugin is not None:
        return plugin
    try:
        return only_one(plugin for plugin in others(group) if plugin.name == name)
    except Unloadable as error:
        raise ConfigError(str(error)) from error


def load(plugin: Plugin, kind: type[_Kind]) -> _Kind:
    """Return a plugin's object; this runs the package. Raises `ConfigError` if it cannot be used.

    The referee's own code raises whatever it raises: that is an error of ours.
    """
    try:
        return load_plugin(plugin, kind)
    except Unloadable as error:
        if is_own(plugin) and error.__cause__ is not None:
            raise error.__cause__ from None
        raise ConfigError(str(error)) from error


def usable(
    group: str,
    kind: type[_Kind],
    fault_of: Callable[[Plugin, _Kind, Mapping[str, _Kind]], str | None],
) -> Usable[_Kind]:
    """Import all plugins of a group, and leave out those that cannot be used; the log names them.

    `fault_of` tells why an object cannot stand beside those of before, or None. The referee's own
    ones come first, then the others by name.
    """
    plugins = dict(own(group))
    objects = {name: load(plugin, kind) for name, plugin in plugins.items()}
    faults = []
    for plugin in others(group):
        try:
            if plugin.name in objects:
                raise Unloadable(plugin, f"the {WORDS[group]} '{plugin.name}' already exists")
            only_one(one for one in others(group) if one.name == plugin.name)
            found = load_plugin(plugin, kind)
            fault = fault_of(plugin, found, objects)
            if fault is not None:
                raise Unloadable(plugin, fault)
        except Unloadable as error:
            faults.append(error)
            _log.warning("%s", error)
            continue
        plugins[plugin.name], objects[plugin.name] = plugin, found
    return Usable(plugins, objects, tuple(faults))


def installed_beside() -> Iterator[Plugin]:
    """Yield what other packages bring, guests first; imports none."""
    for group in WORDS:
        yield from others(group)


def unread() -> tuple[UnreadEntryPoint, ...]:
    """Return the entry points of packages whose metadata is broken."""
    return installed()[1]


def words_of(plugin: Plugin) -> str:
    """Return what a plugin is, for people: `chess-club 1.0: guest 'chess'`."""
    return f"{plugin.brought_by}: {WORDS[plugin.group]} '{plugin.name}'"
