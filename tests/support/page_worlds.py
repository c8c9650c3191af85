# SPDX-License-Identifier: Apache-2.0
"""The folders in which the commands of the documents run: what a reader would have by then."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from referee.cli import main
from referee.service.evidence.bundle import write_bundle
from referee.service.setup.config_file import dump_config
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.played_sessions import play

TEAMS = ("Rocket small", "Rocket big", "Busy Bees")


def write_files_of(page: Path, folder: Path) -> None:
    """Write the files that a page shows, each as a block with the file's name behind its kind."""
    blocks = re.findall(r"^```\w+ (\S+)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.M)
    for name, content in blocks:
        (folder / name).write_text(content, encoding="utf-8")


def new_event(folder: Path) -> None:
    """Make an event that nobody has registered for."""
    event = folder / "event"
    event.mkdir()
    make_contest(event, FakeClock(), mode="event", seconds=600).database.close()


def played_event(folder: Path) -> None:
    """Make an event after its last session: one counts, one is void, and one is SUSPECT."""
    home = folder / "event"
    home.mkdir()
    clock = FakeClock()
    contest = make_contest(home, clock, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register(*TEAMS)
        event.play("Rocket small")
        number = event.play("Rocket big")
        desk.steps_of(number).void(number, "Kim", "meter unplugged")
        event.play("Busy Bees", found=2, verdict="SUSPECT")
    contest.database.close()
    (folder / "new.csv").write_text("1,1\n")


def final_event(folder: Path) -> None:
    """Make an event whose results are final."""
    played_event(folder)
    where = ["--config", str(folder / "event/contest.toml")]
    for words in (
        ["review", "3", "--reason", "the gap lies before the load", "--by", "Ada"],
        ["team", "withdraw", "Rocket big", "--reason", "did not come"],
        ["finalize", "--approved-by", "Ada", "--approved-by", "Grace"],
    ):
        assert 0 == main([*words, *where])


def evidence(folder: Path) -> None:
    """Make three sessions that can be verified, with all that a demo and a rehearsal leave."""
    home = folder / "event"
    home.mkdir()
    contest = make_contest(home, FakeClock(), mode="event", seconds=20)
    numbers = [play(contest) for _ in range(3)]
    scenes = folder / "demo/scenes"
    scenes.mkdir(parents=True)
    write_bundle(contest, numbers[0], folder / "demo/session1.zip")
    contest.database.close()
    shutil.copytree(home / "images", scenes / "images")
    truth = (home / "truth.json").read_text()
    for path in (scenes / "ground_truth.json", folder / "annotations.json"):
        path.write_text(truth)
    _write_answers(json.loads(truth), scenes / "answers.json")
    (folder / "season").mkdir()
    shutil.copy(folder / "demo/session1.zip", folder / "season")
    # As in a rehearsal, the configuration lies in the folder and names it by its absolute path.
    shutil.copytree(contest.config.storage.folder, folder / "practice-data")
    text = dump_config(contest.config)
    text = text.replace(str(contest.config.storage.folder), str(folder / "practice-data"))
    (folder / "practice-data/contest.toml").write_text(text)


def _write_answers(truth: dict[str, list[dict[str, object]]], path: Path) -> None:
    """Write the right box of each image as COCO results."""
    boxes = truth["annotations"]
    found = [{key: box[key] for key in ("image_id", "category_id", "bbox")} for box in boxes]
    path.write_text(json.dumps([box | {"score": 0.9} for box in found]))


WORLDS: dict[str, Callable[[Path], None]] = {
    "camera.md": evidence,
    "console.md": played_event,
    "contestants.md": evidence,
    "evidence.md": evidence,
    "monitoring.md": played_event,
    "operators.md": final_event,
    "organisers.md": new_event,
    "researchers.md": evidence,
    "results.md": played_event,
    "season.md": evidence,
    "settings.md": new_event,
}
"""What a page's commands find, by the page; those of other pages find the page's files alone."""
