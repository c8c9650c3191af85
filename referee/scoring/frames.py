# SPDX-License-Identifier: Apache-2.0
"""Results as DataFrames, where pandas is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import singledispatch
from types import ModuleType
from typing import Any

from referee.core.arguments import require
from referee.core.ground_truth import named_classes
from referee.errors import ArgumentError, MissingLibrary
from referee.scoring.class_confusion import Confusion
from referee.scoring.class_tables import CLASS_COLUMNS, CURVE_COLUMNS, class_rows
from referee.scoring.coco import SIZES, CocoResult
from referee.scoring.detection_outcomes import Fate, Fates
from referee.scoring.ranking import Curve
from referee.scoring.result import IlsvrcResult

NOTHING = "nothing"
"""The label of what found nothing, and of what nothing found, in a confusion."""


def to_frame(value: object, class_names: Mapping[int, str] | None = None) -> Any:
    """Return a result of this library as a DataFrame of pandas.

    | value | rows |
    | --- | --- |
    | `IlsvrcResult` | the listed classes, as `classes_csv` has them |
    | its `curves()` | the points of all curves, as `curves_csv` has them |
    | its `explain()` | the detections, in order of arrival, each with its fate |
    | `CocoResult` | AP by IoU, with a column for each size |
    | `Confusion` | the classes of truth boxes, with a column for each detected class |

    `class_names` maps class ids to names, for the first and the last. Raises MissingLibrary without
    pandas, and ArgumentError for anything else.
    """
    return _frame(value, _pandas(), named_classes(class_names))


def _pandas() -> ModuleType:
    try:
        return importlib.import_module("pandas")
    except ImportError:
        raise MissingLibrary("a table", "pandas", "pandas") from None


@singledispatch
def _frame(value: object, pandas: ModuleType, names: Mapping[int, str]) -> Any:
    raise ArgumentError(
        f"{type(value).__name__} has no table: give a result, its curves() or explain(), a"
        " CocoResult, or a Confusion"
    )


@_frame.register
def _(value: IlsvrcResult, pandas: ModuleType, names: Mapping[int, str]) -> Any:
    frame = pandas.DataFrame(class_rows(value, names), columns=list(CLASS_COLUMNS))
    aps = dict.fromkeys(CLASS_COLUMNS[-2:], float)  # None becomes NaN, also in a column of None.
    return frame.astype(aps).set_index("class_id")


@_frame.register
def _(value: Mapping, pandas: ModuleType, names: Mapping[int, str]) -> Any:  # type: ignore[type-arg]
    for curve in value.values():
        require("a curve", curve, Curve)
    parts = [
        pandas.DataFrame(
            {
                "class_id": class_id,
                "confidence": curve.confidence,
                "recall": curve.recall,
                "precision": curve.precision,
            }
        )
        for class_id, curve in value.items()
    ]
    if not parts:
        return pandas.DataFrame(columns=list(CURVE_COLUMNS))
    return pandas.concat(parts, ignore_index=True)


@_frame.register
def _(value: Fates, pandas: ModuleType, names: Mapping[int, str]) -> Any:
    fates = [Fate(fate).name.lower() for fate in value.fate.tolist()]
    return pandas.DataFrame({"fate": fates, "truth_row": value.truth_row, "iou": value.iou})


@_frame.register
def _(value: CocoResult, pandas: ModuleType, names: Mapping[int, str]) -> Any:
    rows = {iou: {size: value.average_precision(iou, size) for size in SIZES} for iou in value.ious}
    return pandas.DataFrame.from_dict(rows, orient="index", dtype=float).rename_axis("iou")


@_frame.register
def _(value: Confusion, pandas: ModuleType, names: Mapping[int, str]) -> Any:
    known = {**value.class_names, **names}
    labels = [*(known.get(own, own) for own in value.class_ids.tolist()), NOTHING]
    return pandas.DataFrame(
        value.matrix,
        index=pandas.Index(labels, name="truth"),
        columns=pandas.Index(labels, name="detected"),
    )
