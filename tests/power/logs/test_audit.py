# SPDX-License-Identifier: Apache-2.0
"""Judging log files: ours with and without facts, and those of 2015."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.energy.judge import RunFacts, Verdict
from power.logs.audit import audit, is_old_log, read_old_log
from power.logs.facts_file import facts_path, load_course, load_facts, save_facts
from power.meter import Identity, MeterFlag, MeterSettings

REAL_LOGS = Path(__file__).parents[4] / "shared" / "data" / "lpirc"
SETTINGS = MeterSettings(
    timer_s=8, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)


@pytest.fixture
def log(make_bench: Callable[..., Any], tmp_path: Path) -> Path:
    """Return a good log of 8 s at 5 W, with its facts beside it."""
    bench = make_bench()
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    recording = recorder.record(SETTINGS, tmp_path / "log.csv")
    facts = RunFacts(recording.identity, SETTINGS)
    save_facts(
        tmp_path / "log.csv", facts.ended(recording.result.session_s, recording.readings[-1])
    )
    return tmp_path / "log.csv"


def codes(path: Path, facts: RunFacts | None = None) -> dict[str, Verdict]:
    """Return the findings on a log."""
    return {item.code: item.severity for item in audit(path, facts).result.findings}


def test_a_log_with_its_facts_is_judged_as_the_recorder_did(log: Path) -> None:
    """A log with its facts gives the recorder's energy and verdict."""
    judged = audit(log)
    assert "recorded" == judged.source
    assert {} == codes(log)
    assert Verdict.VALID is judged.result.verdict
    assert 5.0 * 8 / 3600 == pytest.approx(judged.result.energy_wh, rel=1e-5)
    assert judged.result.uncertainty_wh is not None


def test_a_log_without_facts_is_suspect(log: Path) -> None:
    """A log without facts is SUSPECT, since its rows do not tell ranges and settings."""
    facts_path(log).unlink()
    assert {"no_settings": Verdict.SUSPECT} == codes(log)
    assert 0.5 == audit(log).facts.settings.update_interval_s


def test_given_facts_win(log: Path) -> None:
    """The audit finds a session that lasted longer than the integration."""
    facts = RunFacts(None, SETTINGS, session_s=20.0)
    assert Verdict.INVALID is codes(log, facts)["window"]


def test_flags_of_the_end_count(log: Path) -> None:
    """The facts add flags from the end of the run, which the rows lack."""
    facts = load_facts(log)
    assert facts is not None
    value = json.loads(facts_path(log).read_text())
    value["flags"] = [MeterFlag.CURRENT_PEAK_OVER.value]
    facts_path(log).write_text(json.dumps(value))
    assert Verdict.INVALID is codes(log)["peak_over"]


def test_facts_survive_the_file(tmp_path: Path) -> None:
    """Saved facts load unchanged."""
    facts = RunFacts(
        Identity("YOKOGAWA", "WT310E", "1", "F1"),
        SETTINGS,
        session_s=8.0,
        flags=frozenset({MeterFlag.AUTO_RANGE}),
        voltage_range_v=150.0,
        current_range_a=0.1,
    )
    save_facts(tmp_path / "a.csv", facts)
    assert facts == load_facts(tmp_path / "a.csv")
    assert [tmp_path / "a.json"] == list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": {"mode": "X"}}'])
def test_broken_facts_are_named(tmp_path: Path, text: str) -> None:
    """A malformed facts file is refused by name."""
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match="a.json"):
        load_facts(tmp_path / "a.csv")


OLD = """9.91e+037,9.91e+037,9.91e+037,0,0
121.1,0.05,6.0,0.00166667,1
121.1,0.05,6.0,0.00333333,2
121.1,0.05,6.0,0.00666667,4
121.1,0.05,6.0,0.00833333,5
121.1,0.05,6.0,0.00833333,5
"""


def test_a_log_of_2015(tmp_path: Path) -> None:
    """A log of 2015 has findings for missing clock and ranges, stand-ins, and a lost second."""
    path = tmp_path / "old.csv"
    path.write_text(OLD)
    assert is_old_log(path)
    assert {"no_settings", "no_clock", "lost_rows", "stand_in"} == set(codes(path))
    texts = {item.code: item.text for item in audit(path).result.findings}
    assert "1 of 5 seconds have no row: 3." == texts["lost_rows"]
    assert 0.00833333 == audit(path).result.energy_wh
    assert read_old_log(path)[0].power_w is None


@pytest.mark.parametrize("text", ["1,2,3\n", "1,2,3,4,x\n", ""])
def test_something_else_is_no_old_log(tmp_path: Path, text: str) -> None:
    """A first line without five numbers makes no old log."""
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert not is_old_log(path)


def test_a_broken_row_of_an_old_log_is_named(tmp_path: Path) -> None:
    """The error names file and line."""
    path = tmp_path / "old.csv"
    path.write_text("1,2,3,4,5\n1,2,3\n")
    with pytest.raises(ValueError, match="old.csv, line 2: 3 fields"):
        audit(path)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,2,3,4,1e30", "line 2: 1e30 is no time of a run"),
        ("1" * 200_000, "field larger than"),
    ],
)
def test_numbers_beyond_all_measure_are_refused(tmp_path: Path, row: str, words: str) -> None:
    """A time that no run lasts, and a field without end, are faults of the log."""
    path = tmp_path / "old.csv"
    path.write_text(f"1,2,3,4,5\n{row}\n")
    with pytest.raises(ValueError, match=f"old.csv.*{words}"):
        audit(path)


@pytest.mark.parametrize("read", [load_facts, load_course])
def test_facts_of_any_depth_are_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    """JSON that is nested without end is a broken file of facts."""
    (tmp_path / "log.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="log.json"):
        read(tmp_path / "log.csv")


@pytest.mark.skipif(not REAL_LOGS.is_dir(), reason="the two real logs of 2015 are not here")
def test_the_two_real_logs_of_2015() -> None:
    """One log of 2015 lost 13 of 300 seconds without a load; the other cannot be proved right."""
    long = audit(REAL_LOGS / "wt310_log_300s.csv").result
    findings = {item.code: item.text for item in long.findings}
    assert Verdict.INVALID is long.verdict
    assert findings["lost_rows"].startswith("13 of 300 seconds have no row: 20, 41, 63")
    assert "drew -3.6e-09 W on average" in findings["no_load"]
    short = audit(REAL_LOGS / "wt310_log_30s.csv").result
    assert Verdict.SUSPECT is short.verdict
    assert 0.000729776 == short.energy_wh
    assert {"no_settings", "no_clock", "stand_in"} == {item.code for item in short.findings}
