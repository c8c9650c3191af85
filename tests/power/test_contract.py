# SPDX-License-Identifier: Apache-2.0
"""The duties of every meter, over every wire; `--meter RESOURCE` adds a real meter.

    python -m pytest tests/power/test_contract.py --meter TCPIP::192.168.1.5::INSTR

On a real meter a device must be switched on behind it. A meter that integrates, or that holds a
result which nobody has fetched, is left alone: each test fails and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from power.connect import open_wt310
from power.energy.judge import Verdict, judge_energy
from power.errors import MeterBusy, MeterRefused
from power.follow import read_final
from power.logs.journal import journal
from power.meter import IntegrationState, MeterSettings, Reading
from power.transports.transport import utc_now
from power.wipe_guard import Guard
from power.wipe_rule import OwnRuns
from power.wt310.driver import WT310

SETTINGS = MeterSettings(timer_s=1, update_interval_s=0.1)
LONG = MeterSettings(timer_s=60, update_interval_s=0.1)

pytestmark = pytest.mark.slow


class Subject:
    """A way to open the meter under test, the clock that it lives by, and who guards its energy.

    Nobody needs what an emulated meter holds. Before a real one is stopped or reset, somebody must
    have fetched what it counts or holds.
    """

    def __init__(
        self, connect: Callable[[], WT310], sleep: Callable[[float], None], resource: str = ""
    ) -> None:
        self.connect = connect
        self.sleep = sleep
        self.meter = connect()
        self._resource = resource
        self._runs = journal() if resource else OwnRuns()

    @property
    def guard(self) -> Guard:
        """Return who is asked before each reset."""
        discard = not self._resource
        return Guard(self.meter, self._runs, self._resource, utc=utc_now, discard=discard)

    def again(self) -> None:
        """Close the meter and open it anew, as a restarted program does."""
        self.meter.close()
        self.meter = self.connect()


@pytest.fixture(params=["direct", "vxi11", "serial", "usb", "real"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Return the meter under test; the real one only where a resource is given."""
    resource = request.config.getoption("--meter", None)
    if request.param == "real":
        if resource is None:
            pytest.skip("no real meter: give one with --meter RESOURCE")
    elif resource is not None:
        pytest.skip("only the real meter is asked for")
    if request.param == "direct":
        bench = request.getfixturevalue("make_bench")()
        made = Subject(bench.driver, bench.time.sleep)
    else:
        if request.param != "real":
            resource = request.getfixturevalue(f"{request.param}_meter").resource
        real = resource if request.param == "real" else ""
        made = Subject(lambda: open_wt310(resource), time.sleep, real)
    if request.param == "real":
        made.guard.leave()
    yield made
    made.meter.stop()
    made.guard.give_up()
    made.meter.close()


def prepare(subject: Subject, settings: MeterSettings) -> MeterSettings:
    """Prepare the meter; end a run that an earlier test left."""
    subject.meter.stop()
    return subject.meter.prepare(settings, subject.guard.leave())


def follow(subject: Subject) -> list[Reading]:
    """Read until the integration has ended, and return its result."""
    readings = [subject.meter.read()]
    while readings[-1].state is IntegrationState.START:
        subject.sleep(0.1)
        readings.append(subject.meter.read())
    return readings + read_final(subject.meter.read, 0.1, subject.sleep)


def test_it_says_who_it_is(subject: Subject) -> None:
    """The meter identifies itself as a supported model of Yokogawa's."""
    identity = subject.meter.identify()
    assert "YOKOGAWA" == identity.maker.upper()
    assert identity.model.upper().startswith("WT3")


def test_settings_are_read_back(subject: Subject) -> None:
    """`prepare` returns the settings that the meter has."""
    assert SETTINGS == prepare(subject, SETTINGS)
    other = MeterSettings(timer_s=3725, update_interval_s=0.25, crest_factor=6, line_filter=True)
    assert other == prepare(subject, other)


def test_a_run_by_the_timer(subject: Subject) -> None:
    """A run by the timer starts, counts, ends by itself and keeps its result."""
    settings = prepare(subject, SETTINGS)
    start = subject.meter.start()
    assert start.sent_s <= start.written_s <= start.confirmed_s
    readings = follow(subject)
    assert IntegrationState.TIMEUP is readings[-1].state
    assert 1.0 == readings[-1].integration_s
    energies = [row.energy_wh for row in readings if row.energy_wh is not None]
    assert sorted(energies) == energies
    result = judge_energy(readings, session_s=1.0, settings=settings)
    # Auto-range fits any device behind a real meter, and makes the energy SUSPECT.
    assert Verdict.SUSPECT is result.verdict, result.findings
    assert {"auto_range"} <= {finding.code for finding in result.findings}


def test_a_run_that_is_stopped(subject: Subject) -> None:
    """STOP ends a run, and a second STOP changes nothing."""
    prepare(subject, LONG)
    subject.meter.start()
    subject.sleep(0.5)
    assert IntegrationState.STOP is subject.meter.stop()
    first = read_final(subject.meter.read, 0.1, subject.sleep)[-1]
    assert IntegrationState.STOP is subject.meter.stop()
    subject.sleep(0.5)
    second = subject.meter.read()
    assert (first.energy_wh, first.integration_s) == (second.energy_wh, second.integration_s)


def test_a_running_integration_is_left_alone(subject: Subject) -> None:
    """Prepare and start leave a running integration alone, and a restarted program reads on."""
    prepare(subject, LONG)
    subject.meter.start()
    with pytest.raises(MeterBusy):
        subject.meter.prepare(SETTINGS)
    with pytest.raises(MeterBusy):
        subject.meter.start()
    subject.sleep(1.2)
    subject.again()
    assert IntegrationState.START is subject.meter.attach()
    elapsed_s = subject.meter.read().integration_s
    assert elapsed_s is not None and elapsed_s >= 1.0


def test_start_wants_a_reset_integrator(subject: Subject) -> None:
    """After an end start is refused until the meter is prepared."""
    prepare(subject, LONG)
    subject.meter.start()
    subject.meter.stop()
    with pytest.raises(MeterRefused, match="prepare the meter first"):
        subject.meter.start()


def test_an_impossible_setting_is_refused(subject: Subject) -> None:
    """An impossible setting is refused rather than clamped."""
    with pytest.raises(MeterRefused):
        prepare(subject, MeterSettings(timer_s=1, voltage_range_v=77.0))


def test_the_meter_shows_its_updates(subject: Any) -> None:
    """`await_update` sees two updates, one after the other."""
    prepare(subject, LONG)
    first_s, _ = subject.meter.await_update(0.1)
    assert subject.meter.await_update(0.1)[0] > first_s
