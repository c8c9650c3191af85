# SPDX-License-Identifier: Apache-2.0
"""The samples of a PPK2."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.meters.ppk2_samples import Calibration, Decoder
from tests.support.ppk2_unit import ABOUT, SHUNTS_OHM, sample

PLAIN = Calibration.parse(ABOUT)
ODD = """Calibrated: 1
R0: 1000
R4: 0
O2: 12.5
GS2: 0.9
GI2: 1.1
S2: 0.002
I2: 0.0003
UG2: 1.05
"""


@given(st.floats(0.001, 0.9), st.integers(0, 4))
def test_every_current_comes_back(amperes: float, scale: int) -> None:
    """A current that fits its range comes back within half a step of the converter."""
    most_a = (4 * 0x3FFF * 1.8 / 163840 / SHUNTS_OHM[scale]) * 0.9
    amperes = min(amperes, most_a)
    block = Decoder(PLAIN, 3.3).take(sample(amperes, scale))
    assert block is not None
    step_a = 4 * 1.8 / 163840 / SHUNTS_OHM[scale]
    assert block.mean_a == pytest.approx(amperes, abs=2 * step_a)


def test_the_units_own_constants_are_used() -> None:
    """Offset, gains and drift enter as the formula says; a shunt of 0 Ω is Nordic's own."""
    block = Decoder(Calibration.parse(ODD), 4.0).take(struct.pack("<I", 1000 | 2 << 14))
    plain = (4000 - 12.5) * (1.8 / 163840) / 10.15
    expected = 1.05 * (plain * (0.9 * plain + 1.1) + (0.002 * 4.0 + 0.0003))
    assert block is not None
    assert block.mean_a == pytest.approx(expected)
    assert Calibration.parse(ODD).shunt_ohm[4] == 0.043


@given(st.binary(min_size=1, max_size=400), st.data())
def test_bytes_may_be_cut_anywhere(content: bytes, data: st.DataObject) -> None:
    """Any bytes, cut anywhere, give as many samples as whole ones, and never an error."""
    decoder = Decoder(PLAIN, 3.3)
    cut = data.draw(st.integers(0, len(content)))
    blocks = [decoder.take(content[:cut]), decoder.take(content[cut:])]
    assert sum(block.samples for block in blocks if block) == len(content) // 4


def test_lost_samples_are_counted_over_blocks() -> None:
    """What the counter leaves out is counted, within a block and between two."""
    decoder = Decoder(PLAIN, 3.3)
    first = decoder.take(b"".join(sample(0.1, count=count) for count in (60, 61, 63, 64)))
    second = decoder.take(b"".join(sample(0.1, count=count) for count in (67, 70)))
    assert first is not None and second is not None
    assert (first.lost, second.lost) == (1, 4)


def test_samples_right_after_a_change_of_range_do_not_count() -> None:
    """The three samples of a change of range are left out of the mean."""
    spike = b"".join(sample(0.4, 4) for _ in range(3))
    block = Decoder(PLAIN, 3.3).take(sample(0.01, 3) * 5 + spike + sample(0.1, 4) * 5)
    assert block is not None
    assert block.mean_a == pytest.approx((0.01 * 5 + 0.1 * 5) / 10, rel=0.02)


@pytest.mark.parametrize(
    ("content", "over"),
    [
        (sample(0.95), False),
        (sample(1.05), True),
        (struct.pack("<I", 0x3FFF | 4 << 14), True),
        (struct.pack("<I", 0x3FFF | 0 << 14), False),
    ],
)
def test_more_than_an_ampere_is_over_range(content: bytes, over: bool) -> None:
    """A current above 1 A, and a converter at its end in the largest range, are over range."""
    block = Decoder(PLAIN, 3.3).take(content)
    assert block is not None
    assert block.over_range is over


def test_what_has_no_calibration_is_refused() -> None:
    """A text without a shunt is no calibration."""
    with pytest.raises(ValueError, match="no calibration"):
        Calibration.parse("HW: 9173\n")


@pytest.mark.parametrize("constant", ["nan", "1e999", "R", "9" * 400])
def test_a_calibration_that_is_no_number_is_refused(constant: str) -> None:
    """A constant that is no number never becomes a current."""
    with pytest.raises(ValueError, match="."):
        Calibration.parse(f"R0: 1031\nGS1: {constant}\n")
