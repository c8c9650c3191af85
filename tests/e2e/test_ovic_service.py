# SPDX-License-Identifier: Apache-2.0
"""OVIC's submission service: models by HTTP, a queue that is killed, limits, the leaderboard."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from PIL import Image

from tests.support.full_disk import fill_up
from tests.support.running import (
    PATIENCE_S,
    Program,
    alive,
    descendants,
    eventually,
    kill_all,
    program,
    referee,
    request,
    running_as,
)

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = pytest.mark.slow

COLOURS = {"red": (250, 10, 10), "green": (10, 250, 10), "blue": (10, 10, 250)}
OVER = ("refused", "scored", "failed", "void")
_TRIES = 10


def model(classes: int = 1001) -> bytes:
    """Return a classifier that is right on two of the three images."""
    from tests.support import tflite_models

    return tflite_models.classifier(classes)


def hanging() -> bytes:
    """Return a model that never ends its first run."""
    from tests.support import tflite_models

    return tflite_models.looping(float("inf"))


def slow() -> bytes:
    """Return a model whose every run takes some milliseconds."""
    from tests.support import tflite_models

    return tflite_models.looping(30_000.0)


@pytest.fixture
def contest(event: Path) -> Path:
    """Return an event that takes classifiers for three pictures, without a meter."""
    folder = event.parent / "colours"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (60, 40), colour).save(folder / f"{name}.png")
    (folder / "labels.csv").write_text("file,label\nred.png,1\ngreen.png,2\nblue.png,7\n")
    configure(event, "resource", '"none"')
    for key, value in {
        "classification_images": f'"{folder}"',
        "classification_ground_truth": f'"{folder / "labels.csv"}"',
        # A busy machine spoils each measurement of a model that runs for microseconds.
        # None of these tests is about that.
        "tolerance": "1000.0",
        "attempts": "100",
        "tries": "100",
        "runs": "50",
        "slower": "1000.0",
        "entries_a_day": "20",
    }.items():
        configure(event, key, value)
    return event


def configure(event: Path, key: str, value: str) -> None:
    """Set a key of the configuration."""
    text, count = re.subn(f"(?m)^(?:# )?{key} = .*$", f"{key} = {value}", event.read_text())
    assert 1 == count, key
    event.write_text(text)


class Team:
    """A team that is logged in at the contest server."""

    def __init__(self, contest: Path, running: Program, name: str) -> None:
        done = referee("team", "add", name, "--config", str(contest))
        assert 0 == done.returncode, done.stderr
        self.password = done.stdout.strip().removeprefix(f"{name}: ")
        self.name, self.running = name, running
        form = f"username={quote(name)}&password={self.password}".encode()
        status, token = request(f"{running.contest}/ovic/login", form, {})
        assert 200 == status
        self.headers = {"Authorization": f"Bearer {token.decode()}", "Accept": "application/json"}

    def submit(self, content: bytes, task: str = "classification") -> tuple[int, dict[str, Any]]:
        """Send a model and return the status and the answer."""
        url = f"{self.running.contest}/ovic/entries?task={task}&name=m.tflite"
        status, answer = request(url, content, self.headers)
        return status, json.loads(answer)

    def entry(self, number: int) -> dict[str, Any]:
        """Return an entry of the team."""
        url = f"{self.running.contest}/ovic/entries/{number}"
        status, answer = request(url, None, self.headers)
        assert 200 == status, answer
        found: dict[str, Any] = json.loads(answer)
        return found

    def until(self, number: int, *states: str) -> dict[str, Any]:
        """Wait until an entry is in one of these states, and return it."""

        def look() -> dict[str, Any] | None:
            found = self.entry(number)
            return found if found["state"] in states else None

        return eventually(look, f"entry {number} to be {' or '.join(states)}")


def queue_of(running: Program) -> int:
    """Return the process id of the queue's program.

    A process that it has just forked bears its name for a moment, and comes behind it.
    """
    return running_as("ovic", running.child.pid)[0]


def kinds(entry: dict[str, Any]) -> list[str]:
    """Return what happened to an entry."""
    return [event["kind"] for event in entry["events"]]


def test_a_model_is_received_validated_measured_and_scored(contest: Path) -> None:
    """An entry goes through its states to a score; its model lies private under its SHA-256."""
    with program(["serve", "--config", str(contest)], contest.parent) as running:
        ants = Team(contest, running, "ants")
        status, receipt = ants.submit(model())
        # The queue may have taken the entry before the receipt was written.
        assert (201, 19) == (status, receipt["left_today"])
        assert receipt["state"] in ("received", "validating", "waiting", "measuring")
        found = ants.until(receipt["entry"], *OVER)
        assert "scored" == found["state"]
        assert ["validating", "waiting", "measuring", "scored"] == kinds(found)
        assert 200 / 3 == pytest.approx(found["accuracy"])
        assert found["latency_ms"] > 0 and found["valid"]
        assert found["metric"] == pytest.approx(found["accuracy"] - found["frontier"])
        kept = contest.parent / "data/models" / f"{receipt['model_sha256']}.tflite"
        assert model() == kept.read_bytes()
        assert (0o600, 0o700) == tuple(
            stat.S_IMODE(path.stat().st_mode) for path in (kept, kept.parent)
        )
        assert [kept] == list(kept.parent.iterdir())
        # The same bytes again are the same entry, and spend nothing.
        status, again = ants.submit(model())
        assert (200, receipt["entry"], 19) == (status, again["entry"], again["left_today"])
        done = referee(
            *("ovic", "submit", str(kept), "--task", "classification", "--url", running.contest),
            *("--team", "ants", "--password", ants.password, "--wait", "3"),
        )
        assert 0 == done.returncode, done.stderr
        assert done.stdout.startswith("entry 1, ants, classification: scored, metric ")
        board = json.loads(request(f"{running.console}/ovic/leaderboard", None, {})[1])
        (task,) = board["tasks"]
        assert [(1, "ants", found["metric"])] == [
            (row["rank"], row["team"], row["metric"]) for row in task["rows"]
        ]


def test_a_queue_that_is_killed_in_a_measurement_ends_with_a_score(contest: Path) -> None:
    """SIGKILL during a measurement leaves no model behind, and the entry is measured again."""
    # 100,000 runs of this model take some minutes, so that no look at them can come too late.
    configure(contest, "runs", "100000")
    configure(contest, "process_s", "3600.0")
    with program(["serve", "--config", str(contest)], contest.parent) as running:
        ants = Team(contest, running, "ants")
        number = ants.submit(slow())[1]["entry"]
        ants.until(number, "measuring")
        killed = queue_of(running)

        def worker() -> int | None:
            rows = descendants(killed)
            return next((pid for pid, command in rows if "ovic.judging.worker" in command), None)

        left_behind = eventually(worker, "the model's process")
        configure(contest, "runs", "50")
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: not alive(left_behind), "the model's process to end")
        found = ants.until(number, *OVER)
        assert "scored" == found["state"]
        first = ["validating", "waiting", "measuring", "interrupted", "measuring"]
        assert first == kinds(found)[:5]
        assert "scored" == kinds(found)[-1]
        assert queue_of(running) != killed


def test_an_entry_survives_the_end_of_everything(contest: Path) -> None:
    """An acknowledged model is scored after SIGKILL of the supervisor and all its programs."""
    arguments = ["serve", "--config", str(contest)]
    with program(arguments, contest.parent) as running:
        ants = Team(contest, running, "ants")
        number = ants.submit(model())[1]["entry"]
        kill_all([running.child.pid, *(pid for pid, _ in descendants(running.child.pid))])
    with program(arguments, contest.parent) as running:
        ants.running = running  # The token is still good.
        assert "scored" == ants.until(number, *OVER)["state"]


def test_other_rules_judge_refused_models_again_and_take_no_score(contest: Path) -> None:
    """Without a background a refused model is scored; then the contest does not start with one."""
    arguments = ["serve", "--config", str(contest)]
    with program(arguments, contest.parent) as running:
        ants = Team(contest, running, "ants")
        number = ants.submit(model(1000))[1]["entry"]
        refused = ants.until(number, *OVER)
        assert ("refused", "background_class") == (refused["state"], refused["failures"][0]["rule"])
    configure(contest, "background", "false")
    with program(arguments, contest.parent) as running:
        ants.running = running
        found = ants.until(number, "scored")
        assert ["refused", "again", "validating"] == kinds(found)[1:4]
    configure(contest, "background", "true")
    done = referee(*arguments)
    assert 2 == done.returncode
    assert "background was false and is true, and entry 1 of ants" in done.stderr
    assert "Traceback" not in done.stderr
    checked = referee("check", "--config", str(contest))
    assert "background was false and is true" in checked.stdout + checked.stderr


def test_a_model_that_hangs_is_refused_and_the_next_is_scored(contest: Path) -> None:
    """A model that never ends is refused with a sentence; the one behind it gets its score.

    Where other programs take more than three quarters of its core, the referee cannot tell. It says
    so after its tries, and an operator puts the entry into the line again.
    """
    configure(contest, "process_s", "4.0")
    with program(["serve", "--config", str(contest)], contest.parent) as running:
        ants, bees = (Team(contest, running, name) for name in ("ants", "bees"))
        first, second = ants.submit(hanging())[1], bees.submit(model())[1]
        assert second["place"] in (1, 2)
        refused = judged(ants, first["entry"], contest)
        assert ("refused", "time") == (refused["state"], refused["failures"][0]["rule"])
        assert "within 4 s" in refused["reasons"][0]
        assert "scored" == judged(bees, second["entry"], contest)["state"]


def judged(team: Team, number: int, contest: Path) -> dict[str, Any]:
    """Return an entry that the referee could judge, after few or many tries."""
    for _ in range(_TRIES):
        found = team.until(number, *OVER)
        if found["state"] != "failed":
            return found
        assert "through no fault of the model" in found["text"]
        referee("ovic", "again", str(number), "--config", str(contest))
    raise AssertionError(f"{_TRIES} times the machine was too busy: {found['text']}")


def test_a_disk_that_fills_during_an_upload_acknowledges_nothing(
    contest: Path, small_disk: Path
) -> None:
    """The answer to a model that the disk does not take is 500, and there is no entry."""
    text = contest.read_text().replace('mode = "event"', 'mode = "practice"')
    contest.write_text(re.sub('folder = ".*data"', f'folder = "{small_disk}"', text))
    (contest.parent / "signing.pub").unlink()  # Its private part is in the folder of before.
    with program(["serve", "--config", str(contest)], contest.parent) as running:
        form = b"username=ants&password=practice"
        token = request(f"{running.contest}/ovic/login", form, {})[1].decode()
        host, port = running.contest.removeprefix("http://").split(":")
        length = 4 << 20
        head = f"POST /ovic/entries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        head += f"Content-Length: {length}\r\nConnection: close\r\n\r\n"
        with socket.create_connection((host, int(port)), PATIENCE_S) as link:
            link.sendall(head.encode() + bytes(length // 2))
            coming = small_disk / "models"
            eventually(lambda: coming.is_dir() and any(coming.iterdir()), "the model to come in")
            fill_up(small_disk / "filler")
            link.sendall(bytes(length - length // 2))
            answer = b"".join(iter(lambda: link.recv(1 << 16), b""))
        assert answer.startswith(b"HTTP/1.1 500 ")
        assert b"Nothing was stored" in answer
        assert [] == list(coming.iterdir())
        (small_disk / "filler").unlink()
        headers = {"Authorization": f"Bearer {token}"}
        own = json.loads(request(f"{running.contest}/ovic/entries", None, headers)[1])
        assert [] == own["entries"]
        url = f"{running.contest}/ovic/entries"
        assert 201 == request(url, model(), headers)[0]


def test_two_at_once_and_no_more_than_a_day_takes(contest: Path) -> None:
    """Of many models that a team sends at once, exactly as many as a day takes become entries."""
    configure(contest, "entries_a_day", "2")
    configure(contest, "model_mb", "1")
    with program(["serve", "--config", str(contest)], contest.parent) as running:
        ants = Team(contest, running, "ants")
        contents = [model(1000) + bytes(n) for n in range(6)]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(ants.submit, contents))
        assert [201, 201, 403, 403, 403, 403] == sorted(status for status, _ in answers)
        refusals = [answer for status, answer in answers if status == 403]
        assert {"entries_spent"} == {answer["code"] for answer in refusals}
        assert "The next day begins at 0:00 UTC" in refusals[0]["detail"]
        numbers = [answer["entry"] for status, answer in answers if status == 201]
        assert [1, 2] == sorted(numbers)
        # 1000 classes break a rule of this contest: a refusal spends the day, too.
        assert {"refused"} == {ants.until(number, *OVER)["state"] for number in numbers}
        status, answer = ants.submit(bytes(2 << 20))
        assert (413, "model_too_large") == (status, answer["code"])
        status, answer = Team(contest, running, "bees").submit(model())
        assert 201 == status
