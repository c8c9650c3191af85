# SPDX-License-Identifier: Apache-2.0
"""The energy of a run, shown beside a score whose rules have none, and never part of it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from power.energy.duration import written
from power.energy.verdict import EnergyResult, Verdict, with_findings
from referee.commands.numbers import count, watt_hours
from referee.core.counts import counted
from referee.errors import InputError

if TYPE_CHECKING:
    from power.logs.audit import Audit


@dataclass(frozen=True)
class RunEnergy:
    """The energy for a number of images; `judged` is the meter's verdict if there is a log.

    `time_wh` is the limit of what the unknown course within an update gives to the wrong side of
    the ends, for a part of a log.
    """

    energy_wh: float | None
    images: int
    judged: EnergyResult | None = None
    time_wh: float | None = None

    @property
    def wh_per_1000_images(self) -> float | None:
        """Return Wh per 1,000 images, or None if the run has no energy."""
        return None if self.energy_wh is None else wh_per_1000_images(self.energy_wh, self.images)


def add_energy(parser: argparse.ArgumentParser, images: str) -> None:
    """Declare the energy of a run; `images` is the help for the number of its images."""
    group = parser.add_argument_group("energy beside the score")
    energy = group.add_mutually_exclusive_group()
    energy.add_argument(
        "--energy-wh",
        type=watt_hours,
        metavar="X",
        help="energy of the run, for Wh per 1,000 images; it changes no score",
    )
    energy.add_argument(
        "--power-log",
        type=Path,
        metavar="FILE",
        help="the same, from a log of 'python -m power record'",
    )
    group.add_argument("--energy-images", type=count, metavar="N", help=images)


def energy_of(args: argparse.Namespace, logged: int) -> RunEnergy | None:
    """Return the energy that the options give, or None; `logged` are the images of the logs."""
    images = args.energy_images or logged
    if args.power_log is not None:
        judged = _audited(args.power_log).result
        return RunEnergy(judged.energy_wh, images, judged)
    if args.energy_wh is not None:
        return RunEnergy(args.energy_wh, images)
    if args.energy_images is not None:
        raise InputError("--energy-images needs an energy: add --energy-wh or --power-log")
    return None


def energy_within(path: Path, begin: datetime, end: datetime, images: int) -> RunEnergy:
    """Return the energy between two instants from a power log that covers them.

    The verdict is that of the whole log, with a finding if the log is too coarse for the window.
    Raises InputError for a log that does not cover it.
    """
    from power.energy.window import coarse_finding, edges_wh, energy_between

    audited = _audited(path)
    if any(kind.zone is None for kind in audited.readings.columns().seen()):
        raise InputError(f"{path}: its times have no zone, so they fit no moment")
    course = audited.course
    energy_wh = energy_between(audited.readings, begin, end, course)
    if energy_wh is None:
        raise InputError(
            f"{path} does not cover the runs, {begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC:"
            " record while the benchmark runs, on the same machine"
        )
    coarse = coarse_finding(audited.readings, begin, end)
    judged = with_findings(audited.result, [] if coarse is None else [coarse])
    usable = judged.verdict is not Verdict.INVALID
    time_wh = None if course is None else edges_wh(audited.readings, begin, end, course)
    return RunEnergy(energy_wh if usable else None, images, judged, time_wh if usable else None)


def energy_report(energy: RunEnergy) -> dict[str, object]:
    """Return the energy as JSON; `verdict` and `findings` come only from a power log."""
    report: dict[str, object] = {
        "energy_wh": energy.energy_wh,
        "images": energy.images,
        "wh_per_1000_images": energy.wh_per_1000_images,
    }
    if energy.judged is not None:
        report["verdict"] = energy.judged.verdict.value
        report["findings"] = [finding.text for finding in energy.judged.findings]
    if energy.time_wh is not None:
        report["time_wh"] = energy.time_wh
    return report


def energy_line(energy: RunEnergy) -> str:
    """Return the energy as lines of text, with no digit that the ends of a window do not carry."""
    verdict = "" if energy.judged is None else f", {energy.judged.verdict.value}"
    if energy.energy_wh is None:
        text = f"no energy{verdict}"
    else:
        each_wh, off_wh = wh_per_1000_images(energy.energy_wh, energy.images), energy.time_wh or 0.0
        plus = f" ± {off_wh:.2g} Wh by time" if off_wh else ""
        text = (
            f"{written(each_wh, wh_per_1000_images(off_wh, energy.images))} Wh per 1,000 images"
            f" ({written(energy.energy_wh, off_wh)} Wh{plus},"
            f" {counted(energy.images, 'image')}{verdict})"
        )
    notes = [] if energy.judged is None else energy.judged.findings
    reasons = [f"  {note.text}" for note in notes if note.severity is not Verdict.VALID]
    return "\n".join(["", f"Energy, beside the score: {text}", *reasons])


def _audited(path: Path) -> Audit:
    from power.logs.audit import audit

    try:
        return audit(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is not a power log: {error}") from None


def wh_per_1000_images(energy_wh: float, images: int) -> float:
    """Return the energy of a run for 1,000 of its images; `images` is at least 1."""
    return 1000 * energy_wh / images
