# SPDX-License-Identifier: Apache-2.0
"""Rows whose seven numbers are in another order are recognised, whatever else is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.scoring.ilsvrc import evaluate
from referee.scoring.mistakes.diagnosis import find_mistakes
from referee.scoring.mistakes.orders import column_orders
from tests.scoring.mistakes.test_diagnosis import Case, generated

# By name: the columns of a right row in the order in which they were sent, and the codes.
ORDERS: dict[str, tuple[list[int], list[str]]] = {
    "confidence last": ([0, 1, 3, 4, 5, 6, 2], ["confidence_last"]),
    "image and class": ([1, 0, 2, 3, 4, 5, 6], ["image_class_swapped"]),
    "both": ([1, 0, 3, 4, 5, 6, 2], ["image_class_swapped", "confidence_last"]),
    "box, score, class": ([0, 3, 4, 5, 6, 2, 1], ["box_before_class"]),
    "box, class, score": ([0, 3, 4, 5, 6, 1, 2], ["box_before_class"]),
}


@pytest.fixture(scope="module")
def made() -> Case:
    """Return a generated case."""
    return generated()


def table_of(rows: Detections) -> np.ndarray:
    """Return the seven columns of rows."""
    return np.column_stack([rows.image_id, rows.class_id, rows.confidence, rows.box])


def sent_as(table: np.ndarray, columns: list[int]) -> Detections:
    """Return rows as the referee reads columns that were sent in this order."""
    sent = table[:, columns]
    ids = sent[:, :2].astype(np.int64)
    return Detections(ids[:, 0].copy(), ids[:, 1].copy(), sent[:, 2].copy(), sent[:, 3:].copy())


@pytest.mark.parametrize("name", ORDERS)
def test_columns_in_another_order_are_recognised(made: Case, name: str) -> None:
    """Each order is named, and its repair gives the honest score."""
    columns, codes = ORDERS[name]
    honest = evaluate(made.truth, made.honest).mean_ap
    posted = made.as_sent(sent_as(table_of(made.honest), columns))
    found = find_mistakes(made.truth, posted, made.sizes)
    assert codes == [mistake.code for mistake in found]
    for mistake in found:
        assert pytest.approx(honest, abs=1e-3) == mistake.repaired_mean_ap


def test_an_order_with_two_other_mistakes(made: Case) -> None:
    """Confidence last, fractions and positions for classes hide each other, and all are found."""
    rows = table_of(made.honest)
    rows[:, 1] = np.searchsorted(made.truth.class_ids, rows[:, 1])
    rows[:, 3:] /= made.scale(made.honest.image_id)
    posted = made.as_sent(sent_as(rows, ORDERS["confidence last"][0]))
    codes = ["confidence_last", "class_positions_sent", "boxes_normalised"]
    assert codes == made.codes(posted)


def test_image_and_class_swapped_in_json(made: Case) -> None:
    """COCO results have names, and a program may still swap two values."""
    swapped = replace(
        made.honest, image_id=made.honest.class_id, class_id=made.honest.image_id.copy()
    )
    assert ["image_class_swapped"] == made.codes(made.as_sent(swapped, as_coco=True))


def test_only_rows_of_one_form_are_in_another_order(made: Case) -> None:
    """A program whose JSON is right may write its lines wrongly."""
    rows = np.arange(len(made.honest)) % 2 == 0
    wrong = sent_as(table_of(made.honest), ORDERS["confidence last"][0])
    both = Detections(
        made.honest.image_id,
        made.honest.class_id,
        np.where(rows, made.honest.confidence, wrong.confidence),
        np.where(rows[:, np.newaxis], made.honest.box, wrong.box),
    )
    posted = replace(made.as_sent(both), as_coco=rows)
    assert ["confidence_last"] == made.codes(posted)


def test_right_rows_have_no_other_order(made: Case) -> None:
    """Pixels are no confidences; of right rows only image and class could be swapped."""
    orders = list(column_orders(made.as_sent(made.honest)))
    assert {"image_class_swapped"} >= {fault.code for one in orders for fault in one.faults}


@pytest.mark.filterwarnings("error")
def test_wild_numbers_are_no_ids(made: Case) -> None:
    """Rows of numbers that no integer holds are read without a warning, and nothing is found."""
    wild = replace(made.honest, box=np.full((len(made.honest), 4), np.nan))
    assert [] == made.codes(made.as_sent(wild))
    huge = replace(made.honest, box=np.full((len(made.honest), 4), 1e300))
    assert [] == made.codes(made.as_sent(huge))
