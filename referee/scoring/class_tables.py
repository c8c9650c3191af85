# SPDX-License-Identifier: Apache-2.0
"""The classes of a result and their curves, as CSV for a spreadsheet or a notebook."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from referee.core.arguments import require
from referee.core.ground_truth import named_classes
from referee.core.spreadsheet import plain_cell
from referee.scoring.result import IlsvrcResult

CLASS_COLUMNS = tuple(
    "class_id name truth_boxes detections true_positives average_precision "
    "grouped_average_precision".split()
)
CURVE_COLUMNS = ("class_id", "confidence", "recall", "precision")


def class_rows(
    result: IlsvrcResult, class_names: Mapping[int, str]
) -> Iterator[tuple[int, str, int, int, int, float | None, float | None]]:
    """Yield the cells of `CLASS_COLUMNS` for each listed class, in ascending order of ids.

    `detections` counts those that were scored. Both AP are None for a class without ground truth.
    """
    for class_id, ap in result.ap.items():
        score = result.class_score(class_id)
        yield (
            class_id,
            class_names.get(class_id, ""),
            score.truths,
            len(score.order),
            len(score.hits),
            ap,
            result.grouped_ap[class_id],
        )


def classes_csv(result: IlsvrcResult, class_names: Mapping[int, str]) -> str:
    """Return these rows as CSV; a missing AP is empty."""
    require("result", result, IlsvrcResult)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(CLASS_COLUMNS)
    for class_id, name, *counts, ap, grouped in class_rows(result, named_classes(class_names)):
        numbers = ("" if value is None else repr(value) for value in (ap, grouped))
        rows.writerow((class_id, plain_cell(name), *counts, *numbers))
    return text.getvalue()


def curves_csv(result: IlsvrcResult) -> Iterator[str]:
    """Yield the parts of a table of all raw curves, class by class.

    It has a row per scored detection of a class with ground truth, in the devkit's order. A number
    has as many digits as it needs to be read back without a change.
    """
    require("result", result, IlsvrcResult)
    yield ",".join(CURVE_COLUMNS) + "\n"
    for class_id, curve in result.curves().items():
        columns = (curve.confidence, curve.recall, curve.precision)
        yield "".join(
            f"{class_id},{confidence!r},{recall!r},{precision!r}\n"
            for confidence, recall, precision in zip(
                *(column.tolist() for column in columns), strict=True
            )
        )
