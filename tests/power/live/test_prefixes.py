# SPDX-License-Identifier: Apache-2.0
"""Small and large quantities have a prefix and no exponent."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from power.live.terminal import prefixed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 W"),
        (5.0, "5 W"),
        (0.2, "0.2 W"),
        (0.001, "0.001 W"),
        (9999.0, "9999 W"),
        (1.3e-6, "1.3 µW"),
        (0.00034567, "345.7 µW"),
        (2e-8, "20 nW"),
        (1.5e-12, "1.5 pW"),
        (-4.2e-5, "-42 µW"),
        (15_000.0, "15 kW"),
        (2.5e6, "2.5 MW"),
        (9.99999e-7, "1 µW"),
        (float("inf"), "inf W"),
        (float("nan"), "nan W"),
    ],
)
def test_a_value_has_its_prefix(value: float, text: str) -> None:
    """Between a thousandth and ten thousand there is none."""
    assert text == prefixed(value, "W")


def test_a_terminal_without_the_greek_letter_gets_another() -> None:
    """Its text is ASCII."""
    assert "1.3 uW" == prefixed(1.3e-6, "W", micro="u")


@given(value=st.floats(1e-12, 1e11))
@example(1.3e-6)
@example(9.9996e-4)
@example(9.999e-10)
def test_no_value_has_an_exponent(value: float) -> None:
    """Its text is as long as four digits, a point, a sign of a thousandth and the unit at most."""
    text = prefixed(value, "W")
    assert "e" not in text
    assert len(text) <= len("0.001234 W")
