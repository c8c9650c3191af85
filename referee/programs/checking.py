# SPDX-License-Identifier: Apache-2.0
"""The whole list of checks for an event whose referee does not run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from power.connect import open_meter
from power.errors import MeterError
from referee.errors import RefereeError, Unavailable
from referee.programs.golden_client import check_golden
from referee.programs.hosting import require_kind
from referee.programs.outside import port_names, read_here
from referee.programs.progress import progress_told
from referee.programs.terminal import tell_on_terminal
from referee.service.board.addresses import contestants_urls
from referee.service.evidence.newer_evidence import newer_evidence
from referee.service.preflight.contest_checks import under_way
from referee.service.preflight.durable_commit import check_commits
from referee.service.preflight.finding import Finding, fail
from referee.service.preflight.listing import all_findings, list_json
from referee.service.preflight.material_checks import check_truth, check_turned
from referee.service.preflight.meter_look import look_at_meter, look_findings, unanswered
from referee.service.preflight.overrides import overrides_of_today
from referee.service.preflight.passwords import check_passwords
from referee.service.preflight.ports import free
from referee.service.preflight.slow import (
    COMMIT,
    GOLDEN,
    PASSWORDS,
    TRUTH,
    TURNED,
    expected,
    keep,
    kept_identity,
    material,
    material_findings,
    password_hashes,
)
from referee.service.preflight.surroundings import LaneFacts, Surroundings
from referee.service.preflight.versions import program_stamp
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.lane_words import of_lane
from referee.service.setup.opened import opened_contest
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.program import Launch

Slow = Literal["all", "missing"]

Key = tuple[str, str]


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
            findings = _findings(contest, images)
            overrides = overrides_of_today(contest.database, contest.clock)
            return list_json(findings, overrides, contest.clock.now())
    except RefereeError as error:
        remedy = "Do what it says, or repair what it names. Then check again."
        row = {"group": "configuration", "item": "contest", "level": "FAIL", "text": str(error)}
        more = {"remedy": remedy, "found_utc": None, "age_s": None, "override": None}
        return {"ready": False, "findings": [row | more]}


def _images(config: Config) -> Finding | None:
    """Prepare images and ground truth; return why that cannot be done, or None."""
    told: list[str] = []
    try:
        with progress_told("images checked") as progress:
            database, _ = prepare_contest(config, progress=progress, tell=told.append)
    except RefereeError as error:
        remedy = "Correct [images] in the configuration, or the files that it names."
        return fail("contest", "images and ground truth", str(error), remedy)
    database.close()
    for sentence in told:
        tell_on_terminal(sentence)
    return None


def _findings(contest: Contest, images: Finding | None) -> list[Finding]:
    config = contest.config
    scheme = config.server.contest_scheme
    connection, utc = contest.database.connection, contest.clock.now().utc
    kept = expected(contest, program_stamp(), config.lanes)
    lanes = [
        LaneFacts(
            lane=n,
            name=lane.name,
            meter=lane.meter,
            address=lane.contest,
            urls=tuple(contestants_urls(lane.contest, scheme)),
            identity=kept_identity(connection, kept, n, utc),
        )
        for n, lane in enumerate(config.lanes, 1)
    ]
    names = [*port_names(config), "console"]
    addresses = [*(lane.address for lane in lanes), config.server.console]
    if config.server.scoreboard is not None:
        names.append("scoreboard")
        addresses.append(config.server.scoreboard)
    around = Surroundings(
        runs=False,
        lanes=tuple(lanes),
        ports=tuple(free(name, address) for name, address in zip(names, addresses, strict=True)),
        machine=read_here(),
        newer=tuple(newer_evidence(config, connection)),
    )
    return all_findings(contest, around, program_stamp(), images)


def _missing(contest: Contest, images: Finding | None) -> set[tuple[str, str]]:
    """Return the slow checks without a finding that counts now."""
    made = {finding.key for finding in material_findings(contest)}
    return {finding.key for finding in _findings(contest, images) if finding.is_old} | (
        material(contest).keys() - made
    )


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
    for lane in sorted({lane for key, lane in meters.items() if wanted is None or key in wanted}):
        tell(f"checking: {of_lane('power meter', config.lane(lane).name)}")
        findings = [(finding, config.lane(lane).meter.resource) for finding in _look(config, lane)]
        keep(contest.database, contest.clock.now(), findings)
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


def run_all_slow_checks(config: Config, launch: Launch) -> None:
    """Make all of them, in the process that the desk starts."""
    run_slow_checks(config, None, tell_on_terminal)


def run_slow_checks(
    config: Config, wanted: Iterable[Key] | None, tell: Callable[[str], None]
) -> None:
    """Make the slow checks with these groups and items (None: all), and store each as it is found.

    Raises `Unavailable` while a session is armed, runs or is not settled, and `InputError` while
    another process makes the checks.
    """
    keys = None if wanted is None else set(wanted)
    with lock_folder(config.storage.folder, "checks"), opened_contest(config) as contest:
        basis = expected(contest, program_stamp(), []) | material(contest)
        for key, check in _checks(contest, tell):
            if key not in basis or (keys is not None and key not in keys):
                continue
            busy = under_way(contest)
            if busy:
                raise Unavailable(f"{busy} Slow checks would disturb it: wait for its end.")
            tell(f"checking: {key[1]}")
            findings = [(finding, basis[key].text) for finding in check()]
            keep(contest.database, contest.clock.now(), findings)


def _checks(
    contest: Contest, tell: Callable[[str], None]
) -> Iterator[tuple[Key, Callable[[], Iterable[Finding]]]]:
    config = contest.config
    yield TRUTH, lambda: [check_truth(contest)]
    yield TURNED, lambda: [check_turned(contest)]
    yield COMMIT, lambda: [check_commits(config)]
    yield PASSWORDS, lambda: [check_passwords(password_hashes(contest))]
    for extra in present_extras(config):
        if extra.slow_check is not None:
            yield extra.slow_check, partial(extra.check, config)
    yield GOLDEN, lambda: [check_golden(config, tell)]
