# SPDX-License-Identifier: Apache-2.0
"""The options of `referee score`, and the refusal of those that contradict or do nothing."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from power.commands.written_file import class_table_to_write
from referee.commands.numbers import watt_hours
from referee.errors import InputError
from referee.formats.text import STANDARD_INPUT, path_or_standard_input
from referee.scoring.rules import RULE_SETS

_ONLY_ILSVRC = tuple(
    "--blacklist --rules --per-class --curves --explain --resamples --clusters "
    "--rival-detections".split()
)
# The options of a line have an effect only beside the option before them.
_NEEDED = {
    "--energy-wh": ("--images-processed", "--energy-uncertainty-wh"),
    "--resamples": ("--seed", "--clusters", "--energy-uncertainty-wh", "--rival-detections"),
    "--rival-detections": ("--rival-energy-wh",),
    "--rival-energy-wh": ("--rival-energy-uncertainty-wh",),
    "--explain": ("--pictures",),
}
_VALUES = {"--resamples": "--resamples 100"}
_FILES = tuple(
    "--ground-truth --detections --images --blacklist --clusters --rival-detections".split()
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `referee score`."""
    parser.add_argument(
        "--ground-truth",
        type=path_or_standard_input,
        required=True,
        metavar="PATH",
        help="COCO instances JSON; a folder of ILSVRC or PASCAL VOC XML; a folder of YOLO labels"
        " with data.yaml or classes.txt beside or above them; or CSV"
        " image_id,class_id,xmin,ymin,xmax,ymax. Each file here may be packed by gzip, and - is the"
        " standard input",
    )
    parser.add_argument(
        "--detections",
        type=path_or_standard_input,
        required=True,
        metavar="PATH",
        help="COCO results: a JSON list, or JSON lines of one result each; lines image_id"
        " class_id confidence xmin ymin xmax ymax; or a folder of YOLO labels: class cx cy w h"
        " confidence. A file of lines of numbers may have a header with these names, and comments"
        " that begin with #",
    )
    parser.add_argument(
        "--images",
        type=path_or_standard_input,
        metavar="PATH",
        help="for CSV ground truth: a list image_id,width,height, or a folder of 1.jpg, 2.jpg…;"
        " for YOLO labels: the folder of their images (default: where their tool keeps them)",
    )
    parser.add_argument(
        "--blacklist",
        type=path_or_standard_input,
        metavar="PATH",
        help="CSV image_id,class_id; these pairs count neither as hits nor as errors",
    )
    parser.add_argument(
        "--classes", type=int, metavar="N", help="the class list is 1 to N (default: the source's)"
    )
    _add_rules(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    _add_tables(parser)
    _add_explanation(parser)
    _add_uncertainty(parser)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric", choices=("ilsvrc", "coco"), default="ilsvrc", help="metric (default: ilsvrc)"
    )
    parser.add_argument(
        "--rules",
        choices=tuple(RULE_SETS),
        help="what counts as a hit, and which classes count: the ILSVRC development kit's rules,"
        " the same with an IoU above the threshold, those of the referee of 2015, the kit's with"
        " 0.5 for small boxes too, or PASCAL VOC's (default: devkit)",
    )
    parser.add_argument(
        "--energy-wh", type=watt_hours, metavar="X", help="energy of the session, for mAP per Wh"
    )
    parser.add_argument(
        "--images-processed",
        type=_count_or_none,
        metavar="N",
        help="images that the contestant processed, for the normalised accuracy (default: those"
        " with an answer, that is with a detection, or with an empty file in a folder of labels)",
    )
    parser.add_argument(
        "--image-ids",
        choices=("own", "contest"),
        help="how the detections number images: by the ground truth's own ids, or by 1 to N in"
        " ascending order of these ids (default: the numbering that fits more rows, else own)",
    )


def _add_tables(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--per-class",
        type=class_table_to_write,
        metavar="FILE",
        help="write a CSV with a row per class",
    )
    parser.add_argument(
        "--curves",
        type=class_table_to_write,
        metavar="FILE",
        help="write a CSV of the precision-recall curves, with a row per scored detection",
    )


def _add_explanation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--explain",
        type=Path,
        metavar="DIR",
        help="write into this folder the outcome of each detection, curves for each class,"
        " pictures of the worst misses, and a page index.html that shows them",
    )
    parser.add_argument(
        "--pictures",
        type=Path,
        metavar="DIR",
        help="the photographs for --explain (default: --images if that is a folder)",
    )


def _add_uncertainty(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resamples",
        type=_draws,
        metavar="N",
        help="compare random halves of the images N times (100 is good) for 95 %% intervals of mAP"
        " and score: where the mean of contests with as many images lies",
    )
    parser.add_argument(
        "--seed", type=_count_or_none, metavar="N", help="seed of the draws (default: 0)"
    )
    parser.add_argument(
        "--clusters",
        type=path_or_standard_input,
        metavar="FILE",
        help="CSV image_id,cluster: images of one cluster, such as a scene or a film, go into one"
        " half together (default: the images are independent)",
    )
    parser.add_argument(
        "--energy-uncertainty-wh",
        type=_uncertainty,
        metavar="X",
        help="standard uncertainty of the energy, 1 sigma (default: 0)",
    )
    parser.add_argument(
        "--rival-detections",
        type=path_or_standard_input,
        metavar="PATH",
        help="detections of another session: print the difference with its interval, and how"
        " likely a second contest would turn the ranking (with --resamples)",
    )
    parser.add_argument(
        "--rival-energy-wh", type=watt_hours, metavar="X", help="the other session's energy"
    )
    parser.add_argument(
        "--rival-energy-uncertainty-wh",
        type=_uncertainty,
        metavar="X",
        help="its standard uncertainty, 1 sigma (default: 0)",
    )


def _count_or_none(text: str) -> int:
    """Read a whole number, 0 or more."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0: give 0 or more")
    return value


def _uncertainty(text: str) -> float:
    """Read watt-hours, finite and not negative."""
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not an uncertainty: give 0 or more")
    return value


def _draws(text: str) -> int:
    """Read a number of draws; fewer than 100 give no meaningful interval."""
    value = int(text)
    if value < 100:
        raise argparse.ArgumentTypeError(f"{text} draws are too few: give 100 or more")
    return value


def require_sense(args: argparse.Namespace) -> None:
    """Raise InputError for options that would have no effect, naming what to add or leave out."""
    for option in _ONLY_ILSVRC:
        if args.metric == "coco" and _given(args, option):
            raise InputError(f"{option} does not go with --metric coco: leave it out")
    for needed, options in _NEEDED.items():
        for option in options:
            if _given(args, option) and not _given(args, needed):
                add = _VALUES.get(needed, needed)
                raise InputError(f"{option} has no effect alone: add {add}, or leave it out")
    if _given(args, "--rival-detections") and (args.energy_wh is None) != (
        args.rival_energy_wh is None
    ):
        raise InputError("give both --energy-wh and --rival-energy-wh, or compare mAP with neither")
    if sum(_value(args, option) is STANDARD_INPUT for option in _FILES) > 1:
        raise InputError("- can stand for one file only: there is one standard input")


def _given(args: argparse.Namespace, option: str) -> bool:
    return _value(args, option) is not None


def _value(args: argparse.Namespace, option: str) -> object:
    return getattr(args, option.removeprefix("--").replace("-", "_"))
