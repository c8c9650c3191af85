# SPDX-License-Identifier: Apache-2.0
"""Check a model before anything is scored: what would fail later fails here, with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.jobs import Done, run_job
from referee.extras.ovic.judging.wire import WireError, unpack_arrays, unpack_facts, unpack_numbers
from referee.extras.ovic.rules.detections import Overhang, overhang_of_all
from referee.extras.ovic.rules.model_checks import (
    judged,
    repeat_failures,
    signature_failures,
    value_failures,
)
from referee.extras.ovic.rules.model_rules import (
    CENTRAL_SHARE,
    Failure,
    ModelRules,
    TensorFacts,
)
from referee.extras.ovic.rules.pace import SLOWER, Pace, pace_of
from referee.extras.ovic.rules.score import RULES

MOST_BYTES = 512 << 20
"""The largest model file that is looked at."""

ATTEMPTS = 3
"""How often a model is tried on a machine that is too busy to tell its latency."""

PHOTOGRAPHS = 8
"""On how many of the images that are given a model is tried, beside made ones."""

_IDENTIFIER = b"TFL3"
_IDENTIFIER_AT = 4
_SEED = 20_200_407


@dataclass(frozen=True)
class Validated:
    """Which rules a model breaks, and what a detector's boxes do beyond the image.

    Without a failure the model can be scored. `pace` says whether the machine was too busy to tell
    its latency.
    """

    failures: list[Failure]
    overhang: Overhang = field(default_factory=Overhang)
    pace: Pace = Pace.FAST_ENOUGH


def validated(
    model: Path,
    rules: ModelRules,
    limits: Limits | None = None,
    slower: float = SLOWER,
    attempts: int = ATTEMPTS,
    images: Sequence[Path] = (),
) -> Validated:
    """Return which rules a model breaks; without a failure it can be scored.

    The model runs five times on made images, and on some of `images`, in a process of its own. It
    is too slow if the fastest run takes more than `slower` times 120 % of the task's target. On a
    busy machine it runs again, `attempts` times in all. Raises InputError if there is no such file,
    for an image that cannot be read, or without LiteRT, and `Unavailable` if the machine stays too
    busy to tell, or to let the model end.
    """
    failures = _file_failures(model)
    if failures:
        return Validated(failures)
    for _ in range(attempts):
        found = _probed(model, rules, limits or Limits(), slower, some_of(images))
        if found.pace is not Pace.BUSY or found.failures:
            return found
    raise Unavailable(
        f"{model.name} waited for the core so long, {attempts} times, that nothing can be said of "
        "its latency: stop other programs, and validate again."
    )


def some_of(images: Sequence[Path]) -> list[Path]:
    """Return `PHOTOGRAPHS` images at equal distances, or all of fewer."""
    count = min(len(images), PHOTOGRAPHS)
    return [images[place * len(images) // count] for place in range(count)]


def _probed(
    model: Path, rules: ModelRules, limits: Limits, slower: float, images: Sequence[Path]
) -> Validated:
    """Let a model run, and return its pace and which rules it breaks."""
    done = run_job(
        model,
        "probe",
        limits,
        seed=_SEED,
        images=[str(path.resolve()) for path in images],
        central_share=CENTRAL_SHARE[rules.task],
    )
    pace, overhang = Pace.FAST_ENOUGH, Overhang()
    try:
        failures = _signature(rules, done)
        if not failures:
            pace, failures, overhang = _runs(rules, done, slower)
    except WireError as error:
        failures = [Failure("crash", "a worker that speaks its protocol", str(error))]
    # A model that is too slow may not end in time, and one with another input may find no memory.
    consequence = {"latency": "time", "input_shape": "allocate", "input_type": "allocate"}
    known_rules = {consequence.get(failure.rule) for failure in failures}
    others = (failure for failure in done.failures if failure.rule not in known_rules)
    return Validated([*failures, *others], overhang, pace)


def _file_failures(model: Path) -> list[Failure]:
    expected = "a TensorFlow Lite file, with TFL3 in bytes 5 to 8"
    try:
        if not model.is_file():
            raise InputError(f"{model} is no file: name a TensorFlow Lite model")
        size = model.stat().st_size
        with model.open("rb") as file:
            head = file.read(_IDENTIFIER_AT + len(_IDENTIFIER))
    except OSError as error:
        raise InputError(f"{model} cannot be read: {error.strerror}") from None
    if head[_IDENTIFIER_AT:] != _IDENTIFIER:
        start = head[_IDENTIFIER_AT:].hex(" ") or "nothing there"
        return [Failure("file", expected, f"{start} ({size} bytes in all)")]
    if size > MOST_BYTES:
        return [Failure("file", f"a file of at most {MOST_BYTES >> 20} MB", f"{size >> 20} MB")]
    return []


def _signature(rules: ModelRules, done: Done) -> list[Failure]:
    """Judge number, shapes and types; those of outputs may be known only after each run."""
    signatures = done.of("signature")
    if not signatures:
        return []
    inputs = unpack_facts(signatures[-1].get("inputs"))
    outputs = [
        [
            TensorFacts(array.shape, array.dtype.name)
            for array in unpack_arrays(probe.get("outputs"))
        ]
        for probe in done.of("probe")
    ] or [unpack_facts(signatures[-1].get("outputs"))]
    return next(filter(None, (signature_failures(rules, inputs, run) for run in outputs)), [])


def _runs(rules: ModelRules, done: Done, slower: float) -> tuple[Pace, list[Failure], Overhang]:
    """Judge the values of each run, that equal images give equal outputs, and the time."""
    probes = done.of("probe")
    failures: dict[str, Failure] = {}
    first: dict[str, list[Any]] = {}
    for probe in probes:
        outputs = unpack_arrays(probe.get("outputs"))
        known = first.setdefault(str(probe.get("image")), outputs)
        again = repeat_failures(judged(rules, known), judged(rules, outputs))
        for failure in [*value_failures(rules, outputs), *again]:
            failures.setdefault(failure.rule, failure)
    overhang = overhang_of_all(first.values()) if rules.task == "detection" else Overhang()
    pace, slow = _latency(rules, probes, slower)
    return pace, [*failures.values(), *slow], overhang


def _latency(
    rules: ModelRules, probes: Sequence[dict[str, object]], slower: float
) -> tuple[Pace, list[Failure]]:
    """Judge the time of the runs; a busy machine proves nothing."""
    runs = unpack_numbers([probe.get("ms") for probe in probes], 2)
    if not runs:
        return Pace.FAST_ENOUGH, []
    limit_ms = slower * RULES[rules.task].slowest_ms
    pace = pace_of(runs, limit_ms)
    if pace is not Pace.TOO_SLOW:
        return pace, []
    expected = (
        f"at most {limit_ms:g} ms for an image, {slower:g} times"
        f" {RULES[rules.task].slowest_ms:g} ms"
    )
    fastest = f"{min(run[0] for run in runs):.1f} ms in the fastest of {len(runs)} runs"
    return pace, [Failure("latency", expected, fastest)]
