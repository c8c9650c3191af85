# SPDX-License-Identifier: Apache-2.0
"""What installed packages bring by entry points; their names are read without an import.

Packages come and go beside this program. So a broken one costs only whoever needs it: metadata that
cannot be read brings nothing, and a package that cannot be imported raises `Unloadable`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_Kind = TypeVar("_Kind")

_ENTRY_POINTS = "entry_points.txt"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
_VALUE = re.compile(r"[\w.]{1,200}:[\w.]{1,200}")
_SHOWN = 200


@dataclass(frozen=True, order=True)
class Plugin:
    """One thing that a package brings: its name in a group, where its object is, and who brings it.

    `value` is `module:object`, as an entry point has it.
    """

    group: str
    name: str
    value: str
    package: str
    version: str

    @property
    def module(self) -> str:
        """Return the module that has the object."""
        return self.value.partition(":")[0]

    @property
    def brought_by(self) -> str:
        """Return the package and its version, for people."""
        return f"{self.package} {self.version}"


class Unloadable(Exception):
    """A plugin that is installed and cannot be used; its text names the package, and what to do."""

    def __init__(self, plugin: Plugin, what: str) -> None:
        fault = _printable(what)
        super().__init__(
            f"The package {plugin.brought_by} brings '{plugin.name}' ({plugin.value}), which "
            f"cannot be used: {fault}. Repair the package, or uninstall it."
        )
        self.plugin = plugin
        self.fault = fault


@dataclass(frozen=True)
class UnreadEntryPoint:
    """An entry point that was passed over: the package that has it, and what is wrong."""

    package: str
    what: str


@cache
def installed() -> tuple[tuple[Plugin, ...], tuple[UnreadEntryPoint, ...]]:
    """Return all entry points of all packages in the groups of this program, and what is unread.

    Of a package that is found twice the first one with entry points counts, as in an import.
    """
    from importlib.metadata import distributions

    found: dict[str, list[Plugin]] = {}
    unread: list[UnreadEntryPoint] = []
    for package in distributions():
        try:
            text = package.read_text(_ENTRY_POINTS) or ""
            if "lpirc_referee." in text or "power.meters" in text:
                listed = list(_of(package, unread.append))
                if listed:
                    found.setdefault(_canonical(listed[0].package), listed)
        except Exception as error:  # Whatever is wrong with it, the others can be used.
            unread.append(UnreadEntryPoint(_place_of(package), f"{type(error).__name__}: {error}"))
    return tuple(sorted(one for listed in found.values() for one in listed)), tuple(unread)


@cache
def brought_by(package: str) -> tuple[Plugin, ...]:
    """Return the entry points of one package, none if it is not installed; reads no other one."""
    from importlib.metadata import Distribution

    for found in Distribution.discover(name=package):
        listed = tuple(_of(found, lambda one: None))
        if listed:  # An interrupted installation may have left an empty folder of metadata.
            return listed
    return ()


def in_group(group: str) -> list[Plugin]:
    """Return all plugins of a group, by name; two packages may have brought the same name."""
    return [plugin for plugin in installed()[0] if plugin.group == group]


def load(plugin: Plugin, kind: type[_Kind]) -> _Kind:
    """Return a plugin's object; this runs the package. What it prints goes to standard error.

    Raises `Unloadable` if the package fails in any way, or if its object is of another kind.
    """
    try:
        with redirect_stdout(sys.stderr):
            found = resolve_name(plugin.value)
    except (Exception, SystemExit) as error:
        raise Unloadable(plugin, f"{type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        raise Unloadable(plugin, f"it is no {kind.__name__}, but a {type(found).__name__}")
    return found


def only_one(plugins: Iterable[Plugin]) -> Plugin | None:
    """Return the one plugin of these, which have one name; None for none.

    Raises `Unloadable` where several packages bring it: nobody could tell which one is meant.
    """
    found = list(plugins)
    first = found[0] if found else None
    if first is not None and len(found) > 1:
        also = " and ".join(other.brought_by for other in found[1:])
        raise Unloadable(first, f"{also} brings the same name, so it is not known which is meant")
    return first


def forget() -> None:
    """Look again the next time: for tests, which install packages while they run."""
    installed.cache_clear()
    brought_by.cache_clear()


def _of(package: Distribution, tell: Callable[[UnreadEntryPoint], object]) -> Iterator[Plugin]:
    name, version = _printable(package.metadata["Name"]), _printable(package.version)
    # Some editable installations tell each entry point twice.
    for point in dict.fromkeys(package.entry_points):
        if not point.group.startswith("lpirc_referee.") and point.group != "power.meters":
            continue
        if _NAME.fullmatch(point.name) and _VALUE.fullmatch(point.value):
            yield Plugin(point.group, point.name, point.value, name, version)
        else:
            what = f"[{point.group}] {point.name} = {point.value} is no name = module:object"
            tell(UnreadEntryPoint(f"{name} {version}", _printable(what)))


def _place_of(package: Distribution) -> str:
    """Return where a package lies that cannot tell its name."""
    return _printable(getattr(package, "_path", "a package"))


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _printable(text: object) -> str:
    """Return the beginning of a stranger's text on one line, without what a terminal obeys."""
    words = " ".join(str(text).split())[:_SHOWN]
    return "".join(c if c.isprintable() else "?" for c in words)
