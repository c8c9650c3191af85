# SPDX-License-Identifier: Apache-2.0
"""Contests that take models: a configuration with a task, and entries in any state."""

from __future__ import annotations

import json
from dataclasses import replace

from PIL import Image

from referee.errors import InputError
from referee.extras.ovic.submission.entries import (
    NewEntry,
    NewEvent,
    insert_entry,
    record_entry_event,
)
from referee.extras.ovic.submission.intake import SubmissionIntake, database_commit
from referee.extras.ovic.submission.tasks import open_tasks
from referee.service.setup.config_file import load_config
from tests.support.contests import make_contest

UTC = "2026-06-07T12:00:00+00:00"
COLOURS = {"red": (250, 10, 10), "green": (10, 250, 10), "blue": (10, 10, 250)}


def make_ovic_contest(folder, clock=None, *, mode="practice", **ovic):
    """Prepare a contest that takes classifiers for three pictures, and open it."""
    contest = make_contest(folder, clock, mode=mode)
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    for name, colour in COLOURS.items():
        Image.new("RGB", (60, 40), colour).save(pictures / f"{name}.png")
    (folder / "labels.csv").write_text("file,label\nred.png,1\ngreen.png,2\nblue.png,7\n")
    settings = {
        "classification_images": "pictures",
        "classification_ground_truth": "labels.csv",
        "tolerance": 1000.0,
        "attempts": 100,  # A busy machine spoils some measurements.
        "runs": 50,
    } | ovic
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    path = contest.config.path
    path.write_text("\n".join([path.read_text(), "[ovic]", *lines, ""]))
    try:
        return replace(contest, config=load_config(path))
    except InputError:
        contest.database.close()
        raise


def make_intake(contest) -> SubmissionIntake:
    """Return the intake of a contest, for one thread."""
    commit = database_commit(contest.database)
    return SubmissionIntake(
        contest.config, contest.clock, contest.database, commit, open_tasks(contest.config)
    )


def hand_in(
    intake: SubmissionIntake, content: bytes, team="ants", task="classification", name="m.tflite"
):
    """Hand a model to the intake, and return what its team gets."""
    found = intake.require_acceptable(task, len(content))
    model = intake.new_model()
    try:
        model.add(content)
        stored = model.keep()
    finally:
        model.drop()
    return intake.enter(team, found, stored, name, "10.0.0.2")


def new_entry(team="ants", number=1, task="classification") -> NewEntry:
    """Return an entry of a team, with a model of its own."""
    return NewEntry(team, task, f"{number:064x}", 1000, "m.tflite", UTC, UTC[:10], "10.0.0.2")


def put_entry(database, *kinds, team="ants", number=1, figures=(50.0, 9.0), text="") -> int:
    """Store an entry with these events, and return its number."""
    with database.write() as connection:
        entry = insert_entry(connection, new_entry(team, number))
        for kind in kinds:
            accuracy, latency_ms = figures if kind == "scored" else (None, None)
            record_entry_event(
                connection,
                entry,
                NewEvent(
                    kind,
                    UTC,
                    actor="test",
                    text=text,
                    accuracy=accuracy,
                    latency_ms=latency_ms,
                    build="a build" if kind == "scored" else None,
                ),
            )
    return entry


SCORED = ("validating", "waiting", "measuring", "scored")
"""What happens to an entry on its way to a score."""
