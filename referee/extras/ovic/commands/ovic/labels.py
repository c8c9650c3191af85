# SPDX-License-Identifier: Apache-2.0
"""`referee ovic labels`: the list of all labels that a detector's participants train for."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from referee.core.spreadsheet import plain_cell
from referee.errors import InputError
from referee.extras.ovic.rules.model_rules import COCO_CLASSES
from referee.formats.json_fields import load_json
from referee.formats.text import read_bytes

_DESCRIPTION = """\
Print the full list of labels from COCO ground truth, as CSV: the class index that a model answers,
the category id, and the name. An index without a category is left out: COCO has 80 names for the
indices 0 to 89. The ground truth of classification has no names, so its list is the organiser's.

  referee ovic labels --ground-truth instances_minival.json > labels.csv
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "labels",
        help="an organiser: print the full list of labels for participants",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--ground-truth", type=Path, required=True, metavar="FILE", help="COCO instances JSON"
    )
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Print the list."""
    names = category_names(args.ground_truth)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("class", "category_id", "name"))
    writer.writerows((number - 1, number, plain_cell(names[number])) for number in sorted(names))
    return 0


def category_names(truth: Path) -> dict[int, str]:
    """Return the names of COCO's categories by their ids.

    Raises InputError for a file of another form, and for an id that no model can answer.
    """
    content = load_json(truth, read_bytes(truth))
    try:
        found = [(one["id"], one["name"]) for one in content["categories"]]
    except (KeyError, TypeError):
        found = []
    right = all(type(number) is int and type(name) is str for number, name in found)
    if not found or not right or len(dict(found)) < len(found):
        raise InputError(
            f"{truth} is no COCO instances JSON with categories, each with an id of its own and a "
            "name"
        )
    beyond = sorted({number for number, _ in found} - set(range(1, COCO_CLASSES + 1)))
    if beyond:
        raise InputError(
            f"{truth}: category {beyond[0]} is not 1 to {COCO_CLASSES}, so no model can answer it"
        )
    return dict(found)
