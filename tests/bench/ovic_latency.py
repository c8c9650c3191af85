# SPDX-License-Identifier: Apache-2.0
"""OVIC's benchmark beside LiteRT's own benchmark and a bare loop, in turns, over twenty repeats.

It takes EfficientNet-Lite0 from `shared/data/models` beside the project's folder. LiteRT's own
benchmark is the Python form of TensorFlow Lite's `benchmark_model`, where the wheel has it.
"""

from __future__ import annotations

import importlib.util
import json
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
PLAN = Plan(runs=100, central_share=0.875)
OURS, BARE, OWN = "referee", "bare loop", "LiteRT's own"
_OWN_MODULE = "ai_edge_litert.tools.benchmark_litert_model"
_BOUND_S = 120

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
_PINNED = """
import os, runpy, sys
os.sched_setaffinity(0, {int(sys.argv.pop(1))})
runpy.run_module(sys.argv.pop(1), run_name="__main__")
"""


def run():
    """Measure in turns, and print medians, their ratios pair by pair, and their spread."""
    if not MODEL.is_file():
        print(f"no model at {MODEL}: nothing to measure")
        return
    names = [OURS, BARE] + [OWN] * (importlib.util.find_spec(_OWN_MODULE) is not None)
    found = {name: [] for name in names}
    stable = 0
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "noise.png"
        pixels = np.random.default_rng(1).integers(0, 256, (227, 227, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(picture)
        for repeat in range(REPEATS):
            # Who comes first changes, so that a machine that slows down slows all alike.
            for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
                if name == OURS:
                    one = benchmark(MODEL, [picture], PLAN, Limits())
                    stable += one.stability.stable
                    found[name].append((one.latency.least, one.latency.median))
                else:
                    found[name].append((_bare if name == BARE else _own)(Path(folder)))
    _report(found, stable)


def _report(found, stable):
    print(f"{'':<14}{'least, ms':>10}{'median, ms':>12}{'spread of the medians':>56}")
    for name, rows in found.items():
        least, middle = (statistics.median(row[k] for row in rows) for k in (0, 1))
        spread = _spread([row[1] for row in rows])
        print(f"{name:<14}{least:>10.3f}{middle:>12.3f}{spread:>56}")
    for name, rows in found.items():
        if name == OURS:
            continue
        for what, column in (("medians", 1), ("fastest runs", 0)):
            pairs = zip(found[OURS], rows, strict=True)
            ratios = [mine[column] / theirs[column] for mine, theirs in pairs]
            low, middle, high = statistics.quantiles(ratios, n=4)
            verdict = "within" if abs(middle - 1) <= 0.02 else "NOT within"
            print(
                f"referee / {name}, {what}: {middle:.3f} in the middle of {REPEATS} pairs,"
                f" quartiles {low:.3f} and {high:.3f}: {verdict} 2 %"
            )
    print(f"judged stable: {stable} of {REPEATS}")


def _bare(folder):
    words = [str(MODEL), str(choose_core(None)), str(PLAN.warm_up), str(PLAN.runs)]
    return tuple(map(float, _python("-c", _BARE, *words).split()))


def _own(folder):
    """Return least and median, which this program rounds to 0.01 ms."""
    path = folder / "own.json"
    _python(
        *("-c", _PINNED, str(choose_core(None)), _OWN_MODULE),
        *("--model", str(MODEL), "--result_json", str(path)),
        *("--warmup_runs", str(PLAN.warm_up), "--num_runs", str(PLAN.runs)),
    )
    latency = json.loads(path.read_text())["latency"]
    return latency["min_ms"], latency["median_ms"]


def _python(*words):
    command = [sys.executable, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_BOUND_S)
    return done.stdout


def _spread(values):
    quartiles = statistics.quantiles(values, n=4)
    middle = statistics.median(values)
    return (
        f"{(max(values) - min(values)) / middle:.1%} in all,"
        f" {(quartiles[2] - quartiles[0]) / middle:.1%} between quartiles"
    )
