# SPDX-License-Identifier: Apache-2.0
"""How often a second contest turns a pair of teams, beside what was said, in simulated events.

An event has teams whose quality is drawn around a middle, narrowly or widely. They play a contest,
and then a second one on images that are drawn anew. Each pair's probability of a turn is told from
the first contest, by all teams of the event and by the two alone.

`python -m tests.bench.turned_rankings --events 400` simulates more events of each kind.
"""

from __future__ import annotations

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from referee.scoring.comparison import compare, spread_of
from referee.scoring.ilsvrc import evaluate
from referee.scoring.uncertainty import Energy, measure_uncertainty
from tests.bench.coverage import LEVELS, PROCESSES, QUALITIES
from tests.bench.simulated_contests import Detector, World

DRAWS = 100
IMAGES = (40, 100, 300)
TEAMS = (3, 8, 20)
# The standard deviation of the teams' quality, in log-odds of finding an object.
WIDTHS = {"close": 0.05, "apart": 0.3, "far apart": 1.0}
EVENTS = 72
BINS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def run(events=EVENTS, processes=PROCESSES):
    """Print what was said and what came: by what was said, by the kind of event, and by teams."""
    cells = [
        (images, teams, name, events // (teams // 3))
        for images, teams, name in itertools.product(IMAGES, TEAMS, WIDTHS)
    ]
    with ProcessPoolExecutor(processes) as pool:
        found = dict(zip(cells, pool.map(pairs, cells), strict=True))
    _print_bins(found)
    _print_kinds(found)


def pairs(cell):
    """Return what the event says, what two alone say, and what came, for each pair of events."""
    images, teams, name, events = cell
    found = []
    for number in range(events):
        chance = np.random.default_rng([number, images, teams, len(name)])
        classes = (20, 200)[number % 2]
        world = World(classes)
        middle = QUALITIES[classes][1 + number // 2 % (len(LEVELS) - 1)]
        detectors = [
            Detector(world, middle + WIDTHS[name] * chance.standard_normal(), seed=100 * number + k)
            for k in range(teams)
        ]
        first, second = (
            [evaluate(scenes.truth, it.answer(chance, scenes)) for it in detectors]
            for scenes in (world.scenes(chance, images), world.scenes(chance, images))
        )
        measured = [measure_uncertainty(result, DRAWS, number) for result in first]
        places = list(itertools.combinations(range(teams), 2))
        told = [compare(measured[a], measured[b], Energy(1.0), Energy(1.0)) for a, b in places]
        spread = spread_of(told, teams)
        for (a, b), one in zip(places, told, strict=True):
            later = second[a].mean_ap - second[b].mean_ap
            turned = (1 - np.sign(one.difference) * np.sign(later)) / 2
            found.append((one.turns_among(spread), one.turn_probability, turned))
    return np.array(found)


def _print_bins(found):
    """Print a line for each range of what was said, with both rules, for each size."""
    print("\n| said |" + "".join(f" {n} images: event | two alone |" for n in IMAGES))
    print("| --- |" + " --- | --- |" * len(IMAGES))
    for low, high in itertools.pairwise(BINS):
        cells = []
        for images in IMAGES:
            rows = np.concatenate([rows for cell, rows in found.items() if cell[0] == images])
            for rule in (0, 1):
                said = rows[:, rule]
                inside = rows[(said >= low) & ((said < high) | (high == BINS[-1]))]
                cells.append(_told(inside, rule))
        print(f"| {100 * low:.0f} to {100 * high:.0f} % | " + " | ".join(cells) + " |", flush=True)


def _print_kinds(found):
    """Print a line for each kind of event, with both rules, for each size."""
    print("\n| teams | scores |" + "".join(f" {n} images: event | two alone |" for n in IMAGES))
    print("| --- | --- |" + " --- | --- |" * len(IMAGES))
    for teams, name in itertools.product(TEAMS, WIDTHS):
        cells = [
            _told(rows, rule)
            for images in IMAGES
            for cell, rows in found.items()
            if cell[:3] == (images, teams, name)
            for rule in (0, 1)
        ]
        print(f"| {teams} | {name} | " + " | ".join(cells) + " |", flush=True)


def _told(rows, rule):
    """Return what was said and what came, in percent, and of how many pairs."""
    if not len(rows):
        return "–"
    return f"{100 * rows[:, rule].mean():.1f} → {100 * rows[:, 2].mean():.1f} ({len(rows)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=EVENTS, help="of 3 teams, for each kind")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    chosen = parser.parse_args()
    run(chosen.events, chosen.processes)
