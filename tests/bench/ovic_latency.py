# SPDX-License-Identifier: Apache-2.0
"""OVIC's benchmark beside a bare LiteRT loop, in turns, and its spread over twenty repeats.

It takes EfficientNet-Lite0 from `shared/data/models` beside the project's folder.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from referee.service.ovic.benchmark import Plan, benchmark
from referee.service.ovic.confined import Limits
from referee.service.ovic.machine import choose_core

MODEL = Path(__file__).parents[2] / "../shared/data/models/efficientnet_lite0.tflite"
REPEATS = 20
RUNS = 100

# The least that a loop can be: the same pinning, warm-up and runs, one image, nothing else.
_BARE = """
import os, statistics, sys, time
import numpy as np
from ai_edge_litert.interpreter import Interpreter
model, core, warm_up, runs = sys.argv[1], *map(int, sys.argv[2:])
os.sched_setaffinity(0, {core})
interpreter = Interpreter(model_path=model, num_threads=1)
interpreter.allocate_tensors()
place = interpreter.get_input_details()[0]
image = np.random.default_rng(1).integers(0, 256, place["shape"], dtype=np.uint8)
times = []
for number in range(-warm_up, runs):
    interpreter.set_tensor(place["index"], image)
    start = time.perf_counter()
    interpreter.invoke()
    if number >= 0:
        times.append(1e3 * (time.perf_counter() - start))
print(min(times), statistics.median(times))
"""


def run():
    """Measure in turns, and print medians, their ratio and their spread."""
    if not MODEL.is_file():
        print(f"no model at {MODEL}: nothing to measure")
        return
    plan = Plan(runs=RUNS, central_share=0.875)
    ours, bare, stable = [], [], 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "noise.png"
        pixels = np.random.default_rng(1).integers(0, 256, (227, 227, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path)
        for _ in range(REPEATS):
            found = benchmark(MODEL, [path], plan, Limits())
            ours.append((found.latency.least, found.latency.median))
            stable += found.stability.stable
            bare.append(_bare(plan.warm_up))
    print(f"{'':<14}{'referee':>10}{'bare loop':>12}{'ratio':>8}")
    for label, column in (("least, ms", 0), ("median, ms", 1)):
        mine, theirs = ([row[column] for row in rows] for rows in (ours, bare))
        middle = statistics.median(mine), statistics.median(theirs)
        print(f"{label:<14}{middle[0]:>10.3f}{middle[1]:>12.3f}{middle[0] / middle[1]:>8.3f}")
    medians = [row[1] for row in ours]
    print(f"spread of {REPEATS} medians: {_spread(medians)}; bare {_spread([b for _, b in bare])}")
    print(f"judged stable: {stable} of {REPEATS}")


def _bare(warm_up):
    words = [str(MODEL), str(choose_core(None)), str(warm_up), str(RUNS)]
    done = subprocess.run(
        [sys.executable, "-c", _BARE, *words], check=True, capture_output=True, text=True
    )
    return tuple(map(float, done.stdout.split()))


def _spread(values):
    quartiles = statistics.quantiles(values, n=4)
    middle = statistics.median(values)
    return (
        f"{(max(values) - min(values)) / middle:.1%} in all,"
        f" {(quartiles[2] - quartiles[0]) / middle:.1%} between quartiles"
    )
