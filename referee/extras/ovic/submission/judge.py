# SPDX-License-Identifier: Apache-2.0
"""The judge of one entry: whether its model is valid, its accuracy and its latency."""

from __future__ import annotations

import hashlib
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from referee.errors import Unavailable
from referee.extras.ovic.judging.benchmark import Measurement
from referee.extras.ovic.judging.dataset import Dataset, images_in
from referee.extras.ovic.judging.entry import Timing, Trial, accuracy_of, measure_until_stable
from referee.extras.ovic.judging.jobs import ModelFault
from referee.extras.ovic.judging.machine import build_of
from referee.extras.ovic.judging.validation import validated
from referee.extras.ovic.rules.detections import Overhang
from referee.extras.ovic.rules.model_rules import Failure
from referee.extras.ovic.rules.pace import PATIENCE, Pace, pace_of
from referee.extras.ovic.submission.tasks import Task
from referee.formats.hashed_reads import HashedReads

Progress = Callable[[int, int], None]
Measure = Callable[[Path, Sequence[Path], Timing, Progress], Measurement]
"""A benchmark with the arguments of `measure_until_stable`, on this machine or on a board."""


class Refused(Exception):
    """A model that breaks rules; `failures` says which."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(" ".join(map(str, failures)))
        self.failures = tuple(failures)


@dataclass(frozen=True)
class Judged:
    """An accuracy in percent over images, a mean latency, and the record of the benchmark.

    `build` says in words what measured.
    `truth_sha256` is that of the ground truth's file, and `images_sha256` covers the names and
    bytes of all images: accuracies on two sets of data are not comparable.
    """

    accuracy: float
    images: int
    right: int | None
    latency_ms: float
    benchmark: dict[str, object]
    truth_sha256: str
    images_sha256: str
    build: str


class Judge:
    """Validates and measures models, one at a time; every step of it has a time limit.

    `entry_s` bounds the answers and the measurement of one model together. `measure` is the
    benchmark. `seconds` is a monotonic clock, and `work_s` the processor time of all processes that
    have run for models so far.
    """

    def __init__(
        self,
        entry_s: float,
        measure: Measure = measure_until_stable,
        seconds: Callable[[], float] = time.monotonic,
        work_s: Callable[[], float] | None = None,
    ) -> None:
        self._entry_s = entry_s
        self._measure = measure
        self._seconds = seconds
        self._work_s = work_s or _children_work_s

    def validate(self, task: Task, model: Path, sha256: str) -> Overhang | None:
        """Raise `Refused` if the model breaks a rule; return what a detector's boxes do.

        It is tried on some of the task's images, too. Raises `InputError` for images that cannot be
        used, and `Unavailable` if its file is damaged, or if the machine is too busy to tell
        whether the model is too slow.
        """
        _require_intact(model, sha256)
        images = images_in(task.images)
        found = validated(model, task.rules, task.limits, task.slower, task.attempts, images)
        if found.failures:
            raise Refused(found.failures)
        return found.overhang if task.name == "detection" else None

    def measure(self, task: Task, model: Path, sha256: str) -> Judged:
        """Return accuracy and latency of a valid model.

        Raises `Refused` if the model fails or takes too long, and `InputError` for images or a
        ground truth that cannot be used. Raises `Unavailable` for a measurement that is not stable,
        for a model's file that is not as it was stored, for images that change meanwhile, and where
        the machine was too busy for the entry to end in time.
        """
        _require_intact(model, sha256)
        watch = partial(self._watch, self._seconds(), self._work_s())
        images = images_in(task.images)
        try:
            # The latency comes first: on a busy machine the long accuracy would be in vain.
            measurement = self._measure(model, images, task.timing, watch)
            if not measurement.stability.stable:
                raise Unavailable(
                    f"No measurement was stable: {' '.join(measurement.stability.reasons)}"
                )
            reads = HashedReads()
            truth_sha256 = reads.sha256_of(task.ground_truth)
            images_sha256 = _sha256_of_all(images)
            trial = Trial(model, task.rules, task.plan.central_share, task.limits, watch)
            accuracy = accuracy_of(trial, Dataset(task.images, task.ground_truth, reads.read))
        except ModelFault as fault:
            raise Refused([fault.failure]) from fault
        # The model's processes read model and images themselves, each for some of the answers.
        _require_intact(model, sha256)
        if _sha256_of_all(images) != images_sha256:
            raise Unavailable(f"The images in {task.images} changed while a model was judged.")
        return Judged(
            accuracy.percent,
            accuracy.images,
            accuracy.right,
            measurement.latency.mean,
            measurement.report(),
            truth_sha256,
            images_sha256,
            build_of(measurement.machine),
        )

    def _watch(self, began_s: float, work_before_s: float, done: int, total: int) -> None:
        """Raise `Refused` after the time of the entry; each message of its processes comes here.

        A process that sends none is stopped by its own limit. If the entry is late without as much
        work, the machine is busy: it goes on, and ends as `Unavailable` if that is too long.
        """
        took_s, work_s = self._seconds() - began_s, self._work_s() - work_before_s
        pace = pace_of([(took_s, work_s)], self._entry_s)
        if pace is Pace.TOO_SLOW:
            within = f"a model that is answered for and measured within {self._entry_s:g} s"
            raise Refused([Failure("time", within, "it had not ended and was stopped")])
        if pace is Pace.BUSY and took_s > PATIENCE * self._entry_s:
            raise Unavailable(
                f"The machine is too busy: an entry was not over after {took_s:.0f} s, of which "
                f"the processes of its model worked for {work_s:.0f} s."
            )


def _children_work_s() -> float:
    """Return the processor time of all child processes of this one that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _require_intact(model: Path, sha256: str) -> None:
    digest = _sha256(model)
    if digest != sha256:
        raise Unavailable(f"{model} is damaged: its SHA-256 is {digest}.")


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error


def _sha256_of_all(images: Sequence[Path]) -> str:
    """Return one SHA-256 of all images: of the lines that `sha256sum` would print for them."""
    lines = "".join(f"{_sha256(path)}  {path.name}\n" for path in images)
    return hashlib.sha256(lines.encode()).hexdigest()
