# SPDX-License-Identifier: Apache-2.0
"""The replay of a recorded conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.errors import MeterUnreachable
from power.meter import IntegrationState, MeterSettings
from power.transports.replay import ReplayEnded, ReplayTransport, read_wire_log
from power.transports.transport import LoggedTransport, WireLog
from power.wt310.driver import WT310

SETTINGS = MeterSettings(
    timer_s=3, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)


def session(meter: WT310, sleep: Callable[[float], None]) -> list[Any]:
    """Run a session and return the driver's results."""
    made: list[Any] = [meter.identify(), meter.prepare(SETTINGS)]
    meter.start()
    state = IntegrationState.START
    while state is IntegrationState.START:
        sleep(0.5)
        try:
            reading = meter.read()
        except MeterUnreachable as error:
            made.append(type(error))
            continue
        state = reading.state
        made.append((reading.power_w, reading.energy_wh, reading.integration_s, state))
    meter.close()
    return made


@pytest.mark.parametrize("fault", ["", "start+0.9 silent", "start+0.9 hang seconds=0.5"])
def test_a_replay_gives_what_the_session_gave(
    make_bench: Callable[..., Any], tmp_path: Path, fault: str
) -> None:
    """A replay gives the driver the same results, time-outs and new links included."""
    path = tmp_path / "meter.jsonl"
    bench = make_bench(None, None, fault)

    def logged() -> LoggedTransport:
        log = WireLog(path, bench.time.clock, bench.time.utc)
        return LoggedTransport(bench.connect(), log)

    live = WT310(logged, clock=bench.time.clock, sleep=bench.time.sleep, utc=bench.time.utc)
    expected = session(live, bench.time.sleep)
    replay = ReplayTransport(read_wire_log(path))
    again = WT310(replay.reopen, clock=replay.clock, sleep=replay.sleep, utc=bench.time.utc)
    assert expected == session(again, replay.sleep)
    assert 0 == replay.left


def test_another_question_ends_the_replay(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """A question that was not recorded ends the replay."""
    path = tmp_path / "meter.jsonl"
    bench = make_bench()
    transport = LoggedTransport(bench.connect(), WireLog(path, bench.time.clock, bench.time.utc))
    transport.write("*IDN?")
    transport.close()
    replay = ReplayTransport(read_wire_log(path)).reopen()
    with pytest.raises(ReplayEnded, match="goes on with b'\\*IDN\\?', not '\\*OPT\\?'"):
        replay.write("*OPT?")


def test_a_log_cut_by_a_killed_writer(tmp_path: Path) -> None:
    """A truncated last line is left out, and a malformed line elsewhere is named."""
    path = tmp_path / "meter.jsonl"
    whole = '{"utc": "x", "monotonic_s": 1.0, "event": "open", "text": "a"}\n'
    path.write_text(whole + '{"utc": "x", "mono')
    assert 1 == len(read_wire_log(path))
    path.write_text("{}\n" + whole)
    with pytest.raises(ValueError, match="meter.jsonl, line 1"):
        read_wire_log(path)
