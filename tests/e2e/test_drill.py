# SPDX-License-Identifier: Apache-2.0
"""`referee drill` with real processes: operators act by HTTP and by hand, and get their report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import IMAGES
from tests.support.running import PATIENCE_S, Program, alive, descendants, eventually

pytestmark = pytest.mark.slow

OPTIONS = ["--images", str(IMAGES), "--seconds", "25", "--sessions", "1", "--seed", "3"]


class Drill(Program):
    """A drill that runs: a program with a console, hands, and what it has told."""

    def __init__(self, child: subprocess.Popen[str], folder: Path) -> None:
        super().__init__(child)
        self._folder = folder

    def told(self) -> str:
        """Return what the drill has told the people in the room so far."""
        return (self._folder / "stderr.txt").read_text()

    def hand(self, word: str) -> None:
        """Type a word."""
        assert self.child.stdin is not None
        self.child.stdin.write(f"{word}\n")
        self.child.stdin.flush()

    def log(self) -> list[tuple[str, str]]:
        """Return the trainer's log so far: what happened, and to what."""
        lines = (self._folder / "event/drill/1/trainer.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        return [(row["what"], row.get("fault") or row.get("did", "")) for row in rows]

    def end(self) -> dict[str, object]:
        """Press Ctrl-C, and return the report."""
        self.child.send_signal(signal.SIGINT)
        assert 0 == self.child.wait(PATIENCE_S), self.told()
        report: dict[str, object] = json.loads((self._folder / "stdout.txt").read_text())
        return report


@contextmanager
def drilling(folder: Path, config: Path, *options: str) -> Iterator[Drill]:
    """Run a drill until its console can be used, and end it whatever happens."""
    with (folder / "stderr.txt").open("w") as errors, (folder / "stdout.txt").open("w") as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "referee", "drill", "--json", "--config", str(config), *options],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            text=True,
        )
    drill = Drill(child, folder)
    try:
        eventually(lambda: "Your hands" in drill.told() or child.poll() is not None, "the drill")
        drill.ready = drill.told()
        yield drill
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE_S)


def test_a_drill_tells_what_the_operators_did(event: Path, tmp_path: Path) -> None:
    """Two faults come in a session: one is dealt with, one is rightly left alone.

    Ctrl-C in the middle of the session ends all processes, and the report is there. The event's own
    folder has nothing but the drill.
    """
    before = sorted(path.name for path in event.parent.iterdir())
    faults = ["--fault", "meter-unplugged", "--fault", "server-killed"]
    with drilling(tmp_path, event, *OPTIONS, *faults) as drill:
        family = descendants(drill.child.pid)
        team = drill.board()["teams"][0]  # in the running order
        drill.act("sessions", team=team, operator="Kim")
        drill.act("sessions/1/arm", operator="Kim")
        alarms = eventually(lambda: drill.board()["alarms"], "the alarm of the meter")
        assert "Put its cable back" in alarms[0]["text"]  # as with a real meter
        shown = [{"lane": one["lane"], "text": one["text"]} for one in alarms]
        drill.act("alarms/seen", alarms=shown, operator="Kim")
        drill.hand("cable")
        eventually(lambda: ("over", "server-killed") in drill.log(), "the server to be back")
        family += descendants(drill.child.pid)
        report = drill.end()
    assert [] == [line for pid, line in family if alive(pid)]
    first, second = report["faults"]  # type: ignore[misc]
    assert ("meter-unplugged", "well done", 1) == _three(first)
    assert 0 <= first["alarm_after_s"] <= first["seen_after_s"] <= first["done_after_s"]
    assert "alarm seen (Kim)" == first["seen_by"]
    assert ("server-killed", "rightly left alone", 1) == _three(second)
    assert "well done" in (tmp_path / "event/drill/1/report.txt").read_text()
    assert ("fault", "meter-unplugged") in drill.log()
    assert {*before, "drill"} == {path.name for path in event.parent.iterdir()}


def _three(fault: dict[str, object]) -> tuple[object, ...]:
    return fault["fault"], fault["outcome"], fault["session"]
