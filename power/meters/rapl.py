# SPDX-License-Identifier: Apache-2.0
"""RAPL: the energy counters of the processor that runs this program, in Linux's powercap folder.

Linux's Documentation/power/powercap/powercap.rst has the files: `name`, `energy_uj`, which counts
microjoules and begins anew after `max_energy_range_uj`.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from power.errors import MeterMismatch, MeterRefused, MeterReplyError, MeterUnreachable
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, Seen, sampled
from power.resource import Resource
from power.sampled.source import Sample, Tools, finite

FOLDER = Path("/sys/class/powercap")
"""Where Linux shows the zones."""

_UJ_IN_WH = 3.6e9


class RaplZone:
    """The zone of one domain, such as `package-0`, polled at `poll_s`.

    A sample is the mean since the one before, so nothing is missed between two of them. The counter
    begins anew about once an hour at 60 W; a sample each `poll_s` sees it at most once.
    """

    counter_lag_s = 0.0
    counter_step_wh = 0.0

    def __init__(self, resource: Resource, tools: Tools) -> None:
        self._tools = tools
        self.poll_s = _interval_s(resource)
        zone = _zone(resource)
        self._file = zone / "energy_uj"
        self._range_uj = _whole(zone / "max_energy_range_uj")
        self._total_uj = 0
        self._before_s, self._before_uj = tools.clock(), _whole(self._file)
        processor = platform.processor() or platform.machine()
        self.identity = Identity("Linux", f"RAPL {_name(zone)}", platform.node(), processor)
        self.sampling = Sampling("rapl", None, longest_gap_s=5 * self.poll_s)

    def read(self) -> Sequence[Sample]:
        """Return the mean power since the last call."""
        now_uj, now_s = _whole(self._file), self._tools.clock()
        span_s = now_s - self._before_s
        if span_s <= 0:
            return []
        grown_uj = now_uj - self._before_uj
        if grown_uj < 0:
            grown_uj += self._range_uj
        self._total_uj += grown_uj
        self._before_s, self._before_uj = now_s, now_uj
        watts = grown_uj / 1e6 / span_s
        return [Sample(now_s, watts, span_s=span_s, counter_wh=self._total_uj / _UJ_IN_WH)]

    def close(self) -> None:
        """Do nothing: no file stays open."""


def find(folder: Path = FOLDER) -> Seen:
    """Return the zones of this machine, and a hint for those that this user may not read."""
    seen = Seen()
    for zone in _zones(folder):
        try:
            _whole(zone / "energy_uj")
        except MeterRefused as error:
            seen.hints.append(str(error))
        except (MeterUnreachable, MeterReplyError):
            continue
        else:
            seen.resources.append(f"rapl:{_name(zone)}")
    return seen


def _interval_s(resource: Resource) -> float:
    resource.known_options(("folder", "interval"))
    return resource.number("interval", 0.1, least=0.01, most=5.0)


def _zones(folder: Path) -> list[Path]:
    """Return the zones that count energy, sub-zones after their packages."""
    zones = (path.parent for path in folder.glob("*/energy_uj"))
    return sorted(zones, key=lambda zone: (zone.name.count(":"), zone.name))


def _zone(resource: Resource) -> Path:
    folder = Path(resource.options.get("folder", FOLDER))
    named = {_name(zone): zone for zone in reversed(_zones(folder))}
    if not named:
        raise MeterUnreachable(
            f"{folder} has no energy counter: this machine has no RAPL, or is a virtual one"
        )
    wanted = resource.address or "package-0"
    if wanted not in named:
        raise MeterMismatch(f"there is no zone {wanted!r}; there are {', '.join(sorted(named))}")
    return named[wanted]


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
