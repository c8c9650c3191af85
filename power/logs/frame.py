# SPDX-License-Identifier: Apache-2.0
"""A power log as columns for a program: numpy arrays, or a DataFrame of pandas."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from power.energy.uncertainty import Measuring, power_limit_w
from power.energy.verdict import result_to_json
from power.logs.audit import Audit, audit
from power.logs.rows import ALL_COLUMNS, ELEMENT_COLUMNS, element_values
from power.meter import MEASURED, QUALITIES, IntegrationState, Reading
from power.values import flags_to_json, identity_to_json, settings_to_json

if TYPE_CHECKING:
    from pandas import DataFrame

Column = NDArray[np.float64] | NDArray[np.datetime64] | NDArray[np.str_]

UNITS = {
    "elapsed_s": "s",
    "voltage_v": "V",
    "current_a": "A",
    "power_w": "W",
    "energy_wh": "Wh",
    "integration_s": "s",
    "power_factor": "1",
    "frequency_hz": "Hz",
    "voltage_peak_v": "V",
    "current_peak_a": "A",
    "uncertainty_w": "W",
    **{name: "Wh" if name.endswith("wh") else "W" for name in ELEMENT_COLUMNS},
}
"""The unit of each column of numbers."""


def read_columns(path: str | os.PathLike[str]) -> dict[str, Column]:
    """Return the columns of a power log by name, as numpy arrays of one length.

    Numbers are float64, and NaN where the meter had none. `utc` is datetime64[ms] in UTC, and
    `state` is a text. `uncertainty_w` is computed anew from the file beside the log. The columns of
    single elements are there if the log has them. Takes every log that `python -m power audit`
    takes. Raises ValueError with file and line for a broken log.
    """
    return _columns(audit(Path(path)))


def read_log(path: str | os.PathLike[str]) -> DataFrame:
    """Return a power log as a DataFrame of pandas, with one row for each reading.

    The columns are those of `read_columns`, but `utc` knows its time zone and `state` is
    categorical. `attrs` holds plain values: `units` by column, the energy with `verdict` and
    `findings` as `python -m power audit --json` prints them in `result`, `settings`, `identity`
    and `flags` of the meter, and in `facts` where these came from (`recorded` or `guessed`).
    Raises ImportError without pandas, and ValueError with file and line for a broken log.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"power.read_log needs pandas ({error}); install the extra 'pandas', or use "
            "power.read_columns, which returns numpy arrays"
        ) from None
    judged = audit(Path(path))
    frame = pandas.DataFrame(_columns(judged))
    frame["utc"] = frame["utc"].dt.tz_localize("UTC")
    states = [state.value for state in IntegrationState]
    frame["state"] = pandas.Categorical(frame["state"], categories=states)
    frame.attrs.update(_attributes(judged))
    return frame


def _columns(judged: Audit) -> dict[str, Column]:
    rows = judged.readings
    numbers = (*MEASURED, *QUALITIES)
    columns: dict[str, Column] = {
        "elapsed_s": np.array([row.monotonic_s for row in rows], dtype=np.float64),
        # numpy knows no time zones, so the moments are those of UTC.
        "utc": np.array(
            [row.utc.astimezone(UTC).replace(tzinfo=None) for row in rows], dtype="datetime64[ms]"
        ),
        "state": np.array([row.state.value for row in rows], dtype=np.str_),
        **{name: _numbers([getattr(row, name) for row in rows]) for name in numbers},
        "uncertainty_w": _numbers(_limits(judged)),
    }
    order = list(ALL_COLUMNS)
    if any(row.elements for row in rows):
        single = [element_values(row) for row in rows]
        columns |= {name: _numbers([values[name] for values in single]) for name in ELEMENT_COLUMNS}
        order += ELEMENT_COLUMNS
    return {name: columns[name] for name in order}


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _limits(judged: Audit) -> list[float | None]:
    """Return the limit of the error of each power; guessed settings support none."""
    if judged.source == "guessed":
        return [None] * judged.rows
    facts = judged.facts
    measuring = Measuring(facts.identity, facts.settings, facts.conditions)
    return [_limit_w(row, measuring) for row in judged.readings]


def _limit_w(row: Reading, measuring: Measuring) -> float | None:
    return None if row.power_w is None else power_limit_w(row, measuring)


def _attributes(judged: Audit) -> dict[str, Any]:
    facts, result = judged.facts, result_to_json(judged.result)
    return {
        "units": dict(UNITS),
        "verdict": result["verdict"],
        "energy_wh": result["energy_wh"],
        "uncertainty_wh": result["uncertainty_wh"],
        "findings": result["findings"],
        "result": result,
        "identity": None if facts.identity is None else identity_to_json(facts.identity),
        "settings": settings_to_json(facts.settings),
        "flags": flags_to_json(facts.flags),
        "facts": judged.source,
    }
