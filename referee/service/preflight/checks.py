# SPDX-License-Identifier: Apache-2.0
"""The checks before an event: each says what it found, and what to do if that is not good."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from power.errors import MeterError
from power.meter import Meter
from referee.errors import RefereeError
from referee.service.preflight.disk import disk_shortage, free_bytes
from referee.service.setup.config import Config
from referee.service.setup.contest import prepare_contest
from referee.service.setup.manifest import Progress
from referee.service.setup.opened import opened_contest
from referee.service.teams.roster import read_roster
from referee.tracks.loading import load_track
from referee.tracks.track import Delivery

_CONNECT_S = 1.0


class Outcome(Enum):
    """The outcome of a check; a FAIL must be repaired before the event."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Check:
    """One check with its outcome; `remedy` says what to do if the outcome is not OK."""

    group: str
    name: str
    outcome: Outcome
    found: str
    remedy: str = ""


AskDisplay = Callable[[], Mapping[str, Any] | None]
"""A function that returns the facts of a running referee's display, after a round trip.

It raises `RefereeError` while no referee runs, and returns None for a track without a display.
"""


def run_checks(
    config: Config,
    open_meter: Callable[[], Meter] | None,
    ask_display: AskDisplay,
    *,
    progress: Progress = lambda done, total: None,
) -> Iterator[Check]:
    """Run the checks and yield each as soon as it is done; they change only the image manifest.

    `open_meter` is None for a contest with an emulated meter or without a meter.
    """
    yield _images(config, progress)
    yield _teams(config)
    yield _disk(config)
    yield from _ports(config)
    yield from _meter(config, open_meter)
    if load_track(config.contest.track).delivery is Delivery.SHOWN:
        yield _display(ask_display)


def _images(config: Config, progress: Progress) -> Check:
    try:
        database, manifest = prepare_contest(config, progress=progress)
    except RefereeError as error:
        return Check("contest", "images and ground truth", Outcome.FAIL, str(error))
    database.close()
    found = f"{len(manifest.images)} images, {len(manifest.classes)} classes, all as hashed"
    return Check("contest", "images and ground truth", Outcome.OK, found)


def _teams(config: Config) -> Check:
    if config.contest.mode == "practice":
        return Check("contest", "teams", Outcome.OK, "practice: anybody may log in")
    try:
        with opened_contest(config) as contest:
            teams = read_roster(contest).active
    except RefereeError as error:
        return Check("contest", "teams", Outcome.FAIL, str(error))
    if not teams:
        remedy = f"Run: referee team add NAME --config {config.path}"
        return Check("contest", "teams", Outcome.WARN, "no team is registered", remedy)
    without = [team.name for team in teams if not team.has_password]
    if without:
        found = f"{len(without)} of {len(teams)} teams have no password, for example '{without[0]}'"
        remedy = f"Run: referee team slips --out slips.html --config {config.path}"
        return Check("contest", "teams", Outcome.WARN, found, remedy)
    if config.teams.stat().st_mode & 0o077:
        remedy = f"Run: chmod 600 {config.teams}"
        return Check("contest", "teams", Outcome.WARN, "others may read the hashes", remedy)
    return Check("contest", "teams", Outcome.OK, f"{len(teams)} registered")


def _disk(config: Config) -> Check:
    found = f"{free_bytes(config) / 2**30:.1f} GiB free"
    shortage = disk_shortage(config)
    if shortage is not None:
        return Check("machine", "disk", Outcome.FAIL, found, shortage)
    return Check("machine", "disk", Outcome.OK, found)


def _ports(config: Config) -> Iterator[Check]:
    for name, address in (("contest", config.server.contest), ("console", config.server.console)):
        host, _, port = address.rpartition(":")
        here = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1"}.get(host, host).strip("[]")
        try:
            with socket.create_connection((here, int(port)), _CONNECT_S):
                yield Check(
                    "machine",
                    f"{name} port",
                    Outcome.WARN,
                    f"{address} is in use",
                    "That is normal while the referee runs. Otherwise stop the other program.",
                )
        except (OSError, ValueError):
            yield Check("machine", f"{name} port", Outcome.OK, f"{address} is free")


def _meter(config: Config, open_meter: Callable[[], Meter] | None) -> Iterator[Check]:
    settings = config.meter
    if settings.resource == "none":
        remedy = "Set [meter] resource; without energy there is no score."
        yield Check("meter", "link", Outcome.WARN, "no meter is configured", remedy)
        return
    if settings.voltage_range_v is None or settings.current_range_a is None:
        yield Check(
            "meter",
            "ranges",
            Outcome.WARN,
            "auto-range",
            "Set voltage_range_v and current_range_a: auto-range loses energy at load steps.",
        )
    else:
        found = f"{settings.voltage_range_v:g} V, {settings.current_range_a:g} A"
        yield Check("meter", "ranges", Outcome.OK, found)
    if open_meter is None:
        yield _emulated(config)
        return
    yield _known("calibration", settings.calibrated, "calibrated", "its limits hold for 12 months")
    yield _known("room", settings.ambient_c, "ambient_c", "a warm room makes the energy uncertain")
    yield _link(open_meter)


def _known(name: str, value: object, key: str, reason: str) -> Check:
    """Check that somebody said what the uncertainty of the energy needs from people."""
    if value is None:
        remedy = f"Set [meter] {key}: {reason}."
        return Check("meter", name, Outcome.WARN, "not recorded", remedy)
    return Check("meter", name, Outcome.OK, f"{value} °C" if key == "ambient_c" else str(value))


def _emulated(config: Config) -> Check:
    found = "EMULATED: the referee starts an emulator with its servers"
    if config.contest.mode == "practice":
        return Check("meter", "link", Outcome.OK, found)
    remedy = "No energy will be official. Set [meter] resource to that of the real meter."
    return Check("meter", "link", Outcome.WARN, found, remedy)


def _link(open_meter: Callable[[], Meter]) -> Check:
    try:
        meter = open_meter()
        try:
            identity = meter.identify()
        finally:
            meter.close()
    except MeterError as error:
        return Check("meter", "link", Outcome.FAIL, str(error), "Try: python -m power identify")
    found = f"{identity.maker} {identity.model}, firmware {identity.firmware}"
    return Check("meter", "link", Outcome.OK, found)


def _display(ask: AskDisplay) -> Check:
    """Check the display of a running referee: only there is a page that can be asked."""
    try:
        facts = ask()
    except RefereeError:
        remedy = (
            "Start 'referee serve', open the console's page /display on the second monitor, and "
            "run this check again meanwhile."
        )
        return Check("display", "screen", Outcome.WARN, "the referee does not run", remedy)
    if facts is None:
        remedy = "Restart the referee: it runs with another track than this configuration."
        return Check("display", "screen", Outcome.FAIL, "the referee has no display", remedy)
    if facts["fault"] or facts["round_trip_ms"] is None:
        found = facts["fault"] or "The display has not painted a frame."
        remedy = "No session can be armed before the display is ready."
        return Check("display", "screen", Outcome.FAIL, found, remedy)
    return Check("display", "screen", Outcome.OK, facts["text"])
