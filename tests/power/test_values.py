# SPDX-License-Identifier: Apache-2.0
"""The meter's values through JSON and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.meter import (
    ElementValues,
    Identity,
    InputMode,
    IntegrationState,
    MeterFlag,
    MeterSettings,
    Reading,
)
from power.values import (
    identity_from_json,
    identity_to_json,
    reading_from_json,
    reading_to_json,
    settings_from_json,
    settings_to_json,
)

NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
READINGS = st.builds(
    Reading,
    monotonic_s=st.floats(0, 1e9),
    utc=st.timedeltas(timedelta(0), timedelta(days=9999)).map(
        lambda passed: datetime(2020, 1, 1, tzinfo=UTC) + passed
    ),
    voltage_v=NUMBERS,
    current_a=NUMBERS,
    power_w=NUMBERS,
    energy_wh=NUMBERS,
    integration_s=NUMBERS,
    state=st.sampled_from(IntegrationState),
    absent=st.dictionaries(st.sampled_from(["power_w", "voltage_v"]), st.text()),
    flags=st.frozensets(st.sampled_from(MeterFlag)),
    voltage_range_v=NUMBERS,
    current_range_a=NUMBERS,
    power_factor=NUMBERS,
    frequency_hz=NUMBERS,
    voltage_peak_v=NUMBERS,
    current_peak_a=NUMBERS,
    elements=st.lists(
        st.builds(ElementValues, st.integers(1, 3), NUMBERS, NUMBERS), max_size=3
    ).map(tuple),
)


@given(READINGS)
def test_a_reading_comes_back_to_the_last_digit(reading: Reading) -> None:
    """A reading's numbers, moment, reasons, flags and ranges survive JSON unchanged."""
    text = json.dumps(reading_to_json(reading), allow_nan=False)
    assert reading == reading_from_json(json.loads(text))


@given(
    st.builds(
        MeterSettings,
        timer_s=st.integers(0, 36_000_000),
        update_interval_s=st.sampled_from([0.1, 0.25, 1.0, 20.0]),
        mode=st.sampled_from(InputMode),
        voltage_range_v=NUMBERS,
        current_range_a=NUMBERS,
        crest_factor=st.sampled_from([3, 6]),
        line_filter=st.booleans(),
        frequency_filter=st.booleans(),
        element=st.sampled_from(["1", "2", "3", "SIGMA"]),
        wiring=st.none() | st.just("P3W4"),
    )
)
def test_settings_come_back(settings: MeterSettings) -> None:
    """Settings survive JSON: auto-range stays auto-range, and the mode stays a mode."""
    text = json.dumps(settings_to_json(settings), allow_nan=False)
    assert settings == settings_from_json(json.loads(text))


def test_an_identity_comes_back() -> None:
    """All four fields of `*IDN?` are kept."""
    identity = Identity("YOKOGAWA", "WT310E", "C2QJ12345V", "F1.04")
    assert identity == identity_from_json(json.loads(json.dumps(identity_to_json(identity))))


def test_values_of_something_else_are_refused_by_name() -> None:
    """A missing field, an extra field and an unknown word are refused by name."""
    with pytest.raises(ValueError, match="not the identity"):
        identity_from_json({"maker": "YOKOGAWA"})
    with pytest.raises(ValueError, match="not the settings.*mode"):
        settings_from_json({"timer_s": 5})
    with pytest.raises(ValueError, match="not the settings.*AC"):
        settings_from_json({"timer_s": 5, "mode": "AC"})
    with pytest.raises(ValueError, match="not a reading.*utc"):
        reading_from_json({"monotonic_s": 1.0})
