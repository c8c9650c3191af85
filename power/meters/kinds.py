# SPDX-License-Identifier: Apache-2.0
"""The kinds of meters by name: each is an entry point, in this package or in somebody else's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches

from power.errors import MeterUnreachable
from power.meter import Meter
from power.plugins import Plugin, Unloadable, in_group, load, only_one
from power.resource import Resource
from power.sampled.meter import SampledMeter
from power.sampled.source import Source, Tools

GROUP = "power.meters"
"""The group of entry points; an entry point's name is the kind, its object a `MeterKind`."""


@dataclass
class Seen:
    """The resource strings of the devices that were found, and hints why others may be missing."""

    resources: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class MeterKind:
    """A kind of meter: what it is, how to write its resource string, and how to open it.

    `open` returns a `Meter` and need not touch the device yet. It raises ValueError for an address
    or an option that is wrong. `find` looks for devices that are connected.
    """

    summary: str
    syntax: str
    open: Callable[[Resource, Tools], Meter]
    find: Callable[[], Seen] = Seen


def sampled(
    open_source: Callable[[Resource, Tools], Source],
    check: Callable[[Resource], object] = lambda resource: None,
) -> Callable[[Resource, Tools], Meter]:
    """Return the `open` of a kind whose device only measures power, for the software integrator.

    `check` looks at the resource string before anything is opened, and raises ValueError. The
    option `accuracy` is read here, for all kinds.
    """

    def open_meter(resource: Resource, tools: Tools) -> Meter:
        check(resource)
        accuracy = resource.stated_accuracy()

        def open_device() -> Source:
            tools.note("device", json.dumps(asdict(resource)))
            return open_source(resource, tools)

        return SampledMeter(open_device, tools, accuracy)

    return open_meter


def kind_names(found: Sequence[Plugin] | None = None) -> list[str]:
    """Return the names of all kinds that are installed, in order; imports none of them."""
    return sorted({plugin.name for plugin in (in_group(GROUP) if found is None else found)})


def kind_named(name: str, found: Sequence[Plugin] | None = None) -> MeterKind:
    """Return a kind by its name; only its own module is imported.

    Raises ValueError for a name that nobody has registered, and `MeterUnreachable` for a package
    that cannot be used.
    """
    plugins = in_group(GROUP) if found is None else found
    try:
        plugin = only_one(one for one in plugins if one.name == name)
        if plugin is None:
            raise ValueError(_unknown(name, kind_names(plugins)))
        return load(plugin, MeterKind)
    except Unloadable as error:
        raise MeterUnreachable(str(error)) from error


def _unknown(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, 1)
    meant = f"; did you mean {close[0]}:?" if close else ""
    if not known:
        return f"no kinds of meters are installed; install the project again (no {name!r} now)"
    return (
        f"there is no kind of meter {name!r}{meant} Known are {', '.join(known)}, and the resource "
        "strings of PyVISA, such as TCPIP::192.168.1.5::INSTR"
    )
