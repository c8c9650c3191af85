# SPDX-License-Identifier: Apache-2.0
"""How often 95 % intervals hold the truth in simulated contests.

Each cell simulates many contests from one world. The mean of their mAPs is what each interval is
for. Beside the coverage stand the misses with the truth below and above the interval. The other
worlds were simulated once, when the construction of the intervals was settled: nothing was chosen
to fit them.

`python -m tests.bench.coverage --contests 2000 --cells 20/.33/few/1000 200/.63/few/100` simulates
some cells of the first table again, with so many contests that took no part in that table.
"""

from __future__ import annotations

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from referee.scoring.comparison import compare
from referee.scoring.ilsvrc import evaluate
from referee.scoring.uncertainty import Energy, measure_uncertainty
from tests.bench.simulated_contests import Detector, World

DRAWS, PROCESSES = 100, 2
# Log-odds of finding an object that give a mAP of about .02, .12, .33 and .63.
QUALITIES = {20: (-3.0, -1.8, -0.5, 1.1), 200: (-3.15, -2.15, -0.95, 0.6)}
LEVELS = (".02", ".12", ".33", ".63")
# Images of a contest, and how many contests are simulated.
CONTESTS = {100: 600, 300: 600, 1000: 300}
# The other worlds: classes, how fast their frequency falls, log-odds of finding an object.
OTHERS = tuple(itertools.product((8, 60), (0.3, 1.2), (-2.5, 0.2)))
OTHER_CONTESTS = {40: 200, 150: 200, 600: 100}
LEVELS_OF_CONFIDENCE = {"few": None, "many": 10}
# How much better the first of two detectors is, in log-odds, and the images of their contests.
GAPS = (0, 0.05, 0.1, 0.2, 0.4, 0.8)
PAIR_IMAGES, PAIR_CONTESTS = 300, 60
# The images of each cluster, and how many contests are simulated of each detector.
CLUSTERINGS = {
    "100 of 3": np.full(100, 3),
    "30 of 10": np.full(30, 10),
    "10 of 30": np.full(10, 30),
    "5 of 60": np.full(5, 60),
    "30, from 75 to 2": 75 // np.arange(1, 31),
    "one of 100, 20 of 10": np.array([100] + 20 * [10]),
}
CLUSTERED_CONTESTS = 200
PARTS = ("intervals", "others", "clusters", "pairs")


def run(parts=PARTS):
    """Print the tables of intervals, then that of differences."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        if "intervals" in parts:
            rows = [
                (classes, QUALITIES[classes][level], ties, 0.8, level)
                for classes, level, ties in itertools.product(
                    QUALITIES, range(4), LEVELS_OF_CONFIDENCE
                )
            ]
            _print_intervals(pool, rows, CONTESTS)
        if "others" in parts:
            rows = [
                (classes, quality, "few", falling, 100 + number)
                for number, (classes, falling, quality) in enumerate(OTHERS)
            ]
            _print_intervals(pool, rows, OTHER_CONTESTS)
        if "clusters" in parts:
            _print_clusters(pool)
        if "pairs" in parts:
            _print_pairs(pool)


def run_again(cells, contests, processes=PROCESSES):
    """Print a line for each of `cells`, named as `20/.33/few/1000`, from contests of its own."""
    print("| classes | mAP | ties | images | contests | held | below | above |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    work = []
    for cell in cells:
        classes, quality, ties, images = cell.split("/")
        level, first = LEVELS.index(quality), CONTESTS[int(images)]
        row = (int(classes), QUALITIES[int(classes)][level], ties, 0.8, level)
        parts = np.array_split(np.arange(first, first + contests), 20)
        work += [(row, int(images), part.tolist()) for part in parts]
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(intervals, work)
        for cell in cells:
            classes, _, ties, images = cell.split("/")
            mean, low, high = coverage(np.concatenate(list(itertools.islice(found, 20))))
            print(
                f"| {classes} | {mean:.2f} | {ties} | {images} | {contests} |"
                f" {100 - low - high:.1f} | {low:.1f} | {high:.1f} |",
                flush=True,
            )


def _print_intervals(pool, rows, contests):
    """Print a line for each of `rows`, see `intervals`, with a cell for each number of images."""
    print("\n| classes | mAP | ties |" + "".join(f" {images} images |" for images in contests))
    print("| --- | --- | --- |" + " --- |" * len(contests))
    cells = [(row, images, range(count)) for row in rows for images, count in contests.items()]
    found = pool.map(intervals, cells)
    for row in rows:
        of_row = [coverage(next(found)) for _ in contests]
        shown = (f" {100 - low - high:.1f} ({low:.1f}, {high:.1f}) |" for _, low, high in of_row)
        print(f"| {row[0]} | {of_row[1][0]:.2f} | {row[2]} |" + "".join(shown), flush=True)


def intervals(cell):
    """Return mAP and both ends of its interval, (contests, 3).

    A cell is the row, the images of a contest, and the numbers of the contests. A row is a world's
    number of classes, the detector's quality, the ties, how the frequency falls, and a seed.
    """
    (classes, quality, ties, falling, seed), images, numbers = cell
    world = World(classes, falling)
    detector = Detector(world, quality, LEVELS_OF_CONFIDENCE[ties])
    found = []
    for number in numbers:
        chance = np.random.default_rng([number, classes, images, seed, len(ties)])
        scenes = world.scenes(chance, images)
        measured = measure_uncertainty(
            evaluate(scenes.truth, detector.answer(chance, scenes)), DRAWS, number
        )
        interval = measured.interval()
        found.append((measured.estimate, interval.low, interval.high))
    return np.array(found)


def coverage(found):
    """Return the mean mAP, and the percentages of intervals above it and below it."""
    value, low, high = found.T
    return value.mean(), 100 * np.mean(low > value.mean()), 100 * np.mean(high < value.mean())


def _print_clusters(pool):
    """Print the coverage with clusters, each mAP's in a column, not named and named."""
    print("\n| clusters |" + "".join(f" mAP {level}, not named | named |" for level in LEVELS[1:]))
    print("| --- |" + " --- | --- |" * len(LEVELS[1:]))
    cells = [(name, level) for name in CLUSTERINGS for level in range(1, len(LEVELS))]
    found = pool.map(clustered, cells)
    for name in CLUSTERINGS:
        shown = []
        for _ in LEVELS[1:]:
            both = next(found)
            for _, low, high in map(coverage, (both[:, [0, 1, 2]], both[:, [0, 3, 4]])):
                shown.append(f" {100 - low - high:.1f} ({low:.1f}, {high:.1f}) |")
        print(f"| {name} |" + "".join(shown), flush=True)


def clustered(cell):
    """Return mAP and both ends of its interval without and with clusters, (contests, 5)."""
    name, level = cell
    sizes = CLUSTERINGS[name]
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    world = World(20)
    detector = Detector(world, QUALITIES[20][level])
    found = []
    for number in range(CLUSTERED_CONTESTS):
        chance = np.random.default_rng([number, *sizes.tolist(), level])
        scenes = world.scenes(chance, len(cluster), cluster)
        result = evaluate(scenes.truth, detector.answer(chance, scenes))
        told = [
            measure_uncertainty(result, DRAWS, number, clusters=named).interval()
            for named in (None, cluster)
        ]
        found.append((result.mean_ap, *(end for it in told for end in (it.low, it.high))))
    return np.array(found)


def _print_pairs(pool):
    """Print how often the interval of a difference holds it."""
    cells = [
        (classes, level, gap)
        for classes, gap, level in itertools.product(QUALITIES, GAPS, (1, 2, 3))
    ]
    print("\n| classes | mAP | interval of the difference holds it |")
    print("| --- | --- | --- |")
    rows = {}
    for cell, covered in zip(cells, pool.map(pair, cells), strict=True):
        rows.setdefault((cell[0], cell[1]), []).append(covered)
    for (classes, level), covered in sorted(rows.items()):
        print(f"| {classes} | {LEVELS[level]} | {np.mean(covered):.1f} |")


def pair(cell):
    """Return how often, in percent, the interval holds the true difference of two detectors."""
    classes, level, gap = cell
    world = World(classes)
    seed = round(100 * gap) + 1000 * level
    first = Detector(world, QUALITIES[classes][level] + gap, seed=seed)
    second = Detector(world, QUALITIES[classes][level], seed=seed + 1)
    found = []
    for number in range(PAIR_CONTESTS):
        chance = np.random.default_rng([number, classes, level, seed])
        scenes = world.scenes(chance, PAIR_IMAGES)
        mine, theirs = (
            measure_uncertainty(evaluate(scenes.truth, it.answer(chance, scenes)), DRAWS, number)
            for it in (first, second)
        )
        told = compare(mine, theirs, Energy(1.0), Energy(1.0))
        found.append((told.difference, told.interval.low, told.interval.high))
    value, low, high = np.array(found).T
    return 100 * np.mean((low <= value.mean()) & (value.mean() <= high))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--cells", nargs="+", help="cells of the first table: 20/.33/few/1000 …")
    parser.add_argument("--contests", type=int, default=2000, help="for each of --cells")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="for --cells")
    chosen = parser.parse_args()
    if chosen.cells:
        run_again(chosen.cells, chosen.contests, chosen.processes)
    else:
        run(chosen.parts or PARTS)
