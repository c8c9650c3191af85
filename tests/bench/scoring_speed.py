# SPDX-License-Identifier: Apache-2.0
"""The scorer at full size: 20,000 images, 200 classes, 55,000 truth boxes, 1,000,000 detections."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from referee.scoring.ilsvrc import evaluate
from referee.scoring.live import LiveScore
from referee.scoring.uncertainty import measure_uncertainty
from tests.bench.scoring_data import DETECTIONS, generate, write_files, write_lines

ROUNDS = 5

# A separate process starts the command: a child's peak memory includes its parent's at the fork.
_LAUNCHER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def run():
    """Measure in turns with the peers, and print medians and ratios."""
    truth, detections = generate()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, truth, detections)
        _evaluation(folder, truth, detections)
        _command(folder)
        _command_growth(folder, detections)
    _growth(truth)
    _live(truth, detections)
    start = time.perf_counter()
    measure_uncertainty(evaluate(truth, detections), 100)
    print(f"evaluation and interval, 100 draws{time.perf_counter() - start:8.2f} s")


def _evaluation(folder, truth, detections):
    """Evaluate arrays into all APs, beside peers with the same boxes in memory."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(_seconds(evaluate, truth, detections))
        theirs.append(_peer("hotcoco", folder))
    slow = _peer("pycocotools", folder)
    mine, hot = statistics.median(ours), statistics.median(theirs)
    print(f"arrays to all APs                 {mine:8.3f} s  ({_spread(ours)})")
    print(f"  hotcoco, twelve numbers         {hot:8.3f} s  ({_spread(theirs)})")
    print(f"  ours/hotcoco                    {mine / hot:8.2f}")
    print(f"  pycocotools, one threshold      {slow:8.1f} s  its/ours {slow / mine:.0f}")


def _command(folder):
    """Run whole processes in turns with hotcoco's on JSON; start-up and parsing count.

    A ratio is the median of the ratios within a turn. With the processors busy, hotcoco's threads
    lose more than ours: processor time is beside it.
    """
    score = [sys.executable, "-m", "referee", "score", "--json"]
    lines = ["--ground-truth", folder / "truth.csv", "--images", folder / "images.csv"]
    lines += ["--detections", folder / "detections.csv"]
    objects = ["--ground-truth", folder / "truth.json", "--detections", folder / "detections.json"]
    commands = {
        "hotcoco's process on JSON": _peer_command("hotcoco", folder),
        "referee score on CSV": [*score, *lines],
        "referee score on JSON": [*score, *objects],
        "referee score --metric coco, JSON": [*score, "--metric", "coco", *objects],
    }
    runs = {label: [] for label in commands}
    for turn in range(1 + ROUNDS):
        for label, command in commands.items():
            measured = _process(command)
            if turn:  # The first turn fills the caches of files.
                runs[label].append(measured)
    peer, *_ = runs.values()
    for label, ours in runs.items():
        wall, processor, peak = zip(*ours, strict=True)
        ratios = [
            statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in zip((wall, processor, peak), zip(*peer, strict=True), strict=True)
        ]
        print(f"{label:<34}{statistics.median(wall):8.3f} s  ({_spread(wall)})")
        print("  to hotcoco's: wall {:.2f}, processor {:.2f}, memory {:.2f}".format(*ratios))


def _command_growth(folder, detections):
    """Run whole processes on CSV with a million detections and with ten million, in turns."""
    sizes = {"1,000,000": detections, "10,000,000": generate(10 * DETECTIONS)[1]}
    for size, posted in sizes.items():
        write_lines(folder / f"{size}.csv", posted)
    score = [sys.executable, "-m", "referee", "score", "--json"]
    score += ["--ground-truth", folder / "truth.csv", "--images", folder / "images.csv"]
    runs = [
        [_process([*score, "--detections", folder / f"{size}.csv"]) for size in sizes]
        for _ in range(3)
    ]
    wall, processor, peak = (
        statistics.median(many[place] / one[place] for one, many in runs) for place in range(3)
    )
    print("referee score on CSV, ten times the detections")
    print(f"  to a million: wall {wall:.1f}, processor {processor:.1f}, memory {peak:.1f}")


def _growth(truth):
    """Each step has ten times the detections of the one before, on the same truth.

    In processor time, since a busy machine hits the longest of them hardest.
    """
    before = None
    for count in (DETECTIONS // 10, DETECTIONS, 10 * DETECTIONS):
        detections = generate(count)[1]
        rounds = ROUNDS if count <= DETECTIONS else 2
        seconds = min(
            _seconds(evaluate, truth, detections, clock=time.process_time) for _ in range(rounds)
        )
        grown = f"{seconds / before:.1f} times as long" if before else ""
        print(f"{count:>10,} detections, CPU        {seconds:8.3f} s  {grown}")
        before = seconds


def _live(truth, detections):
    """Add answers of 100 detections to a million, each until the refreshed mAP is there."""
    chance = np.random.default_rng(2)
    more = generate(100_000, seed=3)[1]
    for held in (DETECTIONS // 10, DETECTIONS):
        live = LiveScore(truth)
        live.add(detections.select(chance.choice(len(detections), held, replace=False)))
        live.result()
        times = []
        for _ in range(100):
            answer = more.select(chance.integers(0, len(more), 100))
            start = time.perf_counter()
            live.add(answer)
            live.result()
            times.append(1000 * (time.perf_counter() - start))
        print(
            f"live, 100 on top of {held:<14,}{statistics.median(times):8.1f} ms ({_spread(times)})"
        )


def _seconds(function, *arguments, clock=time.perf_counter):
    start = clock()
    function(*arguments)
    return clock() - start


def _peer(name, folder):
    command = _peer_command(name, folder)
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _peer_command(name, folder):
    return [sys.executable, "-m", "tests.bench.scoring_peers", name, folder]


def _process(command):
    """Run a command and return its seconds, its processor's seconds, and its peak memory in KiB."""
    arguments = [sys.executable, "-c", _LAUNCHER, *map(str, command)]
    printed = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    return tuple(map(float, printed.split()))


def _spread(values):
    return f"{min(values):.3f} to {max(values):.3f}"
