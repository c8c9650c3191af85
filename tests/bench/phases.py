# SPDX-License-Identifier: Apache-2.0
"""How often the phases between marks have their load's integral within their ±.

For each update interval of the meter: recordings of random loads with random marks on the emulated
meter, in fake time. A fifth of them loses the link for some updates, a third runs on a computer
that is late by up to 1.5 updates now and then, and half is ended early. The share of time is that
part of the ± which `time_wh` tells.
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics

from tests.support.phase_trials import LOADS, UPDATES_S, Checked, present_rule, trial

RECORDINGS = 200


def run(recordings: int = RECORDINGS) -> None:
    """Print a row for each update interval, and one for each kind of load."""
    logging.disable(logging.WARNING)  # a lost link is none of this bench's news
    print("| update | phases | within ± | beyond twice it | median error / ± | time's share of ± |")
    print("| --- | --- | --- | --- | --- | --- |")
    everything: list[Checked] = []
    for update_s in UPDATES_S:
        rng = random.Random(f"phases {update_s}")
        found = [one for _ in range(recordings) for one in trial(rng, update_s, present_rule)]
        print(row(f"{update_s:g} s", found), flush=True)
        everything += found
    for load in LOADS:
        print(row(load, [one for one in everything if one.load == load]))


def row(name: str, found: list[Checked]) -> str:
    """Return a row of the table."""
    within = sum(one.error <= 1 for one in found) / len(found)
    shares = [one.phase.time_wh / (one.phase.uncertainty_wh or 1.0) for one in found]
    return (
        f"| {name} | {len(found)} | {within:.2%} | {sum(one.error > 2 for one in found)} "
        f"| {statistics.median(one.error for one in found):.3f} | {statistics.median(shares):.0%} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=RECORDINGS)
    run(parser.parse_args().recordings)
