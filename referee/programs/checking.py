# SPDX-License-Identifier: Apache-2.0
"""The whole list of checks for an event whose referee does not run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Literal

from power.connect import open_meter
from power.errors import MeterError
from referee.errors import RefereeError, Unavailable
from referee.programs.golden_client import check_golden
from referee.programs.hosting import require_kind
from referee.programs.outside import dates_of, port_names, read_here
from referee.programs.ports import free
from referee.programs.progress import progress_told
from referee.programs.terminal import tell_on_terminal
from referee.service.board.addresses import contestants_urls
from referee.service.evidence.newer_evidence import newer_evidence
from referee.service.preflight.contest_checks import under_way
from referee.service.preflight.durable_commit import check_commits
from referee.service.preflight.finding import CheckResult, fail
from referee.service.preflight.listing import all_findings, in_groups, shown_list
from referee.service.preflight.material_checks import check_truth, check_turned
from referee.service.preflight.meter_look import look_at_meter, look_findings, unanswered
from referee.service.preflight.overrides import overrides_of_today
from referee.service.preflight.passwords import check_passwords
from referee.service.preflight.shown import ShownList, no_list
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
from referee.service.setup.look import Look, looked_at
from referee.service.setup.opened import opened_contest
from referee.service.setup.own_folder import Owner
from referee.service.setup.program import Launch
from referee.store.finals import is_final

Slow = Literal["all", "missing"]

Key = tuple[str, str]


def check_here(config: Config, slow: Slow | None, tell: Callable[[str], None]) -> ShownList:
    """Return the list; `slow` says which slow checks are made before.

    `tell` gets a sentence for each slow check. Nothing is made or changed, but what slow checks
    find is kept in the event's own folder, if it has one.
    """
    try:
        for lane in config.lanes:
            require_kind(lane.meter)
        with _looked_at(config, keeping=slow is not None) as look:
            if slow is not None and not look.folder_fault:
                _check_slowly(look, None if slow == "all" else _missing(look), tell)
            contest = look.contest
            overrides = overrides_of_today(contest.database, contest.clock)
            final = is_final(contest.database.connection)
            return shown_list(_findings(look), overrides, contest.clock.now(), final=final)
    except RefereeError as error:
        remedy = "Do what it says, or repair what it names. Then check again."
        return no_list("contest", error, remedy)


@contextmanager
def _looked_at(config: Config, *, keeping: bool) -> Iterator[Look]:
    """Look at an event until the block ends, and tell on the terminal what its images say."""
    sentences: list[str] = []
    with ExitStack() as stack:
        with progress_told("images checked") as progress:
            look = stack.enter_context(
                looked_at(config, keeping=keeping, progress=progress, tell=sentences.append)
            )
        for sentence in sentences:  # Behind the bar, which stands on the same line.
            tell_on_terminal(sentence)
        yield look


def _images(look: Look) -> CheckResult | None:
    """Return why images and ground truth cannot be used, or None."""
    if look.material_fault is None:
        return None
    remedy = "Correct [images] in the configuration, or the files that it names."
    return fail("contest", "images and ground truth", str(look.material_fault), remedy)


def _findings(look: Look) -> list[CheckResult]:
    found = _findings_of(look.contest, _images(look))
    if not look.folder_fault:
        return found
    remedy = "Set [storage] folder to one that is new, empty, or this event's own."
    return in_groups([fail("configuration", "folder", look.folder_fault, remedy), *found])


def _findings_of(contest: Contest, images: CheckResult | None) -> list[CheckResult]:
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
        console_urls=tuple(contestants_urls(config.server.console)),
        dates=dates_of(contest),
    )
    return all_findings(contest, around, program_stamp(), images)


def _missing(look: Look) -> set[Key]:
    """Return the slow checks without a finding that counts now."""
    contest = look.contest
    made = {finding.key for finding in material_findings(contest)}
    again = {finding.key for finding in _findings(look) if finding.is_old}
    return again | (material(contest).keys() - made)


def _check_slowly(look: Look, wanted: Collection[Key] | None, tell: Callable[[str], None]) -> None:
    """Make slow checks, unless a session that a killed referee left is still under way."""
    contest = look.contest
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
    if wanted is not None and not set(wanted) - set(meters):
        return
    if not look.keeps:
        tell(f"What the slow checks find is not kept: {_why_not_kept(look)}.")
    run_slow_checks(config, wanted, tell, look)


def _why_not_kept(look: Look) -> str:
    folder = look.contest.config.storage.folder
    if look.owner is Owner.REFEREE:
        return f"the database in {folder} is brought up to date when the referee starts"
    return f"the event has no folder yet. 'referee serve' makes {folder}"


def _look(config: Config, lane: int) -> list[CheckResult]:
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
    config: Config,
    wanted: Iterable[Key] | None,
    tell: Callable[[str], None],
    look: Look | None = None,
) -> None:
    """Make the slow checks with these groups and items (None: all), and store each as it is found.

    With a `look` they are made for what it found. If that does not keep, the disk of the event's
    folder is not tried. Raises `Unavailable` while a session is armed, runs or is not settled, and
    `InputError` while another process makes the checks.
    """
    if look is not None and not look.keeps:
        _make_checks(look.playable, wanted, tell, without=(COMMIT,))
        return
    with ExitStack() as stack:
        stack.enter_context(lock_folder(config.storage.folder, "checks"))
        contest = look.contest if look else stack.enter_context(opened_contest(config))
        _make_checks(contest, wanted, tell)


def _make_checks(
    contest: Contest,
    wanted: Iterable[Key] | None,
    tell: Callable[[str], None],
    without: Collection[Key] = (),
) -> None:
    keys = None if wanted is None else set(wanted)
    basis = expected(contest, program_stamp(), []) | material(contest)
    for key, check in _checks(contest, tell):
        if key not in basis or key in without or (keys is not None and key not in keys):
            continue
        busy = under_way(contest)
        if busy:
            raise Unavailable(f"{busy} Slow checks would disturb it: wait for its end.")
        tell(f"checking: {key[1]}")
        findings = [(finding, basis[key].text) for finding in check()]
        keep(contest.database, contest.clock.now(), findings)


def _checks(
    contest: Contest, tell: Callable[[str], None]
) -> Iterator[tuple[Key, Callable[[], Iterable[CheckResult]]]]:
    config = contest.config
    yield TRUTH, lambda: [check_truth(contest)]
    yield TURNED, lambda: [check_turned(contest)]
    yield COMMIT, lambda: [check_commits(config)]
    yield PASSWORDS, lambda: [check_passwords(password_hashes(contest))]
    for extra in present_extras(config):
        if extra.slow_check is not None:
            yield extra.slow_check, partial(extra.check, config)
    yield GOLDEN, lambda: [check_golden(config, tell)]
