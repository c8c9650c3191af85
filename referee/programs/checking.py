# SPDX-License-Identifier: Apache-2.0
"""The whole list of checks for an event whose referee does not run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from power.connect import open_meter
from power.errors import MeterError
from referee.errors import RefereeError
from referee.programs.hosting import require_kind
from referee.programs.outside import port_names, read_here
from referee.programs.progress import progress_bar
from referee.programs.slow_checks import run_slow_checks
from referee.service.board.addresses import contestants_urls
from referee.service.preflight.contest_checks import under_way
from referee.service.preflight.finding import Finding, fail
from referee.service.preflight.listing import all_findings, list_json
from referee.service.preflight.meter_look import look_at_meter, look_findings, unanswered
from referee.service.preflight.overrides import overrides_of_today
from referee.service.preflight.ports import free
from referee.service.preflight.slow import AGAIN, expected, keep, kept_identity
from referee.service.preflight.surroundings import LaneFacts, Surroundings
from referee.service.preflight.versions import program_stamp
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.lane_words import of_lane
from referee.service.setup.opened import opened_contest
from referee.service.setup.preparation import prepare_contest

Slow = Literal["all", "missing"]


def check_here(config: Config, slow: Slow | None, tell: Callable[[str], None]) -> Mapping[str, Any]:
    """Return the list as `list_json` does; `slow` says which slow checks are made before.

    `tell` gets a sentence for each slow check. The image manifest is made or brought up to date.
    """
    images = _images(config)
    try:
        for lane in config.lanes:
            require_kind(lane.meter)
        with opened_contest(config) as contest:
            if slow is not None:
                _check_slowly(contest, None if slow == "all" else _missing(contest, images), tell)
            found = _findings(contest, images)
            overrides = overrides_of_today(contest.database, contest.clock)
            return list_json(found, overrides, contest.clock.now())
    except RefereeError as error:
        remedy = "Do what it says, or repair what it names. Then check again."
        row = {"group": "configuration", "item": "contest", "level": "FAIL", "text": str(error)}
        more = {"remedy": remedy, "found_utc": None, "age_s": None, "override": None}
        return {"ready": False, "findings": [row | more]}


def _images(config: Config) -> Finding | None:
    """Prepare images and ground truth; return why that cannot be done, or None."""
    try:
        with progress_bar("images checked") as progress:
            database, _ = prepare_contest(config, progress=progress)
    except RefereeError as error:
        remedy = "Correct [images] in the configuration, or the files that it names."
        return fail("contest", "images and ground truth", str(error), remedy)
    database.close()
    return None


def _findings(contest: Contest, images: Finding | None) -> list[Finding]:
    config = contest.config
    scheme = config.server.contest_scheme
    connection, utc = contest.database.connection, contest.clock.now().utc
    kept = expected(contest, program_stamp(), config.lanes)
    lanes = [
        LaneFacts(
            lane=n,
            name=it.name,
            meter=it.meter,
            address=it.contest,
            urls=tuple(contestants_urls(it.contest, scheme)),
            identity=kept_identity(connection, kept, n, utc),
        )
        for n, it in enumerate(config.lanes, 1)
    ]
    names = [*port_names(config), "console"]
    addresses = [*(lane.address for lane in lanes), config.server.console]
    if config.server.scoreboard is not None:
        names.append("scoreboard")
        addresses.append(config.server.scoreboard)
    around = Surroundings(
        runs=False,
        lanes=tuple(lanes),
        ports=tuple(free(name, it) for name, it in zip(names, addresses, strict=True)),
        machine=read_here(),
    )
    return all_findings(contest, around, program_stamp(), images)


def _missing(contest: Contest, images: Finding | None) -> set[tuple[str, str]]:
    """Return the slow checks without a finding that counts now."""
    return {it.key for it in _findings(contest, images) if it.remedy == AGAIN}


def _check_slowly(
    contest: Contest, wanted: Collection[tuple[str, str]] | None, tell: Callable[[str], None]
) -> None:
    """Make slow checks, unless a session that a killed referee left is still under way."""
    config = contest.config
    busy = under_way(contest)
    if busy:
        tell(f"No slow check is made. {busy}")
        return
    asked = expected(contest, program_stamp(), config.lanes)
    meters = {key: basis.lane for key, basis in asked.items() if basis.lane is not None}
    for lane in sorted({it for key, it in meters.items() if wanted is None or key in wanted}):
        tell(f"checking: {of_lane('power meter', config.lane(lane).name)}")
        found = [(finding, config.lane(lane).meter.resource) for finding in _look(config, lane)]
        keep(contest.database, contest.clock.now(), found)
    if wanted is None or set(wanted) - set(meters):
        run_slow_checks(config, wanted, tell)


def _look(config: Config, lane: int) -> list[Finding]:
    settings, name = config.lane(lane).meter, config.lane(lane).name
    try:
        meter = open_meter(settings.resource, element=settings.element)
        try:
            look = look_at_meter(meter)
        finally:
            meter.close()
    except MeterError as error:
        return list(unanswered(error, settings.resource, name))
    return look_findings(look, name)
