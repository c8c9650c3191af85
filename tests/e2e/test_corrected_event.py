# SPDX-License-Identifier: Apache-2.0
"""An organiser's mistake is repaired in mid-event: a wrong box, another length, a new blacklist."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Material, make_event
from tests.support import shelly_plug
from tests.support.ports import free_port
from tests.support.running import Program, client, eventually, get, program, referee

pytestmark = pytest.mark.slow


class Corrected:
    """An event whose ground truth lies in its own folder, so that somebody may correct it."""

    def __init__(self, folder: Path, material: Material) -> None:
        self.folder, self.answers = folder, material.answers
        self.config = make_event(folder, material)
        self.truth = self.config.parent / "truth.json"
        shutil.copy(material.ground_truth, self.truth)
        self.edit(f'"{material.ground_truth}"', '"truth.json"')

    def edit(self, old: str, new: str) -> None:
        """Change the configuration."""
        text = self.config.read_text()
        assert old in text
        self.config.write_text(text.replace(old, new))

    def measure_by(self, resource: str) -> None:
        """Let a meter of another kind measure, with its own settings."""
        told = f'[meter]\nresource = "{resource}"\nallow_unofficial = true\n\n'
        text = re.sub(r"(?ms)^\[meter\]$.*?(?=^\[|\Z)", lambda _: told, self.config.read_text())
        self.config.write_text(text)

    def referee(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command for this event."""
        return referee(*words, "--config", str(self.config))

    def corrected(self, path: Path) -> Path:
        """Write a ground truth in which the boxes of the first image are elsewhere."""
        document = json.loads(self.truth.read_text())
        first = document["images"][0]["id"]
        for one in document["annotations"]:
            if one["image_id"] == first:
                one["bbox"] = [0.0, 0.0, 3.0, 3.0]
        path.write_text(json.dumps(document))
        return path

    def blacklist(self) -> Path:
        """Write a blacklist of a pair that has a box."""
        document = json.loads(self.truth.read_text())
        one = document["annotations"][0]
        path = self.config.parent / "black.csv"
        path.write_text(f"{one['image_id']},{one['category_id']}\n")
        return path

    def apply(self, number: int, *files: str) -> None:
        """Make a proposal and apply it."""
        made = self.referee("proposal", "make", "--reason", "a wrong box", *files)
        assert 0 == made.returncode, made.stderr
        done = self.referee("proposal", "apply", str(number), "--reason", "agreed")
        assert 0 == done.returncode, done.stderr

    @contextmanager
    def serve(self) -> Iterator[Program]:
        """Serve the event."""
        with program(["serve", "--config", str(self.config)], self.folder) as running:
            yield running

    def play(self, running: Program, team: str, number: int, extra_s: int = 0) -> None:
        """Let a team run a session with the sample client, to its score.

        With `extra_s` it gets more time before its login.
        """
        added = self.referee("team", "add", team)
        assert 0 == added.returncode, added.stderr
        password = added.stdout.strip().rpartition(" ")[2]
        running.act("sessions", team=team)
        running.act(f"sessions/{number}/arm")
        if extra_s:
            length_s = running.lane()["current"]["length_s"]
            told = {"seconds": extra_s, "reason": "a late start", "seen_length_s": length_s}
            running.act(f"sessions/{number}/extra", **told)
        words = ["--answers", str(self.answers), "--ids", str(self.truth), "--no-logout"]
        client(running.contest, *words, user=team, password=password)
        running.scored(number)

    def results(self) -> dict[str, Any]:
        """Return the results as JSON."""
        read: dict[str, Any] = json.loads(self.referee("results", "--json").stdout)
        return read

    def marked(self) -> dict[str, list[str]]:
        """Return by team the conditions that are marked, the same in the CSV."""
        entries = self.results()["entries"]
        table = csv.DictReader(io.StringIO(self.referee("results", "--csv").stdout))
        assert {row["team"]: bool(row["differs"]) for row in table} == {
            one["team"]: bool(one["differs"]) for one in entries
        }
        return {one["team"]: [it["condition"] for it in one["differs"]] for one in entries}

    def verify(self, number: int, truth: Path, *more: str) -> int:
        """Export a session's bundle, verify it, and return the exit code."""
        bundle = self.folder / f"bundle-{number}-{truth.stem}.zip"
        assert 0 == self.referee("export", str(number), "--out", str(bundle)).returncode
        return referee("verify", str(bundle), "--ground-truth", str(truth), *more).returncode


def test_a_truth_corrected_after_two_teams(tmp_path: Path, material: Material) -> None:
    """In place it is an alarm, and no start; by a proposal it holds for the teams that come."""
    event = Corrected(tmp_path, material)
    old = shutil.copy(event.truth, event.config.parent / "old.json")
    with event.serve() as running:
        event.play(running, "ants", 1)
        event.play(running, "bees", 2)
        event.corrected(event.truth)

        def alarm() -> str | None:
            alarms = json.dumps(running.board())
            return alarms if "truth.json: has changed" in alarms else None

        told = eventually(alarm, "an alarm about the changed file")
        assert "Put the old file back" in told and "referee proposal make" in told
    refused = event.referee("serve")
    assert 0 != refused.returncode and "Traceback" not in refused.stderr
    for part in ("Put the old file back", "--ground-truth new.json", "proposal apply"):
        assert part in refused.stderr
    shutil.copy(old, event.truth)
    new = event.corrected(event.config.parent / "new.json")
    before = {one["team"]: one["mean_ap"] for one in event.results()["entries"]}
    with event.serve() as running:
        event.apply(1, "--ground-truth", str(new), "--session", "1")
        event.play(running, "crabs", 3)
        assert {"ants": [], "bees": ["ground_truth"], "crabs": []} == event.marked()
        assert any("different ground truth" in point for point in event.results()["open"])
        event.apply(2)  # With the files in force, and no option.
    shutil.copy(new, event.truth)  # The corrected file takes the old one's place: the same bytes.
    with event.serve() as running:
        event.play(running, "drones", 4)
        after = {one["team"]: one["mean_ap"] for one in event.results()["entries"]}
    assert 1 == len(set(after.values())) and before["ants"] != after["ants"]
    assert {"ants": [], "bees": [], "crabs": [], "drones": []} == event.marked()
    assert [] == event.results()["open"]
    for number in range(1, 5):
        assert (0, 1) == (event.verify(number, new), event.verify(number, Path(old)))
    assert 0 == event.referee("finalize", "--approved-by", "Kim").returncode
    assert 0 == event.referee("audit").returncode


def test_a_length_changed_after_the_first_team(tmp_path: Path, material: Material) -> None:
    """The other length is marked and open, and final results need a review with a reason."""
    event = Corrected(tmp_path, material)
    with event.serve() as running:
        event.play(running, "ants", 1)
    event.edit("seconds = 5", "seconds = 7")
    with event.serve() as running:
        event.play(running, "bees", 2)
        event.play(running, "crabs", 3)
    assert {"ants": ["length_s"], "bees": [], "crabs": []} == event.marked()
    assert "5 s, others 7 s" in event.referee("results").stdout
    assert "5 s, others 7 s" in event.referee("results", "--latex").stdout
    (point,) = event.results()["open"]
    assert "Session 1 of 'ants' was not run as the others were: 5 s, others 7 s." in point
    assert 0 != event.referee("finalize", "--approved-by", "Kim").returncode
    assert 0 == event.referee("review", "1", "--reason", "no time for a re-run").returncode
    assert 0 == event.referee("finalize", "--approved-by", "Kim").returncode
    assert ["length_s"] == event.marked()["ants"]  # Final results keep the mark.
    for number in range(1, 4):
        assert 0 == event.verify(number, event.truth)


def test_a_blacklist_added_in_mid_event(tmp_path: Path, material: Material) -> None:
    """A live scorer takes it at once, a restart too, without a line in contest.toml."""
    event = Corrected(tmp_path, material)
    listed = event.blacklist()
    with event.serve() as running:
        event.play(running, "ants", 1)
        event.apply(1, "--blacklist", str(listed))
        event.play(running, "bees", 2)
    listed.unlink()  # Its bytes are a fact.
    with event.serve() as running:
        event.play(running, "crabs", 3)
        assert {"ants": [], "bees": [], "crabs": []} == event.marked()
        for number in range(1, 4):
            assert 0 == event.verify(number, event.truth)
        event.apply(2, "--no-blacklist", "--session", "3")
        assert ["blacklist"] == event.marked()["crabs"]


class Drawing(shelly_plug.ShellyPlug):
    """A plug whose counter follows the time."""

    def answer(self, path: str) -> tuple[int, str]:
        """Answer with what the counter has come to."""
        self.total_wh = 1000.0 + self.power_w * time.monotonic() / 3600
        return super().answer(path)


def surfaces(event: Corrected, running: Program, audience: str) -> dict[str, str]:
    """Return what each surface says of the ranking."""
    page = event.folder / "results.html"
    assert 0 == event.referee("results", "--html", str(page)).returncode
    joint = ["--follow", f"Hall=http://{audience}", "--data", str(event.folder / "joint")]
    return {
        "text": event.referee("results").stdout,
        "CSV": event.referee("results", "--csv").stdout,
        "JSON": event.referee("results", "--json").stdout,
        "LaTeX": event.referee("results", "--latex").stdout,
        "HTML": page.read_text(),
        "console": get(f"{running.console}/results/now")[1].decode(),
        "audience and its page of a team": get(f"http://{audience}/view")[1].decode(),
        "joint board": referee("board", *joint).stdout,
    }


def test_more_time_other_rules_and_another_meter(tmp_path: Path, material: Material) -> None:
    """Each is marked on every surface, is open until somebody lets it stand, and stays marked."""
    event = Corrected(tmp_path, material)
    audience = f"127.0.0.1:{free_port()}"
    event.edit('# scoreboard = ""', f'scoreboard = "{audience}"')
    with event.serve() as running:
        event.play(running, "ants", 1, extra_s=2)
        event.play(running, "bees", 2)
        event.play(running, "crabs", 3)
        event.apply(1, "--blacklist", str(event.blacklist()), "--session", "2")
    with shelly_plug.serving(Drawing()) as at:
        event.measure_by(f"shelly:{at}")
        with event.serve() as running:
            event.play(running, "drones", 4)
            odd = {"ants": "extra_s", "bees": "blacklist", "crabs": "", "drones": "meter"}
            found = {team: next(iter(marks), "") for team, marks in event.marked().items()}
            assert odd == found
            said = surfaces(event, running, audience)
            feed = [
                json.loads(line)
                for line in get(f"http://{audience}/feed?stream=false")[1].splitlines()
            ]
    for mark in ("2 s more time", "blacklist", "meter Shelly"):
        assert {} == {surface: text for surface, text in said.items() if mark not in text}
    told = [it["condition"] for one in feed for it in one.get("data", {}).get("differs", [])]
    assert {"extra_s", "blacklist", "meter"} <= set(told)
    refused = event.referee("finalize", "--approved-by", "Kim")
    assert 0 != refused.returncode
    for mark in ("2 s more time", "blacklist", "meter Shelly"):
        assert mark in refused.stderr
    event.apply(2)
    for number in range(1, 5):
        assert 0 == event.referee("review", str(number), "--reason", "let it stand").returncode
    done = event.referee("finalize", "--approved-by", "Kim")
    assert 0 == done.returncode, done.stderr
    assert {"ants": ["extra_s"], "bees": [], "crabs": [], "drones": ["meter"]} == event.marked()
