# SPDX-License-Identifier: Apache-2.0
"""The measuring procedure of AIoTBench: workloads one after the other, with pauses to cool down."""

from __future__ import annotations

import sys
import time
from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple

from client_sample.aiotbench_log import DataSetPicture, Log
from client_sample.classifiers import Classifier

_EVERY_S = (0.5, 30.0)  # How often progress is shown: on a terminal, and elsewhere.


class BenchError(Exception):
    """An error that stops the run; its text is for the person who runs it."""


class WorkloadClock(NamedTuple):
    """The time: a fine counter in seconds, seconds since 1970, and a way to wait."""

    counter: Callable[[], float] = time.perf_counter
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


class ProgressLine:
    """A line on standard error that changes: overwritten on a terminal, seldom elsewhere."""

    def __init__(self, clock: WorkloadClock) -> None:
        self._clock = clock
        self._terminal = sys.stderr.isatty()
        self._due = 0.0

    def show(self, text: str) -> None:
        """Show a text, if the last one has stood long enough."""
        now = self._clock.counter()
        if now >= self._due:
            self._due = now + _EVERY_S[0 if self._terminal else 1]
            self._print(text, "" if self._terminal else "\n")

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._print(text, "\n")
        self._due = 0.0

    def _print(self, text: str, end: str) -> None:
        start = "\r\x1b[K" if self._terminal else ""
        print(f"{start}{text}", end=end, file=sys.stderr, flush=True)


def predict(workload: str, classify: Classifier, picture: DataSetPicture) -> int:
    """Return the label of a picture; raise BenchError if the picture or the model is faulty."""
    try:
        return classify(picture.path)
    except OSError as error:
        raise BenchError(f"{picture.path} is no picture that can be read: {error}") from error
    # Each library has errors of its own. PyTorch's have many lines, and the last one says it.
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise BenchError(f"{workload} cannot classify {picture.path}: {said[-1]}") from error


def run_workload(
    workload: str,
    classify: Classifier,
    pictures: Sequence[DataSetPicture],
    log: Log,
    clock: WorkloadClock,
    progress: ProgressLine,
) -> None:
    """Classify pictures, and log each answer with its time."""
    for done, picture in enumerate(pictures, 1):
        started = clock.counter()
        predicted = predict(workload, classify, picture)
        seconds = clock.counter() - started
        # All that follows is outside of the measured time.
        log.append(workload, picture, predicted, seconds)
        left_s = (len(pictures) - done) * log.totals[workload][2] / log.totals[workload][0]
        progress.show(f"{_summary(workload, log)}, {_duration(left_s)} left")
    log.save()


def cool_down(seconds: float, what: str, clock: WorkloadClock, progress: ProgressLine) -> None:
    """Wait until the device has cooled down; show how long it still takes."""
    # The counter, because a board often gets the right time of day only after its start.
    end = clock.counter() + seconds
    while (left_s := end - clock.counter()) > 0:
        progress.show(f"cooling down before {what}, {_duration(left_s)} left")
        clock.sleep(min(1.0, left_s))


def run_all(
    classifiers: Dict[str, Callable[[], Classifier]],
    pictures: Sequence[DataSetPicture],
    log: Log,
    clock: WorkloadClock,
    cooling_s: float,
    one: bool,
) -> int:
    """Run the workloads that the log does not hold completely; return how many are left."""
    progress = ProgressLine(clock)
    plan: List[Tuple[str, List[DataSetPicture]]] = []
    for workload in classifiers:
        todo = [picture for picture in pictures if not log.has(workload, picture)]
        if todo:
            plan.append((workload, todo))
        else:
            progress.say(f"{_summary(workload, log)}: the log holds it, so it is skipped")
    for place, (workload, todo) in enumerate(plan):
        if log.totals:  # Something ran before, now or before a shut-down.
            age_s = log.age_s(clock.now())
            # A board without a clock of its own may have lost the time: then the pause is whole.
            cool_down(cooling_s - max(0.0, age_s), workload, clock, progress)
        classify = classifiers[workload]()
        run_workload(workload, classify, todo, log, clock, progress)
        progress.say(_summary(workload, log))
        if one:
            return len(plan) - place - 1
    return 0


def _summary(workload: str, log: Log) -> str:
    images, right, seconds = log.totals[workload]
    return f"{workload}: {images} images, {right} right, {1000 * seconds / images:.3f} ms an image"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.999), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
