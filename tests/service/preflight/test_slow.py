# SPDX-License-Identifier: Apache-2.0
"""The slow checks: what they find, and how their findings grow old."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import argon2
import pytest

from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import constant
from power.errors import MeterReplyError
from power.meter import Identity, MeterSettings
from power.wt310.driver import WT310
from referee.programs.golden_client import MEAN_AP, GoldenRun, judge
from referee.service.preflight.durable_commit import check_commits, judge_commits
from referee.service.preflight.finding import Level, fail, ok
from referee.service.preflight.meter_look import look_at_meter, look_findings
from referee.service.preflight.passwords import check_passwords
from referee.service.preflight.slow import (
    COMMIT,
    FRESH_FOR,
    CheckScope,
    counted,
    keep,
    kept_identity,
)
from tests.support.direct_wire import DirectTransport

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)
GOOD = replace(ok(*COMMIT, "fast"), found=NOON, basis="disk")
BAD = replace(fail(*COMMIT, "slow", "x"), found=NOON, basis="disk")


@pytest.mark.parametrize(
    ("finding", "basis", "age", "level", "words"),
    [
        (None, "disk", timedelta(), Level.WARN, "not checked yet"),
        (GOOD, "disk", FRESH_FOR, Level.OK, "fast"),
        (GOOD, "disk", FRESH_FOR + timedelta(seconds=1), Level.WARN, "within a day"),
        (GOOD, "other disk", timedelta(), Level.WARN, "has changed"),
        (BAD, "other disk", 2 * FRESH_FOR, Level.FAIL, "slow"),
    ],
)
def test_findings_grow_old(finding, basis, age, level, words):
    """A good finding counts for a day and one basis; a bad one until the check is made again."""
    now = counted(finding, COMMIT, basis, NOON + age)
    assert (level, True) == (now.level, words in now.text)
    assert now.remedy or level is Level.OK
    assert (level is Level.WARN) == now.is_old


def test_the_meter_that_answered_is_known_by_its_row(contest):
    """The words of a finding may be any: model and serial number come from the look itself."""
    meter = Identity("", "a, b", "1, serial 2", "")
    look = replace(ok("meter", "identity", "whatever"), meter=meter)
    keep(contest.database, contest.clock.now(), [(look, "place")])
    wanted = {look.key: CheckScope("place", 1)}
    now = contest.clock.now().utc
    assert meter == kept_identity(contest.database.connection, wanted, 1, now)
    later = now + FRESH_FOR + timedelta(seconds=1)
    assert kept_identity(contest.database.connection, wanted, 1, later) is None


@pytest.mark.parametrize(
    ("taken_s", "file_system", "level"),
    [
        ([0.02] * 199 + [1.0], "ext4", Level.OK),
        ([0.021] * 200, "ext4", Level.WARN),
        ([0.001] * 199 + [1.1], "", Level.WARN),
        ([0.001] * 199 + [10.0], "ext4", Level.FAIL),
        ([0.001] * 200, "tmpfs", Level.FAIL),
        ([0.001] * 200, "nfs4", Level.FAIL),
    ],
)
def test_the_cost_of_a_commit(taken_s, file_system, level):
    """Slow commits are told, stalls forbid arming, and so does a disk that forgets."""
    finding = judge_commits(taken_s, file_system)
    assert level is finding.level
    assert finding.remedy or level is Level.OK


def test_commits_are_measured_on_the_contests_disk(contest):
    """The measurement leaves nothing behind."""
    before = sorted(contest.config.storage.folder.iterdir())
    assert "of 200" in check_commits(contest.config).text
    assert before == sorted(contest.config.storage.folder.iterdir())


def test_passwords_that_anybody_would_try():
    """The team's own name and the usual words are found; a good password and a damaged hash not."""
    made = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash
    hashes = {"ants": made("ants"), "operator Kim": made("kim"), "bees": made("practice")}
    finding = check_passwords(hashes | {"wasps": made("q68r-k3me-vbqk"), "flies": "damaged"})
    assert Level.FAIL is finding.level
    assert "'ants', 'operator Kim', 'bees'" in finding.text
    assert Level.OK is check_passwords({"wasps": made("q68r-k3me-vbqk")}).level


class Queued:
    """An entry of an error queue."""

    code, text = 113, "Undefined header"


class Inspected:
    """A meter that says that it updates each `nominal_s`, with errors in its queue."""

    def __init__(self, interval_s, errors=(), silent=False, nominal_s=None):
        self.interval_s, self.errors, self.silent, self.now_s = interval_s, errors, silent, 0.0
        self.nominal_s = interval_s if nominal_s is None else nominal_s

    def identify(self):
        """Return who this is."""
        return Identity("YOKOGAWA", "WT310E", "C2", "F1.04")

    def pending_errors(self):
        """Return the queue."""
        return list(self.errors)

    def settings(self):
        """Return what somebody has set."""
        return MeterSettings(timer_s=0, update_interval_s=self.nominal_s)

    def await_update(self, update_interval_s):
        """Return the next update; nobody waits for longer than two intervals and a second."""
        if self.silent or self.interval_s > 2 * update_interval_s + 1:
            raise MeterReplyError("no updates")
        self.now_s += self.interval_s
        return self.now_s, 0.002


@pytest.mark.parametrize(
    ("meter", "item", "level"),
    [
        (Inspected(1.0), "clock", Level.OK),
        (Inspected(0.25), "clock", Level.OK),
        (Inspected(5.0), "clock", Level.OK),
        (Inspected(1.02, nominal_s=1.0), "clock", Level.WARN),
        (Inspected(20.0), "clock", Level.FAIL),
        (Inspected(1.0, silent=True), "clock", Level.FAIL),
        (Inspected(1.0), "error queue", Level.OK),
        (Inspected(1.0, [Queued()]), "error queue", Level.WARN),
        (Inspected(1.0), "identity", Level.OK),
    ],
)
def test_a_look_at_a_meter(meter, item, level):
    """A clock that is 2 % slow, no updates, and old errors are told."""
    found = {it.item: it for it in look_findings(look_at_meter(meter), "")}
    assert level is found[item].level


@pytest.mark.parametrize(
    ("mean_ap", "verdict", "level", "words"),
    [
        (MEAN_AP, "VALID", Level.OK, "as known"),
        (MEAN_AP + 2**-50, "VALID", Level.FAIL, "0.8125 was expected"),
        (MEAN_AP, "SUSPECT", Level.FAIL, "a gap"),
    ],
)
def test_the_golden_client_compares_exactly(contest, mean_ap, verdict, level, words):
    """The last bit of mAP counts, and so does the verdict with its reasons."""
    finding = judge(contest.config, GoldenRun(mean_ap, verdict, ("a gap",), 12.0))
    assert (level, True) == (finding.level, words in finding.text)


def test_a_meter_that_was_just_switched_on_passes():
    """The look prepares nothing, and needs nothing that only a preparation switches on."""
    now_s = [0.0]

    def clock():
        return now_s[0]

    def sleep(seconds):
        now_s[0] += seconds

    wire = Interpreter(Instrument(Load(constant(5.0), volts=120.0), clock, Options()))
    meter = WT310(lambda: DirectTransport(wire, sleep), clock=clock, sleep=sleep)
    found = {it.item: it for it in look_findings(look_at_meter(meter), "")}
    assert {"identity", "error queue", "clock"} == set(found)
    assert {Level.OK} == {it.level for it in found.values()}, found
