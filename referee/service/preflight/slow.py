# SPDX-License-Identifier: Apache-2.0
"""The findings of the slow checks: they are kept with their time, and grow old."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from power.meter import Identity
from referee.core.instant import Instant
from referee.errors import ConfigError
from referee.service.entry.team_list import registered_teams
from referee.service.preflight.finding import CheckResult, Level, warn
from referee.service.preflight.surroundings import LaneFacts
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.setup.lane_config import LaneSection
from referee.service.setup.lane_words import of_lane
from referee.store.database import Connection, Database
from referee.store.images import manifest_digest, newest_material
from referee.store.operators import present_operators
from referee.store.preflight import StoredFinding, insert_finding, newest_findings

GOLDEN = ("servers", "golden client")
COMMIT = ("machine", "durable commit")
PASSWORDS = ("teams", "passwords")
TRUTH = ("contest", "truth boxes")
TURNED = ("contest", "orientation of images")
IDENTITY = "identity"
METER_ITEMS = (IDENTITY, "error queue", "clock")

FRESH_FOR = timedelta(hours=24)
"""How long a good finding of a slow check stays good."""

AGAIN = "Run the slow checks again: on the page /check, or with 'referee check --again'."


@dataclass(frozen=True)
class CheckScope:
    """What the finding of a slow check must hold for, and the lane that it concerns, if one."""

    text: str
    lane: int | None = None


def expected(
    contest: Contest, program: str, lanes: Iterable[LaneFacts | LaneSection]
) -> dict[tuple[str, str], CheckScope]:
    """Return group and item of each slow check of an event, and what it must hold for.

    `program` is the stamp of the program. A rehearsal has no slow checks, and a meter that the
    referee plays itself needs no look.
    """
    config = contest.config
    if config.contest.mode == "practice":
        return {}
    bases = {
        GOLDEN: CheckScope(program),
        COMMIT: CheckScope(str(config.storage.folder)),
        PASSWORDS: CheckScope(_password_stamp(contest)),
    }
    for extra in present_extras(config):
        if extra.slow_check is not None:
            bases[extra.slow_check] = CheckScope(program)
    for number, lane in enumerate(lanes, 1):
        resource = lane.meter.resource
        if resource not in ("none", "emulated"):
            for name in METER_ITEMS:
                bases["meter", of_lane(name, lane.name)] = CheckScope(resource, number)
    return bases


def material(contest: Contest) -> dict[tuple[str, str], CheckScope]:
    """Return the checks of images and ground truth, and what each must hold for.

    They do not grow old: what they hold for is the content. Before its preparation a contest has
    none.
    """
    if contest.looked_at is not None:
        return dict.fromkeys((TRUTH, TURNED), CheckScope(manifest_digest(contest.looked_at)))
    newest = newest_material(contest.database.connection)
    return {} if newest is None else dict.fromkeys((TRUTH, TURNED), CheckScope(newest[0]))


def material_findings(contest: Contest) -> Iterator[CheckResult]:
    """Yield what the checks of images and ground truth found, as far as they were made."""
    wanted = material(contest)
    for stored in newest_findings(contest.database.connection):
        basis = wanted.get((stored.group, stored.item))
        if basis is not None and basis.text == stored.basis:
            yield _from_store(stored)


def password_hashes(contest: Contest) -> dict[str, str]:
    """Return the hashes of teams and operators by name; an operator's name says that it is one."""
    operators = present_operators(contest.database.connection)
    hashes = {f"operator {one.name}": one.password_hash for one in operators}
    return registered_teams(contest.config.teams) | hashes


def order_of_checks(
    contest: Contest, program: str, lanes: Iterable[LaneFacts | LaneSection]
) -> list[tuple[str, str]]:
    """Return group and item of each slow check in the order in which a running referee makes them.

    The meters come first. What takes longest comes last.
    """
    wanted = expected(contest, program, lanes)
    of_meters = [key for key, basis in wanted.items() if basis.lane is not None]
    of_extras = [key for key in wanted if key not in {*of_meters, COMMIT, PASSWORDS, GOLDEN}]
    last = [COMMIT, PASSWORDS, *of_extras, GOLDEN]
    return [*of_meters, *material(contest), *(key for key in last if key in wanted)]


def checks_done(connection: Connection, order: Sequence[tuple[str, str]], since: datetime) -> int:
    """Return how many checks of an order are done since a moment.

    They are made one after the other, so all before the last one that has a finding are done: a
    meter that does not answer has fewer findings than one that does.
    """
    made = {
        (finding.group, finding.item)
        for finding in newest_findings(connection)
        if datetime.fromisoformat(finding.utc) >= since
    }
    return max((n for n, key in enumerate(order, 1) if key in made), default=0)


def kept_findings(
    connection: Connection, wanted: Mapping[tuple[str, str], CheckScope], now: datetime
) -> Iterator[CheckResult]:
    """Return the newest finding of each expected check, as it counts now."""
    stored = {(one.group, one.item): _from_store(one) for one in newest_findings(connection)}
    for key, basis in wanted.items():
        yield replace(counted(stored.get(key), key, basis.text, now), lane=basis.lane)


def kept_identity(
    connection: Connection, wanted: Mapping[tuple[str, str], CheckScope], lane: int, now: datetime
) -> Identity | None:
    """Return which meter answered at the last look at a lane, None if no good finding counts now.

    `wanted` is what `expected` returns.
    """
    for finding in kept_findings(connection, wanted, now):
        if finding.lane == lane and finding.meter is not None and finding.level is Level.OK:
            return finding.meter
    return None


def counted(
    finding: CheckResult | None, key: tuple[str, str], basis: str, now: datetime
) -> CheckResult:
    """Return how a kept finding counts now.

    A check that was never made, or not for this program or meter, or not within a day, is a WARN. A
    FAIL stays a FAIL until the check is made again.
    """
    if finding is None or finding.found is None:
        return replace(warn(*key, "not checked yet", AGAIN), is_old=True)
    if finding.level is Level.FAIL:
        return finding
    if finding.basis != basis:
        text = f"what it was checked for has changed since; then: {finding.text}"
        return replace(finding, level=Level.WARN, text=text, remedy=AGAIN, is_old=True)
    if now - finding.found > FRESH_FOR:
        text = f"not checked within a day; then: {finding.text}"
        return replace(finding, level=Level.WARN, text=text, remedy=AGAIN, is_old=True)
    return finding


def keep(database: Database, now: Instant, findings: Iterable[tuple[CheckResult, str]]) -> None:
    """Store what slow checks found now, each with what it holds for."""
    with database.write() as connection:
        for finding, basis in findings:
            insert_finding(
                connection,
                StoredFinding(
                    group=finding.group,
                    item=finding.item,
                    level=finding.level.value,
                    text=finding.text,
                    remedy=finding.remedy,
                    basis=basis,
                    utc=now.utc.isoformat(),
                    meter=finding.meter,
                ),
            )


def _password_stamp(contest: Contest) -> str:
    """Return what changes when a password changes; a damaged list is told by its own check."""
    try:
        hashes = password_hashes(contest)
    except ConfigError:
        return "damaged"
    return hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()[:16]


def _from_store(stored: StoredFinding) -> CheckResult:
    return CheckResult(
        stored.group,
        stored.item,
        Level(stored.level),
        stored.text,
        stored.remedy,
        datetime.fromisoformat(stored.utc),
        stored.basis,
        meter=stored.meter,
    )
