# SPDX-License-Identifier: Apache-2.0
"""Peers of the scorer, each in a process of its own.

`python -m tests.bench.scoring_peers NAME FOLDER` prints the seconds that evaluation took on boxes
already in memory.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from pathlib import Path


def hotcoco(folder):
    """Evaluate with hotcoco at its own settings: 10 IoU thresholds, 4 areas, 3 limits."""
    from hotcoco import COCO, COCOeval

    truth = COCO(str(folder / "truth.json"))
    run = COCOeval(truth, truth.loadRes(str(folder / "detections.json")), "bbox")
    return _timed(run)


def pycocotools(folder):
    """Evaluate with pycocotools at one IoU threshold, all areas and one limit."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth = COCO(str(folder / "truth.json"))
    run = COCOeval(truth, truth.loadRes(str(folder / "detections.json")), "bbox")
    run.params.iouThrs = run.params.iouThrs[:1]
    run.params.areaRng, run.params.areaRngLbl = run.params.areaRng[:1], run.params.areaRngLbl[:1]
    run.params.maxDets = [100]
    return _timed(run)


def _timed(run):
    """Return the seconds of evaluate and accumulate."""
    start = time.perf_counter()
    run.evaluate()
    run.accumulate()
    return time.perf_counter() - start


if __name__ == "__main__":
    peer = {"hotcoco": hotcoco, "pycocotools": pycocotools}[sys.argv[1]]
    with contextlib.redirect_stdout(io.StringIO()):
        seconds = peer(Path(sys.argv[2]))
    print(seconds)
