# SPDX-License-Identifier: Apache-2.0
"""Measure a model's latency: one thread, batch 1, one core, warm-up, many runs over images.

The latency that counts is the run of the model alone: from the call that runs it until it returns,
as OVIC's SDK times it. The steps around it are measured apart: reading and resizing the image,
copying it in, and copying the outputs out. `whole` is the sum of all.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from power.bounded_file import file_bytes
from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.jobs import ModelFault, broken_protocol, run_job
from referee.extras.ovic.judging.machine import JudgingMachine, choose_core, machine_facts
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.judging.wire import WireError, unpack_numbers
from referee.extras.ovic.rules.latency import (
    FEWEST_RUNS,
    Latency,
    Stability,
    latency_of,
    stability_of,
)

PARTS = ("prepare", "copy_in", "run", "copy_out")
"""The parts of an image's time, in their order; `run` is the latency."""

_RUN = PARTS.index("run")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TimedRuns:
    """What the worker timed, and the machine that it ran on.

    A row has the milliseconds of each of `PARTS`, and then the processor time of the run.
    `span_ago_s` says how long ago the first run began and the last one ended: a board's clock may
    be wrong.
    """

    rows: list[list[float]]
    span_ago_s: tuple[float, float]
    machine: JudgingMachine


Measure = Callable[[Path, Sequence[Path], Plan, Limits, Progress], TimedRuns]
"""A function that lets a worker time a model somewhere, as `measure_here` does on this machine."""

Place = Callable[[], AbstractContextManager[Measure]]
"""Where a model is measured: this machine (`here`), or a board."""


@dataclass(frozen=True)
class Measurement:
    """A measured model: latency of the run, the other parts, and what it ran on.

    `cpu_share` is processor time divided by wall time of the runs; below 1 other programs had the
    core for the rest. `span` is when the runs began and ended, by the clock of this machine.
    """

    model_sha256: str
    plan: Plan
    images: int
    latency: Latency
    parts: dict[str, Latency]
    whole: Latency
    cpu_share: float
    stability: Stability
    span: tuple[datetime, datetime]
    machine: JudgingMachine

    def report(self) -> dict[str, object]:
        """Return the JSON object of a benchmark; all latencies are in milliseconds."""
        return {
            "stable": self.stability.stable,
            "reasons": list(self.stability.reasons),
            "latency_ms": _figures(self.latency),
            "whole_image_ms": _figures(self.whole),
            "parts_ms": {name: _figures(part) for name, part in self.parts.items()},
            "drift": self.stability.drift,
            "excess": self.stability.excess,
            "cpu_share": self.cpu_share,
            "images": self.images,
            "began_utc": self.span[0].isoformat(timespec="milliseconds"),
            "ended_utc": self.span[1].isoformat(timespec="milliseconds"),
            "threads": 1,
            "batch": 1,
            "plan": asdict(self.plan),
            "model_sha256": self.model_sha256,
            "machine": self.machine,
        }


def benchmark(
    model: Path,
    images: Sequence[Path],
    plan: Plan,
    limits: Limits,
    progress: Progress = lambda done, total: None,
    measure: Measure | None = None,
) -> Measurement:
    """Measure a model over images that take turns; an unstable result says so.

    Of more images than runs the first are used. Raises InputError for an unusable plan, ModelFault
    for a model that fails, and Unavailable if the worker gave another number of runs than it was
    asked for, or if the model's file changes meanwhile.
    """
    if plan.runs < FEWEST_RUNS:
        raise InputError(f"{plan.runs} runs are too few: measure {FEWEST_RUNS} or more")
    images = images[: plan.runs]
    digest = _sha256(model)
    runs = (measure or measure_here)(model, images, plan, limits, progress)
    if len(runs.rows) != plan.runs:
        raise Unavailable(f"the worker gave {len(runs.rows)} runs of {plan.runs}: measure again")
    now = datetime.now(UTC)
    span = now - timedelta(seconds=runs.span_ago_s[0]), now - timedelta(seconds=runs.span_ago_s[1])
    if _sha256(model) != digest:  # A process, or a board, read it meanwhile.
        raise Unavailable(f"{model} changed while it was measured: measure again")
    return _measurement(runs, span, digest, plan, len(images))


def _sha256(model: Path) -> str:
    try:
        return hashlib.sha256(file_bytes(model)).hexdigest()
    except OSError as error:
        raise InputError(f"{model} cannot be read: {error.strerror}") from None


@contextmanager
def here() -> Iterator[Measure]:
    """Yield the function that measures on this machine."""
    yield measure_here


def measure_here(
    model: Path, images: Sequence[Path], plan: Plan, limits: Limits, progress: Progress
) -> TimedRuns:
    """Let a worker on this machine time a model; a board's agent calls this too.

    Raises InputError for a core that is not there, and for a model that fails.
    """
    core = choose_core(plan.core)
    machine = machine_facts(core)
    done = run_job(
        model,
        "measure",
        limits,
        lambda results: progress(min(results, plan.runs), plan.runs),
        images=[str(path.resolve()) for path in images],
        core=core,
        central_share=plan.central_share,
        warm_up=plan.warm_up,
        runs=plan.runs,
    )
    now_s = time.monotonic()  # The worker's clock too: it counts for the whole machine.
    if done.failures:
        text = f"{model.name} cannot be measured: {done.failures[0]}"
        raise ModelFault(text, done.failures[0])
    try:
        rows = unpack_numbers([run.get("ms") for run in done.of("run")], len(PARTS) + 1)
        ((began_s, ended_s),) = unpack_numbers([message.get("s") for message in done.of("span")], 2)
        span = unpack_span([now_s - began_s, now_s - ended_s])
    except WireError as error:
        raise broken_protocol(model, "measured", error) from None
    return TimedRuns(rows, span, machine)


def unpack_span(ago_s: Any) -> tuple[float, float]:
    """Return how long ago something began and ended; raise WireError for what cannot be."""
    ((began_s, ended_s),) = unpack_numbers([ago_s], 2)
    if not began_s >= ended_s >= 0:
        raise WireError("the runs ended before they began, or have not ended")
    return began_s, ended_s


def _measurement(
    runs: TimedRuns, span: tuple[datetime, datetime], digest: str, plan: Plan, images: int
) -> Measurement:
    times_ms = [row[_RUN] for row in runs.rows]
    return Measurement(
        model_sha256=digest,
        plan=plan,
        images=images,
        latency=latency_of(times_ms),
        parts={name: latency_of([row[k] for row in runs.rows]) for k, name in enumerate(PARTS)},
        whole=latency_of([sum(row[: len(PARTS)]) for row in runs.rows]),
        cpu_share=sum(row[-1] for row in runs.rows) / sum(times_ms),
        stability=stability_of(times_ms, plan.tolerance),
        span=span,
        machine=runs.machine,
    )


def _figures(latency: Latency) -> dict[str, float]:
    figures = {
        "mean": latency.mean,
        "median": latency.median,
        "min": latency.least,
        "max": latency.most,
    }
    return figures | {f"p{key}": value for key, value in latency.percentiles.items()}
