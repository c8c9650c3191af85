# SPDX-License-Identifier: Apache-2.0
"""Memory and time of the scorer by the density of one image, with all its boxes of one class."""

from __future__ import annotations

import subprocess
import sys

# Truth boxes and detections of the one image.
DENSITIES = ((20, 400), (200, 4_000), (1_000, 20_000), (2_000, 40_000))
KINDS = ("spread over the image", "tiny boxes in a crowd", "all the same box")

# The memory that a process had at most never falls, so each case has a process of its own.
_CASE = """
import sys
from tests.bench.density import measure
measure(*map(int, sys.argv[1:]))
"""


def run():
    """Measure each density in a process of its own."""
    print("truth boxes x detections        s of processor   MiB more   ns a pair")
    for kind, name in enumerate(KINDS):
        print(f"{name}, evaluate and explain")
        for truths, found in DENSITIES[: 3 if kind == 2 else 4]:
            _case(kind, truths, found, 0)
    print(f"{KINDS[1]}, LiveScore, 100 rows an answer")
    _case(1, *DENSITIES[-1], 100)


def _case(kind, truths, found, answer):
    command = [sys.executable, "-c", _CASE, *map(str, (kind, truths, found, answer))]
    subprocess.run(command, check=True)


def measure(kind, truths, found, answer):
    """Print processor time and the rise of the peak of memory of one evaluation."""
    import resource
    import time

    from referee.scoring.ilsvrc import evaluate
    from referee.scoring.live import LiveScore

    truth, rows = _boxes(kind, truths, found)
    evaluate(*_boxes(kind, 2, 2)).explain()  # What is loaded when it is first used.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    if answer:
        live = LiveScore(truth)
        for first in range(0, found, answer):
            live.add(rows.select(slice(first, first + answer)))
        live.result()
    else:
        evaluate(truth, rows).explain()
    seconds = time.process_time() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    pair = 1e9 * seconds / truths / found
    print(f"  {truths:6d} x {found:6d}{seconds:26.2f}{more:11.0f}{pair:12.0f}", flush=True)


def _boxes(kind, truths, found):
    import numpy as np

    from referee.core.detections import Detections
    from referee.core.ground_truth import GroundTruth

    chance = np.random.default_rng(0)
    side, size = ((900, 100), (100, 3), (0, 100))[kind]
    low = chance.integers(0, side + 1, (truths, 2))
    high = low + (99 if kind == 2 else chance.integers(0, size, (truths, 2)))
    box = np.hstack([low, high]).astype(float)
    near = box[chance.integers(0, truths, found)]
    if kind < 2:
        near = near + np.sort(chance.normal(0, 4, (2, found, 2)), axis=0).transpose(
            1, 0, 2
        ).reshape(found, 4)
    ones, many = np.ones(truths, dtype=int), np.ones(found, dtype=int)
    return (
        GroundTruth.from_arrays(ones, ones, box),
        Detections.from_arrays(many, many, chance.random(found), near),
    )
