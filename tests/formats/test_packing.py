# SPDX-License-Identifier: Apache-2.0
"""Detections survive packing with every bit."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from referee.core.detections import Detections
from referee.formats.packing import pack, unpack

INT64 = st.integers(-(2**63), 2**63 - 1)
# From all 64 bits, so that every NaN is among them.
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


@given(detections())
def test_round_trip(original):
    """What is unpacked has the bits of what was packed, in 56 bytes a row."""
    blob = pack(original)
    assert 56 * len(original) == len(blob)
    found = unpack(blob)
    for name in ("image_id", "class_id", "confidence", "box"):
        assert getattr(original, name).tobytes() == getattr(found, name).tobytes()
        assert getattr(original, name).shape == getattr(found, name).shape


@given(detections())
def test_views_pack_as_their_copies(original):
    """Arrays that lie in memory otherwise, or the other way round, give the same bytes."""
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
    """The arrays are the caller's own, not views of the blob."""
    found = unpack(pack(Detections.from_rows([(1, 2, 0.5, 3, 4, 5, 6)])))
    found.image_id[0] = 9
    found.box[0, 0] = 9.0
    assert (9, 9.0) == (found.image_id[0], found.box[0, 0])
