# SPDX-License-Identifier: Apache-2.0
"""Detections are parallel arrays that always have the same length."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from referee.core.detections import Detections, pack, unpack, unpack_all

ROWS = [(3, 7, 0.25, 1.0, 2.0, 3.0, 4.0), (1, 2, 0.5, -1.0, 0.0, 5.5, 6.0)]


def rows_of(detections):
    """Return the detections as rows again."""
    return [
        (int(image), int(klass), float(confidence), *box)
        for image, klass, confidence, box in zip(
            detections.image_id,
            detections.class_id,
            detections.confidence,
            detections.box.tolist(),
            strict=True,
        )
    ]


def test_rows_become_arrays():
    """Rows keep their order and their values, in the documented types."""
    detections = Detections.from_rows(ROWS)
    assert ROWS == rows_of(detections)
    assert 2 == len(detections)
    types = (detections.image_id, detections.class_id, detections.confidence, detections.box)
    assert ["int64", "int64", "float64", "float64"] == [str(array.dtype) for array in types]


def test_large_ids_are_exact():
    """An id beyond 53 bits is not rounded as a float would be."""
    detections = Detections.from_rows([(2**62 + 1, 2**53 + 1, 0.5, 0, 0, 1, 1)])
    assert (2**62 + 1, 2**53 + 1) == (detections.image_id[0], detections.class_id[0])


def test_no_detections():
    """Without rows the detections still have a length and shapes."""
    assert 0 == len(Detections.empty())
    assert (0, 4) == Detections.empty().box.shape
    assert 0 == len(Detections.concatenate([]))


def test_joining_keeps_the_order():
    """Joining answers puts their rows one after the other."""
    first, second = Detections.from_rows(ROWS[:1]), Detections.from_rows(ROWS[1:])
    joined = Detections.concatenate([second, Detections.empty(), first])
    assert [ROWS[1], ROWS[0]] == rows_of(joined)


def test_selecting():
    """A mask or an index array picks whole rows."""
    detections = Detections.from_rows(ROWS)
    assert [ROWS[1]] == rows_of(detections.select(np.asarray([False, True])))
    assert [ROWS[1], ROWS[0]] == rows_of(detections.select(np.asarray([1, 0])))


def test_other_image_ids_leave_the_original_alone():
    """Other image ids make new detections and leave the original alone."""
    detections = Detections.from_rows(ROWS)
    moved = detections.with_image_ids(np.asarray([8, 9], dtype=np.int64))
    assert ([8, 9], [3, 1]) == (moved.image_id.tolist(), detections.image_id.tolist())


@pytest.mark.parametrize(
    ("ids", "classes", "confidences", "boxes"),
    [(2, 1, 1, 1), (1, 2, 1, 1), (1, 1, 2, 1), (1, 1, 1, 2)],
)
def test_unequal_arrays_are_refused(ids, classes, confidences, boxes):
    """Arrays of different lengths are refused."""
    with pytest.raises(ValueError, match="must"):
        Detections(
            np.zeros(ids, dtype=np.int64),
            np.zeros(classes, dtype=np.int64),
            np.zeros(confidences),
            np.zeros((boxes, 4)),
        )


def test_a_box_has_four_corners():
    """Boxes of three columns are refused."""
    with pytest.raises(ValueError, match="box must have shape"):
        Detections(
            np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros((1, 3))
        )


INT64 = st.integers(-(2**63), 2**63 - 1)
# Floats are drawn from all 64 bits, so that every NaN is among them.
FLOAT64 = st.integers(0, 2**64 - 1).map(
    lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]
)


@st.composite
def detections(draw):
    """Draw detections of any values."""
    n = draw(st.integers(0, 12))
    return Detections(
        draw(arrays("int64", n, elements=INT64)),
        draw(arrays("int64", n, elements=INT64)),
        draw(arrays("float64", n, elements=FLOAT64)),
        draw(arrays("float64", (n, 4), elements=FLOAT64)),
    )


@pytest.mark.slow
@given(detections())
def test_round_trip(original):
    """Unpacking returns the bits that were packed, in 56 bytes a row."""
    blob = pack(original)
    assert 56 * len(original) == len(blob)
    found = unpack(blob)
    for name in ("image_id", "class_id", "confidence", "box"):
        assert getattr(original, name).tobytes() == getattr(found, name).tobytes()
        assert getattr(original, name).shape == getattr(found, name).shape


@pytest.mark.slow
@given(detections())
def test_views_pack_as_their_copies(original):
    """Arrays in another memory layout or byte order give the same bytes."""
    swapped = Detections(
        original.image_id[::-1].astype(">i8"),
        original.class_id[::-1],
        np.repeat(original.confidence, 2)[::-2],
        np.asfortranarray(original.box)[::-1],
    )
    chosen = np.arange(len(original))[::-1]
    assert pack(original.select(chosen)) == pack(swapped)


def test_form_of_the_blob_never_changes():
    """Stored answers of earlier versions stay readable: columns, little-endian."""
    blob = pack(Detections.from_rows([(1, 2, 0.5, 3, 4, 5, 6), (7, 8, 1.0, 9, 10, 11, 12)]))
    expected = struct.pack("<4q10d", 1, 7, 2, 8, 0.5, 1.0, 3, 4, 5, 6, 9, 10, 11, 12)
    assert expected == blob


def test_unpacked_arrays_may_be_changed():
    """A caller may change unpacked arrays, because they are no views of the blob."""
    found = unpack(pack(Detections.from_rows([(1, 2, 0.5, 3, 4, 5, 6)])))
    found.image_id[0] = 9
    found.box[0, 0] = 9.0
    assert (9, 9.0) == (found.image_id[0], found.box[0, 0])


def test_many_blobs_become_one():
    """Packed answers are unpacked together as they would be one by one, without a row or with."""
    rows = [*ROWS, (2**62 + 1, -7, 1.0, 1 / 3, -0.0, np.inf, 5e300)]
    parts = [rows[:1], [], rows[1:]]
    assert pack(Detections.from_rows(rows)) == pack(
        unpack_all([pack(Detections.from_rows(part)) for part in parts])
    )
    assert 0 == len(unpack_all([]))
