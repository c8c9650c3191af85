# SPDX-License-Identifier: Apache-2.0
"""Scores as pure numbers: detection mAP, mAP per watt-hour, and the uncertainty of both.

This is the library's door: `docs/library.md` explains each name of `__all__`. A name loads its
module when it is first used, so a program that needs one rule loads no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.core.box_formats import BOX_FORMATS as BOX_FORMATS
    from referee.core.coco_boxes import CocoResults as CocoResults
    from referee.core.coco_boxes import CocoTruth as CocoTruth
    from referee.core.detections import Detections as Detections
    from referee.core.ground_truth import GroundTruth as GroundTruth
    from referee.errors import InputError as InputError
    from referee.formats.loading import load_coco_results as load_coco_results
    from referee.formats.loading import load_coco_truth as load_coco_truth
    from referee.formats.loading import load_detections as load_detections
    from referee.formats.loading import load_ground_truth as load_ground_truth
    from referee.scoring.class_confusion import Confusion as Confusion
    from referee.scoring.class_confusion import confusion as confusion
    from referee.scoring.class_tables import classes_csv as classes_csv
    from referee.scoring.class_tables import curves_csv as curves_csv
    from referee.scoring.coco import CocoResult as CocoResult
    from referee.scoring.coco import evaluate_coco as evaluate_coco
    from referee.scoring.comparison import Comparison as Comparison
    from referee.scoring.comparison import compare as compare
    from referee.scoring.comparison import spread_of as spread_of
    from referee.scoring.detection_outcomes import Fate as Fate
    from referee.scoring.detection_outcomes import Fates as Fates
    from referee.scoring.frames import to_frame as to_frame
    from referee.scoring.ilsvrc import evaluate as evaluate
    from referee.scoring.ilsvrc import evaluate_at as evaluate_at
    from referee.scoring.live import LiveScore as LiveScore
    from referee.scoring.lpirc import normalized_accuracy as normalized_accuracy
    from referee.scoring.lpirc import score as score
    from referee.scoring.ranking import Curve as Curve
    from referee.scoring.result import IlsvrcResult as IlsvrcResult
    from referee.scoring.rules import RULE_SETS as RULE_SETS
    from referee.scoring.rules import Rules as Rules
    from referee.scoring.score_report import ilsvrc_report as ilsvrc_report
    from referee.scoring.second_contest import Spread as Spread
    from referee.scoring.uncertainty import Energy as Energy
    from referee.scoring.uncertainty import Interval as Interval
    from referee.scoring.uncertainty import MapUncertainty as MapUncertainty
    from referee.scoring.uncertainty import ScoreIntervals as ScoreIntervals
    from referee.scoring.uncertainty import measure_uncertainty as measure_uncertainty
    from referee.scoring.uncertainty import score_intervals as score_intervals

_HOMES = {
    "referee.core.box_formats": ("BOX_FORMATS",),
    "referee.core.coco_boxes": ("CocoResults", "CocoTruth"),
    "referee.core.detections": ("Detections",),
    "referee.core.ground_truth": ("GroundTruth",),
    "referee.errors": ("InputError",),
    "referee.formats.loading": (
        "load_coco_results",
        "load_coco_truth",
        "load_detections",
        "load_ground_truth",
    ),
    "referee.scoring.comparison": ("Comparison", "compare", "spread_of"),
    "referee.scoring.class_confusion": ("Confusion", "confusion"),
    "referee.scoring.class_tables": ("classes_csv", "curves_csv"),
    "referee.scoring.coco": ("CocoResult", "evaluate_coco"),
    "referee.scoring.detection_outcomes": ("Fate", "Fates"),
    "referee.scoring.frames": ("to_frame",),
    "referee.scoring.ilsvrc": ("evaluate", "evaluate_at"),
    "referee.scoring.live": ("LiveScore",),
    "referee.scoring.lpirc": ("normalized_accuracy", "score"),
    "referee.scoring.ranking": ("Curve",),
    "referee.scoring.result": ("IlsvrcResult",),
    "referee.scoring.rules": ("RULE_SETS", "Rules"),
    "referee.scoring.score_report": ("ilsvrc_report",),
    "referee.scoring.second_contest": ("Spread",),
    "referee.scoring.uncertainty": tuple(
        "Energy Interval MapUncertainty ScoreIntervals measure_uncertainty score_intervals".split()
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Load a name of `__all__`."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the names of the library, for a notebook's completion."""
    return __all__
