# SPDX-License-Identifier: Apache-2.0
"""The one list of findings: for the command, for the page, and for arming."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial

from referee.core.actors import Role
from referee.core.instant import Instant
from referee.errors import RefereeError, Refusal
from referee.service.people.operators import operators_of
from referee.service.preflight.clock_rule import date_finding
from referee.service.preflight.contest_checks import (
    disk_finding,
    images_finding,
    restored_findings,
    session_finding,
    team_findings,
)
from referee.service.preflight.event_rules import (
    certificate_findings,
    configuration_findings,
    network_findings,
)
from referee.service.preflight.finding import CheckResult, fail, fails, ok, warn
from referee.service.preflight.lane_rules import (
    display_finding,
    meter_findings,
    shared_meter_findings,
    unasked_meter_findings,
)
from referee.service.preflight.left_out import left_out_findings
from referee.service.preflight.machine_rules import machine_findings
from referee.service.preflight.overrides import day_of, override_of
from referee.service.preflight.packages import package_findings
from referee.service.preflight.shown import ShownFinding, ShownList, ShownOverride
from referee.service.preflight.slow import expected, kept_findings, material_findings
from referee.service.preflight.surroundings import LaneFacts, Surroundings
from referee.service.preflight.versions import versions_finding
from referee.service.preflight.wal_rule import log_finding
from referee.service.preflight.wal_watch import look_twice
from referee.service.setup.contest import Contest
from referee.store.preflight import StoredOverride
from referee.tracks.track import Delivery


def all_findings(
    contest: Contest, around: Surroundings, program: str, images: CheckResult | None = None
) -> list[CheckResult]:
    """Return every finding as it is now, in the order of its groups.

    Slow checks are not made here: the list has what they found last. `program` is the program's
    stamp. `images` takes the place of the look at the images. A check that cannot be
    made is a FAIL of its own, and the others go on.
    """
    config, now = contest.config, contest.clock.now()
    mode = config.contest.mode
    today = now.utc.astimezone().date()
    checks: list[Callable[[], Iterable[CheckResult]]] = [
        lambda: configuration_findings(config, around),
        lambda: [versions_finding()],
        package_findings,
        lambda: [images or images_finding(contest, around.inputs)],
        lambda: material_findings(contest),
        lambda: team_findings(contest),
        lambda: left_out_findings(contest),
        lambda: [_operators_finding(contest)],
        lambda: [session_finding(contest, runs=around.runs)],
        lambda: restored_findings(around.newer),
        lambda: network_findings(config, around),
        lambda: certificate_findings(config, around.lanes, now.utc),
        lambda: [disk_finding(contest)],
        lambda: [log_finding(*look_twice(config.database, time.sleep))],
    ]
    if around.machine is not None:
        machine = around.machine
        checks.append(lambda: machine_findings(machine, around.jumps))
    if around.dates is not None:
        dates = around.dates
        checks.append(lambda: [date_finding(dates)])
    shown = contest.track.delivery is Delivery.SHOWN
    checks += [partial(_lane_findings, around, mode, today, lane, shown) for lane in around.lanes]
    checks.append(lambda: shared_meter_findings(around.lanes))
    if not around.runs:
        checks.append(lambda: unasked_meter_findings(around.lanes))
    wanted = expected(contest, program, around.lanes)
    checks.append(lambda: kept_findings(contest.database.connection, wanted, now.utc))
    return in_groups(finding for check in checks for finding in _guarded(check))


def _lane_findings(
    around: Surroundings, mode: str, today: date, lane: LaneFacts, shown: bool
) -> Iterator[CheckResult]:
    findings = list(meter_findings(lane, mode, today))
    if shown:
        findings.append(display_finding(lane, runs=around.runs))
    yield from (replace(finding, lane=lane.lane) for finding in findings)


def in_groups(findings: Iterable[CheckResult]) -> list[CheckResult]:
    """Sort findings so that each group stands together, in the order of first appearance."""
    groups: dict[str, list[CheckResult]] = {}
    for finding in findings:
        groups.setdefault(finding.group, []).append(finding)
    return [finding for group in groups.values() for finding in group]


def shown_list(
    findings: Sequence[CheckResult],
    overrides: Sequence[StoredOverride],
    now: Instant,
    *,
    final: bool = False,
) -> ShownList:
    """Return the list as people and programs get it."""
    day = day_of(now.utc)
    return ShownList(
        ready=not final and not standing(findings, overrides, now),
        final=final,
        findings=[_row(finding, override_of(finding, overrides, day), now) for finding in findings],
    )


def standing(
    findings: Iterable[CheckResult],
    overrides: Sequence[StoredOverride],
    now: Instant,
    lane: int | None = None,
) -> list[CheckResult]:
    """Return the FAILs that nobody has overridden; with `lane`, those that concern this lane."""
    day = day_of(now.utc)
    concern = [
        finding for finding in fails(findings) if lane is None or finding.lane in (None, lane)
    ]
    return [one for one in concern if override_of(one, overrides, day) is None]


def require_none_standing(
    findings: Iterable[CheckResult],
    overrides: Sequence[StoredOverride],
    now: Instant,
    lane: int,
) -> None:
    """Raise `Refusal` (code `not_ready`) with every standing FAIL that concerns a lane."""
    found = standing(findings, overrides, now, lane)
    if found:
        said = tuple(
            f"{finding.group}, {finding.item}: {finding.text.removesuffix('.')}. {finding.remedy}"
            for finding in found
        )
        raise Refusal("not_ready", " ".join(said), said)


def _guarded(check: Callable[[], Iterable[CheckResult]]) -> Iterator[CheckResult]:
    try:
        yield from check()
    except (RefereeError, OSError) as error:
        yield fail("checks", "list", f"a check could not be made: {error}", "Repair what it names.")


def _row(finding: CheckResult, override: StoredOverride | None, now: Instant) -> ShownFinding:
    moment = finding.found
    return ShownFinding(
        group=finding.group,
        item=finding.item,
        lane=finding.lane,
        level=finding.level.value,
        text=finding.text,
        remedy=finding.remedy,
        found_utc=None if moment is None else moment.isoformat(),
        age_s=None if moment is None else max(0.0, (now.utc - moment).total_seconds()),
        override=None if override is None else _override(override),
    )


def _override(stored: StoredOverride) -> ShownOverride:
    return ShownOverride(
        number=stored.override_id,
        operator=stored.operator,
        reason=stored.reason,
        utc=stored.utc,
    )


def _operators_finding(contest: Contest) -> CheckResult:
    """Check that somebody is registered who may act, so that the audit has names."""
    operators = operators_of(contest)
    acting = [one.name for one in operators if one.role == Role.OPERATOR.value]
    remedy = f"Run: referee operator add NAME --role operator {contest.config.option}"
    if acting:
        return ok("operators", "logins", f"{len(acting)} may act: {', '.join(acting)}")
    if operators:
        return warn("operators", "logins", "only assistants are registered: nobody may act", remedy)
    if contest.config.contest.mode == "practice":
        return ok("operators", "logins", "a rehearsal: the console needs no login")
    text = "nobody is registered: everybody at this laptop may act, without a login"
    return warn("operators", "logins", text, remedy)
