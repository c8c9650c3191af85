# SPDX-License-Identifier: Apache-2.0
"""How often 95 % intervals hold the truth where failures, or hits, are rare.

Each cell simulates contests of one detector, and the mean of their mAPs is what each interval is
for. Detectors fail in several ways: they miss objects, or post false boxes with the confidences of
true ones (`false`) or with lower ones (`weak`). `mixed` has weak false boxes in each contest and
seldom a miss. `ordinary` misses objects in images that are hard, and posts false boxes there.
Beside the coverage stand the misses with the truth below and above the interval. Then come
differences of two detectors on the same images, and images of one film that fail together.

`python -m tests.bench.rare_failures --contests 1000 --rows ordinary/.37 --columns 8/100` simulates
some cells.
"""

from __future__ import annotations

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.comparison import compare
from referee.scoring.ilsvrc import evaluate
from referee.scoring.uncertainty import measure_uncertainty

DRAWS, PROCESSES, CONTESTS = 60, 2, 200
# More contests that tell the mean mAP alone: they need no draws.
FOR_THE_MEAN = 2
CLASSES, IMAGES = (1, 3, 8), (40, 100, 300)
# The kind of failure, and the mAP that it leaves.
ROWS = (
    *(("missed", ".9999"), ("missed", ".999"), ("missed", ".99")),
    *(("false", ".9997"), ("false", ".997"), ("false", ".98")),
    *(("weak", ".9997"), ("weak", ".997"), ("weak", ".97")),
    *(("mixed", ".9996"), ("mixed", ".996")),
    *(("ordinary", name) for name in (".99", ".9", ".63", ".37", ".1", ".02")),
)
# The share of objects that an ordinary detector misses in an image that is neither easy nor hard.
MISSED = {".99": 0.0055, ".9": 0.055, ".63": 0.25, ".37": 0.5, ".1": 0.85, ".02": 0.97}
PAIRS = (("mixed", ".9996", ".9996"), ("missed", ".999", ".99"), ("ordinary", ".99", ".63"))
FILMS = (("missed", ".999"), ("missed", ".99"), ("ordinary", ".63"))
_TRUE, _FALSE = (0.0, 0.0, 39.0, 39.0), (0.0, 200.0, 39.0, 239.0)


@dataclass(frozen=True)
class Cell:
    """A cell: how a detector fails, how good it is, and the contest. `film` images fail together.

    `other` is how good a second detector is that saw the same images.
    """

    kind: str
    mean_ap: str
    classes: int
    images: int
    contests: int
    other: str = ""
    film: int = 1


def run():
    """Print the tables of intervals, of differences and of films."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        columns = list(itertools.product(CLASSES, IMAGES))
        _print(pool, [[Cell(*row, *column, CONTESTS) for column in columns] for row in ROWS])
        _print(
            pool,
            [
                [Cell(kind, one, *column, CONTESTS, other) for column in columns]
                for kind, one, other in PAIRS
            ],
        )
        _print(
            pool,
            [[Cell(*row, 1, images, CONTESTS, film=5) for images in IMAGES] for row in FILMS],
        )


def _print(pool, rows):
    """Print a line for each row of cells."""
    heads = [f"{cell.classes} cl., {cell.images}" for cell in rows[0]]
    print("\n| failures | mAP |" + "".join(f" {head} |" for head in heads))
    print("| --- | --- |" + " --- |" * len(heads))
    found = pool.map(covered, itertools.chain.from_iterable(rows))
    for row in rows:
        shown = "".join(f" {text} |" for text in itertools.islice(found, len(row)))
        versus = f" − {row[0].other}" if row[0].other else ""
        print(f"| {row[0].kind} | {row[0].mean_ap}{versus} |{shown}", flush=True)


def covered(cell):
    """Return how often the interval held the mean, with the misses below and above, as text."""
    told = np.array([interval(cell, number) for number in range(cell.contests)])
    value, low, high = told.T
    more = [
        mean_ap(cell, cell.mean_ap, cell.contests + number)
        - (mean_ap(cell, cell.other, cell.contests + number, 1) if cell.other else 0.0)
        for number in range(FOR_THE_MEAN * cell.contests)
    ]
    mean = np.mean([*value, *more])
    below, above = 100 * np.mean(low > mean), 100 * np.mean(high < mean)
    return f"{100 - below - above:.1f} ({below:.1f}, {above:.1f})"


def interval(cell, number):
    """Return the mAP of a contest, or a difference of two, with the ends of its interval."""
    clusters = np.arange(cell.images) // cell.film if cell.film > 1 else None
    measured = [
        measure_uncertainty(result(cell, quality, number, who), DRAWS, number, clusters=clusters)
        for who, quality in enumerate((cell.mean_ap, cell.other))
        if quality
    ]
    if cell.other:
        told = compare(*measured)
        return told.difference, told.interval.low, told.interval.high
    ends = measured[0].interval()
    return measured[0].estimate, ends.low, ends.high


def mean_ap(cell, quality, number, who=0):
    """Return the mAP of a contest."""
    return result(cell, quality, number, who).mean_ap


def result(cell, quality, number, who=0):
    """Return the result of the detector `who`; a contest has a number, and its images for both."""
    seed = [number, cell.classes, cell.images, cell.film, *cell.kind.encode()]
    scenes = np.random.default_rng(seed)
    image, klass = _objects(cell, scenes)
    chance = np.random.default_rng([*seed, *quality.encode(), who])
    hard = _per_film(cell, scenes.normal(0, 1, cell.images))
    missed, false, lower = _failures(cell, quality, chance, image, hard)
    seen = np.flatnonzero(~missed)
    logit = chance.normal(0, 1, len(seen)), chance.normal(-lower, 1, len(false))
    found = Detections(
        np.concatenate([image[seen], false]) + 1,
        np.concatenate([klass[seen], _classes(cell, chance, len(false))]) + 1,
        1 / (1 + np.exp(-np.concatenate(logit))),
        np.concatenate([_boxes(image)[seen], np.tile(_FALSE, (len(false), 1))]),
    )
    return evaluate(
        _truth(cell, image, klass), found.select(np.argsort(found.image_id, kind="stable"))
    )


def _objects(cell, scenes):
    """Return image and class of each object: one an image, of an ordinary detector 1 to 15."""
    count = np.ones(cell.images, dtype=np.int64)
    if cell.kind == "ordinary":
        count = np.minimum(scenes.geometric(0.4, cell.images), 15)
    image = np.repeat(np.arange(cell.images), count)
    return image, _classes(cell, scenes, len(image))


def _classes(cell, chance, count):
    frequency = 1 / np.arange(1, cell.classes + 1) ** 0.8
    return chance.choice(cell.classes, count, p=frequency / frequency.sum())


def _failures(cell, quality, chance, image, hard):
    """Return which objects are missed, the images of false boxes, and how much lower those are."""
    lost = 1 - float(quality)
    missed, false, lower = np.zeros(len(image), dtype=bool), np.zeros(cell.images), 0.0
    if cell.kind == "missed":
        missed = _per_film(cell, chance.random(cell.images))[image] < lost
    elif cell.kind == "false":
        false += 2 * lost
    elif cell.kind == "weak":
        false, lower = false + 1, -(2**0.5) * NormalDist().inv_cdf(lost)
    elif cell.kind == "mixed":
        missed = chance.random(len(image)) < lost
        false, lower = false + 0.1, 4.0
    else:
        share = MISSED[quality]
        odds = share / (1 - share) * np.exp(hard)
        missed = chance.random(len(image)) < (odds / (1 + odds))[image]
        false, lower = 2 * share * np.exp(hard), 1.0
    return missed, np.repeat(np.arange(cell.images), chance.poisson(false)), lower


def _per_film(cell, values):
    """Return values of which all images of a film have the first one's."""
    return values[np.arange(cell.images) // cell.film * cell.film]


def _boxes(image):
    """Return boxes side by side in each image."""
    place = np.arange(len(image)) - np.searchsorted(image, image)
    return np.array(_TRUE) + 50.0 * place[:, None] * np.array([1, 0, 1, 0])


def _truth(cell, image, klass):
    return GroundTruth(
        image_ids=np.arange(1, cell.images + 1),
        class_ids=np.arange(1, cell.classes + 1),
        box_image_id=image + 1,
        box_class_id=klass + 1,
        box=_boxes(image),
        blacklist=np.empty((0, 2), dtype=np.int64),
        class_names={},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contests", type=int, default=CONTESTS)
    parser.add_argument("--rows", nargs="+", default=["/".join(row) for row in ROWS])
    parser.add_argument("--columns", nargs="+", default=["1/40", "8/300"], help="classes/images")
    chosen = parser.parse_args()
    asked = [
        [
            Cell(*row.split("/"), *map(int, column.split("/")), chosen.contests)
            for column in chosen.columns
        ]
        for row in chosen.rows
    ]
    with ProcessPoolExecutor(PROCESSES) as workers:
        _print(workers, asked)
