# SPDX-License-Identifier: Apache-2.0
"""Parts of `referee score`, each alone in a process of its own: no speed below them is possible.

`python -m tests.bench.scoring_floors PART FOLDER` runs one part.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.bench.scoring_data import generate, write_files
from tests.bench.scoring_speed import ROUNDS, _peer_command, _process


def start(folder):
    """Load Python, numpy and the command."""
    import referee.commands.score.command  # noqa: F401


def lines(folder):
    """Load these, and read the lines of detections."""
    from referee.commands.score.command import begin_detections

    begin_detections(folder / "detections.csv")()


def results(folder):
    """Load these, and read the JSON of detections, in two processes."""
    from referee.commands.score.command import begin_coco_results

    begin_coco_results(folder / "detections.json")()


def evaluation(folder):
    """Load Python, numpy and hotcoco; hotcoco takes columns that are there, and evaluates them."""
    from hotcoco import COCO, COCOeval

    truth = COCO(str(folder / "truth.json"))
    found = COCOeval(truth, truth.load_res(np.load(folder / "detections.npy")), "bbox")
    found.evaluate()
    found.accumulate()


PARTS = {part.__name__: part for part in (start, lines, results, evaluation)}


def run():
    """Measure the parts in turns with hotcoco's process, and print medians of the ratios."""
    truth, detections = generate()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, truth, detections)
        _save_columns(folder)
        commands = {"hotcoco's process on JSON": _peer_command("hotcoco", folder)}
        for part, function in PARTS.items():
            command = [sys.executable, "-m", "tests.bench.scoring_floors", part, folder]
            commands[function.__doc__.rstrip(".")] = command
        runs = {label: [] for label in commands}
        for turn in range(1 + ROUNDS):
            for label, command in commands.items():
                measured = _process(command)
                if turn:
                    runs[label].append(measured[:2])
    peer = next(iter(runs.values()))
    for label, ours in runs.items():
        wall, processor = (
            statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in zip(zip(*ours, strict=True), zip(*peer, strict=True), strict=True)
        )
        print(f"{label}\n  to hotcoco's: wall {wall:.2f}, processor {processor:.2f}")


def _save_columns(folder):
    """Save the JSON results as hotcoco takes them: image, x, y, width, height, score, category."""
    from referee.formats.detections_file import begin_coco_results

    found = begin_coco_results(folder / "detections.json")()
    columns = (found.image_id, *found.box.T, found.score, found.category_id)
    np.save(folder / "detections.npy", np.column_stack(columns))


if __name__ == "__main__":
    PARTS[sys.argv[1]](Path(sys.argv[2]))
