# SPDX-License-Identifier: Apache-2.0
"""What the camera reader says of photographs that are spoiled one way each: kinds by verdicts.

A wrong id, or a refusal for an untrue reason, stands in a column of its own. At the end stands what
a reading costs, as a ratio to finding the squares of the same photograph.

`python -m tests.bench.photographs --count 200 --kinds lamps torn` plays more of some kinds.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence

COUNT = 24


def run(count: int = COUNT, kinds: Sequence[str] = (), seed: int = 0) -> None:
    """Print a row for each kind, as the table of the page has it."""
    import cv2

    from tests.support.spoiled_trials import KINDS, spoiled

    cv2.setNumThreads(1)
    print(f"| {count} photographs each | told truly | what was said |\n| --- | --- | --- |")
    for kind in kinds or KINDS:
        said: Counter[str] = Counter()
        true = 0
        for trial in spoiled(kind, count, seed):
            verdict = trial.verdict()
            said[verdict] += 1
            true += verdict in trial.right
        words = ", ".join(f"{word} {number}" for word, number in said.most_common())
        print(f"| {kind} | {true} | {words} |", flush=True)
    print(f"\na reading takes {_cost():.1f} times as long as finding its squares")


def _cost(photographs: int = 6) -> float:
    import cv2

    from client_sample.camera.reader import read
    from client_sample.camera.squares import find_squares
    from tests.support.spoiled_trials import spoiled

    spent = {read: 0.0, find_squares: 0.0}
    for trial in spoiled("nothing", photographs):
        gray = cv2.cvtColor(trial.photo, cv2.COLOR_BGR2GRAY)
        for part in spent:
            start = time.process_time()
            part(gray)
            spent[part] += time.process_time() - start
    return spent[read] / spent[find_squares]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=())
    args = parser.parse_args()
    run(args.count, args.kinds, args.seed)
