# SPDX-License-Identifier: Apache-2.0
"""How honest the camera reader's expected error is, and what a reading costs.

Photographs through lenses of chance: the true error beside the expected one. The time is the
processor's for a picture without a screen, as a ratio to that for a good frame in the same run.
"""

from __future__ import annotations

import argparse

PHOTOGRAPHS = 60
TIMED = 5


def run(photographs: int = PHOTOGRAPHS) -> None:
    """Print the errors' table, and the ratio of the times."""
    import cv2

    from tests.support.lens_trials import lens_trials, result

    cv2.setNumThreads(1)
    results = [result(trial) for trial in lens_trials(photographs)]
    found = [one for one in results if not one.reason]
    within = sum(one.true_px <= 2 * one.estimate_px for one in found)
    hidden = sum(one.true_px > 2 and one.estimate_px < 1 for one in found)
    print(f"{len(results)} photographs, {len(found)} read")
    print(f"true error at most twice the estimate: {within} of {len(found)}")
    print(f"true error above 2 px with an estimate below 1: {hidden}")
    for one in sorted(found, key=lambda one: -one.true_px / one.estimate_px)[:5]:
        print(f"  {one.true_px:7.3f} px, estimate {one.estimate_px:7.3f}: {one.name}")
    good, empty = _seconds(False), _seconds(True)
    print(f"a picture without a screen takes {empty / good:.2f} times as long as a good frame")


def _seconds(empty: bool) -> float:
    import time

    import numpy as np

    from client_sample.camera.reader import read
    from client_sample.camera.reading import Unread
    from tests.support.frames import chance_frame, chance_label, plain, without_screen

    spent = 0.0
    for seed in range(TIMED):
        chance = np.random.default_rng(seed)
        photo = (
            without_screen(chance) if empty else plain(chance_frame(chance_label(chance), chance))
        )
        start = time.process_time()
        try:
            read(photo)
        except Unread:
            pass
        spent += time.process_time() - start
    return spent / TIMED


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photographs", type=int, default=PHOTOGRAPHS)
    run(parser.parse_args().photographs)
