# SPDX-License-Identifier: Apache-2.0
"""The judge tells a model's faults from the referee's, within its time."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging import confined
from referee.extras.ovic.judging.benchmark import TimedRuns, benchmark
from referee.extras.ovic.judging.entry import measure_until_stable
from referee.extras.ovic.rules.latency import Stability
from referee.extras.ovic.submission.judge import Judge, Refused
from referee.extras.ovic.submission.tasks import open_tasks

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
# Each answer needs a process that imports LiteRT.
pytestmark = pytest.mark.slow


@pytest.fixture
def task(contest):
    """Return the task of a contest whose machine may be slow."""
    return replace(open_tasks(contest.config)["classification"], slower=1000.0)


@pytest.fixture
def model(tmp_path):
    """Return a classifier that is right on two of three images, and its SHA-256."""
    from tests.support import tflite_models

    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_models.classifier())
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_good_model_has_its_accuracy_and_the_given_benchmark(task, model):
    """The benchmark is an argument: it gets the task's plan, and its latency counts."""
    seen = []

    def on_a_board(path, images, timing, progress):
        seen.append((path, len(images), timing))
        found = measure_until_stable(path, images, timing, progress)
        return replace(found, latency=replace(found.latency, mean=7.25))

    judge = Judge(300, on_a_board)
    judge.validate(task, *model)
    found = judge.measure(task, *model)
    assert (3, 2, 7.25) == (found.images, found.right, found.latency_ms)
    assert 200 / 3 == pytest.approx(found.accuracy)
    assert hashlib.sha256(task.ground_truth.read_bytes()).hexdigest() == found.truth_sha256
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(task.images.iterdir())
    ]
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == found.images_sha256
    assert [(model[0], 3, task.timing)] == seen


def test_a_model_that_breaks_a_rule_is_refused(task, model):
    """A classifier of 1001 classes breaks the rules of a contest without a background."""
    relaxed = replace(task, rules=replace(task.rules, background=False))
    with pytest.raises(Refused) as caught:
        Judge(300).validate(relaxed, *model)
    assert ["background_class"] == [failure.rule for failure in caught.value.failures]


def test_a_measurement_that_is_not_stable_is_our_fault(task, model):
    """The machine was busy, so the model is not refused."""

    def unstable(*arguments):
        found = measure_until_stable(*arguments)
        return replace(found, stability=Stability(0.5, 0.5, ("parts differ",)))

    with pytest.raises(Unavailable, match="No measurement was stable: parts differ"):
        Judge(300, unstable).measure(task, *model)


def test_an_entry_has_a_time_limit_as_a_whole(task, model):
    """When the time of the entry is over, the next message of the model's process ends it."""
    seconds, work = count(0, 4), count(0, 4)
    with pytest.raises(Refused) as caught:
        Judge(5, seconds=lambda: next(seconds), work_s=lambda: next(work)).measure(task, *model)
    assert "answered for and measured within 5 s" in str(caught.value)


def test_an_entry_that_is_late_without_work_is_no_fault_of_its_model(task, model):
    """Where the entry waits and works little, the machine is busy, and no entry is spent."""
    seconds = count(0, 4)
    with pytest.raises(Unavailable, match="was not over after 24 s, of which .* worked for 1 s"):
        Judge(5, seconds=lambda: next(seconds), work_s=iter([9.0, *[10.0] * 9]).__next__).measure(
            task, *model
        )


def test_a_model_that_fails_after_its_validation_is_refused(task, tmp_path, model, monkeypatch):
    """A model that never ends is stopped by the limit of its process, and refused."""
    monkeypatch.setattr(confined, "waited_s", lambda pid: 0.0)  # However busy this machine is.
    from tests.support import tflite_models

    path = tmp_path / "h.tflite"
    path.write_bytes(tflite_models.looping(float("inf")))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    hurried = replace(task, limits=replace(task.limits, seconds=5.0))
    with pytest.raises(Refused) as caught:
        Judge(300).measure(hurried, path, sha256)
    assert ["time"] == [failure.rule for failure in caught.value.failures]


def test_an_image_that_cannot_be_read_is_our_fault(task, model):
    """A damaged image of the organiser's is no reason to refuse a model."""
    (task.images / "red.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"the image red\.png cannot be read"):
        try:
            Judge(300).measure(task, *model)
        except Refused as refused:
            raise AssertionError("the model was blamed") from refused


@pytest.mark.parametrize("damage", [b"other bytes", None])
def test_a_damaged_file_is_our_fault(task, model, damage):
    """A model's file that is gone or changed is the referee's fault."""
    path, sha256 = model
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    for step in (Judge(300).validate, Judge(300).measure):
        with pytest.raises(Unavailable, match="cannot be read|is damaged"):
            step(task, path, sha256)


def measured_once(task):
    """Return a benchmark that gives one measurement of another model, without running it again."""

    def measure(path, images, timing, progress):
        runs = TimedRuns([[1.0] * 5] * timing.plan.runs, (1.0, 0.0), {})
        return benchmark(path, images, timing.plan, timing.limits, measure=lambda *_: runs)

    return measure


def test_the_ground_truth_is_hashed_as_it_is_read(task, model):
    """A pipe gives its bytes once: they are hashed, and the answers are judged by them."""
    content = task.ground_truth.read_bytes()
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    piped = replace(task, ground_truth=Path(f"/dev/fd/{reading}"))
    found = Judge(300, measured_once(task)).measure(piped, *model)
    os.close(reading)
    assert (3, 2) == (found.images, found.right)
    assert hashlib.sha256(content).hexdigest() == found.truth_sha256


@pytest.mark.parametrize("what", ["an image", "the model"])
def test_what_changes_while_it_is_judged_gives_no_figure(task, model, what):
    """The hashes of an entry are those of the files behind its figures, or there is none."""
    path = min(task.images.iterdir()) if what == "an image" else model[0]
    asked = []

    def seconds():
        asked.append(1)
        if len(asked) == 2:  # The first message of the process that answers.
            path.write_bytes(path.read_bytes() + b"\0")
        return 0.0

    with pytest.raises(Unavailable, match="changed while a model was judged|is damaged"):
        Judge(300, measured_once(task), seconds).measure(task, *model)
    assert len(asked) >= 2
