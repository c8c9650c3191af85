# SPDX-License-Identifier: Apache-2.0
"""RAPL: the energy counters of the processor that runs this program, in Linux's powercap folder.

Linux's Documentation/power/powercap/powercap.rst has the files: `name`, `energy_uj`, which counts
microjoules and begins anew after `max_energy_range_uj`. It also begins anew when the driver is
loaded again, or the machine has slept.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from power.errors import MeterMismatch, MeterRefused, MeterReplyError, MeterUnreachable
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, Seen, sampled
from power.resource import Resource
from power.sampled.counter import growth
from power.sampled.source import Sample, Tools, finite

FOLDER = Path("/sys/class/powercap")
"""Where Linux shows the zones."""

_UJ_IN_WH = 3.6e9
_UJ_IN_WS = 1e6
# No socket of today draws that, and a counter that began anew hardly looks like less.
_LEAST_RATED_W, _MOST_RATED_W = 1000.0, 20_000.0
# A counter renews its value each millisecond; one that stands so long counts nothing.
_STILL_S = 1.0
# A socket, or one of its dies where each has a counter, as package-0-die-1.
_PACKAGE = re.compile(r"package-\d+(-die-\d+)?$")


class RaplZone:
    """The zone of one domain, such as `package-0`, polled at `poll_s`.

    A sample is the mean since the one before, so nothing is missed between two of them. The counter
    begins anew about once an hour at 60 W; a sample each `poll_s` sees it at most once. What it
    cannot have counted in that time is no sample, and counts as one that is lost. So does a time in
    which it may have been full several times. A package always draws something: where its counter
    stands still, as in many virtual machines, nothing is measured.
    """

    counter_lag_s = 0.0
    counter_step_wh = 0.0
    counter_lasts = False  # what it gives begins at zero
    counter_witness = False  # because the powers are made of it

    def __init__(self, resource: Resource, tools: Tools) -> None:
        self._tools = tools
        self.poll_s = _interval_s(resource)
        zone, name, packages = _zone(resource)
        self._is_package = _PACKAGE.match(_name(zone)) is not None
        self._file = zone / "energy_uj"
        self._range_uj = _whole(zone / "max_energy_range_uj")
        self._rated_w = _rated_w(zone)
        self._total_uj, self._lost = 0.0, 0
        self._before_s, self._before_uj = tools.clock(), _whole(self._file)
        processor = platform.processor() or platform.machine()
        if len(packages) > 1:
            processor += f", one of {_parts(packages)}"
        self.identity = Identity("Linux", f"RAPL {name}", platform.node(), processor)
        self.sampling = Sampling(
            "rapl",
            None,
            longest_gap_s=5 * self.poll_s,
            most_w=self._rated_w,
            machine_parts=max(len(packages), 1),
        )

    def read(self) -> Sequence[Sample]:
        """Return the mean power since the last call."""
        now_uj, now_s = _whole(self._file), self._tools.clock()
        span_s = now_s - self._before_s
        if span_s <= 0:
            return []
        if self._is_package and now_uj == self._before_uj:
            self._require_growth(span_s)
            return []
        most_uj = self._rated_w * span_s * _UJ_IN_WS
        grown_uj = None
        # In a longer time it may have been full several times, and nobody knows how often.
        if most_uj < self._range_uj:
            grown_uj = growth(self._before_uj, now_uj, wraps=self._range_uj, most=most_uj)
        self._before_s, self._before_uj = now_s, now_uj
        if grown_uj is None:
            self._lost += 1
            return []
        self._total_uj += grown_uj
        lost, self._lost = self._lost, 0
        watts = grown_uj / _UJ_IN_WS / span_s
        counter_wh = self._total_uj / _UJ_IN_WH
        return [Sample(now_s, watts, span_s=span_s, counter_wh=counter_wh, lost=lost)]

    def _require_growth(self, span_s: float) -> None:
        """Raise `MeterReplyError` for a counter that has stood still for long."""
        if span_s > _STILL_S:
            raise MeterReplyError(
                f"{self._file} has stood at {self._before_uj} for {span_s:.1f} s, and a processor "
                "that runs draws something. Is this a virtual machine?"
            )

    def close(self) -> None:
        """Do nothing: no file stays open."""


def find(folder: Path = FOLDER) -> Seen:
    """Return the zones of this machine, and a hint for those that this user may not read."""
    seen = Seen()
    named = _named(folder)
    for name, zone in named.items():
        try:
            _whole(zone / "energy_uj")
        except MeterRefused as error:
            seen.hints.append(str(error))
        except (MeterUnreachable, MeterReplyError):
            continue
        else:
            seen.resources.append(f"rapl:{name}")
    packages = _packages(named)
    if seen.resources and len(packages) > 1:
        seen.hints.append(
            f"This machine has {_parts(packages)}, and rapl: measures one of {len(packages)}, "
            f"{packages[0]}."
        )
    return seen


def _interval_s(resource: Resource) -> float:
    resource.known_options(("folder", "interval"))
    return resource.number("interval", 0.1, least=0.01, most=5.0)


def _zones(folder: Path) -> list[Path]:
    """Return the zones that count energy, sub-zones after their packages.

    Those of a second interface come last: it is another way to the same counters.
    """
    zones = (path.parent for path in folder.glob("*/energy_uj"))
    return sorted(zones, key=lambda zone: (zone.name.count(":"), _interface(zone), zone.name))


def _named(folder: Path) -> dict[str, Path]:
    """Return the zones by name; where several packages have a `core`, it is `package-0/core`.

    A package that a second interface shows too, as `intel-rapl-mmio`, is named once. Zones of one
    interface and one name are different ones, so those after the first have Linux's name.
    """
    zones = _zones(folder)
    often = Counter(_name(zone) for zone in zones if _is_part(zone))
    named: dict[str, Path] = {}
    for zone in zones:
        name = _name(zone)
        if _is_part(zone) and often[name] > 1:
            name = f"{_name(zone.parent / zone.name.rpartition(':')[0])}/{name}"
        if name in named and _interface(named[name]) == _interface(zone):
            name = zone.name
        named.setdefault(name, zone)
    return named


def _interface(zone: Path) -> tuple[bool, str]:
    """Return which interface shows a zone, as `intel-rapl`; that of mapped memory sorts last."""
    name = zone.name.partition(":")[0]
    return "mmio" in name, name


def _is_part(zone: Path) -> bool:
    """Tell whether a zone is a part of another one, as `intel-rapl:0:0` is."""
    return zone.name.count(":") > 1


def _packages(named: dict[str, Path]) -> list[str]:
    """Return the names of the sockets, or of their dies where each has a counter."""
    return [name for name, zone in named.items() if _PACKAGE.match(_name(zone))]


def _parts(packages: list[str]) -> str:
    """Return how many parts the machine has, in words."""
    dies = any("-die-" in name for name in packages)
    return f"{len(packages)} {'dies' if dies else 'sockets'}"


def _zone(resource: Resource) -> tuple[Path, str, list[str]]:
    """Return the zone that is meant, its name, and those of all packages of the machine."""
    folder = Path(resource.options.get("folder", FOLDER))
    named = _named(folder)
    if not named:
        raise MeterUnreachable(
            f"{folder} has no energy counter: this machine has no RAPL, or is a virtual one"
        )
    packages = _packages(named)
    wanted = resource.address or next(iter(packages), "package-0")
    name = next((name for name, zone in named.items() if wanted in (name, zone.name)), None)
    if name is None:
        raise MeterMismatch(f"there is no zone {wanted!r}; there are {', '.join(sorted(named))}")
    return named[name], name, packages


def _rated_w(zone: Path) -> float:
    """Return the power that a zone cannot exceed: twice what its limits may be set to, at least."""
    limits_w = [_LEAST_RATED_W]
    for path in zone.glob("constraint_*_max_power_uw"):
        try:
            limits_w.append(2 * int(path.read_text(encoding="ascii")) / _UJ_IN_WS)
        except (OSError, ValueError):
            continue  # many zones have none
    return min(max(limits_w), _MOST_RATED_W)


def _name(zone: Path) -> str:
    try:
        return (zone / "name").read_text(encoding="ascii").strip()
    except OSError:
        return zone.name


def _whole(path: Path) -> int:
    try:
        text = path.read_text(encoding="ascii")
    except PermissionError:
        raise MeterRefused(
            f"{path} may be read by root only. Run as root, or allow it until the next start: "
            f"sudo chmod a+r {path}"
        ) from None
    except OSError as error:
        raise MeterUnreachable(f"{path} cannot be read: {error}") from error
    try:
        value = int(text)
    except ValueError:
        raise MeterReplyError(f"{path} holds {text[:40]!r}, which is no number") from None
    finite(value, path.name)
    return value


KIND = MeterKind(
    summary="RAPL, the energy counters of the processor that runs this program (Linux)",
    syntax="rapl:[ZONE][?interval=S&accuracy=PERCENT]",
    open=sampled(RaplZone, _interval_s),
    find=find,
)
