# SPDX-License-Identifier: Apache-2.0
"""The way of an Arm from the console's route to the meter's wire: the files that hold its call."""

from __future__ import annotations

import sys
import threading
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

from power.emulator.instrument import Instrument, Options
from power.emulator.interpreter import Interpreter
from power.emulator.load import Load
from power.emulator.profile import constant
from power.meter import MeterSettings
from power.transports.transport import LoggedTransport, WireLog
from power.wt310.driver import WT310
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.metering import LinkState, Metering
from tests.support.contests import make_contest
from tests.support.direct_wire import DirectTransport
from tests.support.doors import Door, post
from tests.support.events import Event
from tests.support.fakes import FakeClock, eventually

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tuple(f"{ROOT / folder}/" for folder in ("referee", "power"))

# With the three of the page before them (`lane.js`, `acting.js`, `asking.js`) and the wire's own
# (`visa.py`, in whose place this test listens) they are fifteen.
FILES_MOST = 11


def stack_of(frame):
    """Return the project's calls behind a frame, the outermost first: (file, function)."""
    calls = []
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(PROJECT):
            calls.append((Path(path).relative_to(ROOT).as_posix(), frame.f_code.co_name))
        frame = frame.f_back
    return calls[::-1]


class WatchedWire(DirectTransport):
    """A wire that notes who waits for each message of a job: the armer, and the meter's thread."""

    def __init__(self, interpreter, sleep, armer, seen):
        super().__init__(interpreter, sleep)
        self.armer, self.seen = armer, seen

    def write(self, message):
        """Note both stacks of a job, then hand the message over; a scheduled reading is no job."""
        job = stack_of(sys._getframe())
        if "_execute" in [function for _, function in job]:
            self.seen.append((stack_of(sys._current_frames()[self.armer]), job))
        super().write(message)


@pytest.fixture
def walk(tmp_path):
    """Arm a session by the console, with a WT310 in this process; return the stacks of each write.

    Sleeping moves the meter's clock, so that nothing waits.
    """
    now, seen = [1000.0], []

    def sleep(seconds):
        now[0] += seconds

    def clock():
        return now[0]

    emulated = Interpreter(Instrument(Load(constant(5.0)), clock, Options(serial="C2QJ12345V")))
    log = WireLog(tmp_path / "wire.jsonl", clock)
    armer = threading.get_ident()

    def open_wire():
        return LoggedTransport(WatchedWire(emulated, sleep, armer, seen), log)

    settings = MeterSettings(timer_s=0, voltage_range_v=150.0, current_range_a=0.5)
    make = partial(Metering, partial(WT310, open_wire, clock=clock, sleep=sleep), settings)
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    desk = ControlDesk(contest, [make])
    desk.start()
    try:
        eventually(lambda: desk.lanes[0].metering.status.link is LinkState.OK)
        event = Event(contest, desk, None)
        event.register("ants")
        door = Door(event)
        number = desk.new_session("ants", "Kim")
        seen.clear()
        answer = post(door.visitor(), f"/sessions/{number}/arm", seen_state="READY")
        assert {"session": number, "state": "ARMED"} == answer.get_json()
    finally:
        desk.close()
        contest.database.close()
    return seen


def test_few_files_hold_an_arm_and_each_calls_downward(walk):
    """At most fifteen files are between a click and the wire, and none of them is called back."""
    held = {file for armer, job in walk for file, _ in (*armer, *job)}
    assert {"referee/web/desk/actions.py", "power/transports/transport.py"} <= held
    assert len(held) <= FILES_MOST, sorted(held)
    for armer, job in walk:
        carried_out = [function for _, function in job].index("_execute")
        files = [file for file, _ in groupby(file for file, _ in (*armer, *job[carried_out:]))]
        assert len(files) == len(set(files)), files
