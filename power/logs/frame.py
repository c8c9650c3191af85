# SPDX-License-Identifier: Apache-2.0
"""A power log as columns for a program: numpy arrays, or a DataFrame of pandas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from power.energy.uncertainty import Measuring, power_limits_w
from power.energy.verdict import result_to_json
from power.logs.audit import Audit, audit
from power.logs.rows import ALL_COLUMNS, ELEMENT_COLUMNS
from power.meter import MEASURED, QUALITIES, IntegrationState
from power.quantities import COLUMN, unit_of
from power.readings import Numbers
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
            f"power.read_log needs pandas ({error}): pip install pandas (the extra 'pandas'). "
            "Or use power.read_columns, which returns numpy arrays"
        ) from None
    judged = audit(Path(path))
    columns, rows = _columns(judged), judged.readings.columns()
    states = [state.value for state in IntegrationState]
    places = np.array([states.index(kind.state.value) for kind in rows.kinds], dtype=np.int8)
    of_state = pandas.Categorical.from_codes(places[rows.codes], categories=states)
    # The frame keeps the arrays of the log as they are: a copy would take their memory again.
    frame = pandas.DataFrame(columns | {"state": of_state}, copy=False)
    frame["utc"] = frame["utc"].dt.tz_localize("UTC")
    frame.attrs.update(_attributes(judged))
    frame.attrs["units"] |= {f"{COLUMN}{name}": unit_of(name) or "" for name in rows.quantities}
    return frame


def _columns(judged: Audit) -> dict[str, Column]:
    rows = judged.readings.columns()
    states = np.array([kind.state.value for kind in rows.kinds], dtype=np.str_)
    columns: dict[str, Column] = {
        "elapsed_s": rows.numbers("monotonic_s"),
        # numpy knows no time zones, so the moments are those of UTC.
        "utc": (rows.utc_us // 1000).view("datetime64[ms]"),
        "state": states[rows.codes],
        **{name: rows.numbers(name) for name in (*MEASURED, *QUALITIES)},
        "uncertainty_w": _limits(judged),
    }
    order = list(ALL_COLUMNS)
    if any(kind.elements for kind in rows.kinds):
        columns |= {
            f"element_{number}_{name}": rows.element(number, name)
            for number in (1, 2, 3)
            for name in ("power_w", "energy_wh")
        }
        order += ELEMENT_COLUMNS
    for name in rows.quantities:
        columns[f"{COLUMN}{name}"] = rows.quantity(name)
        order.append(f"{COLUMN}{name}")
    return {name: columns[name] for name in order}


def _limits(judged: Audit) -> Numbers:
    """Return the limit of the error of each power; guessed settings support none."""
    if judged.source == "guessed":
        return np.full(judged.rows, np.nan)
    facts = judged.facts
    measuring = Measuring(facts.identity, facts.settings, facts.conditions)
    return power_limits_w(judged.readings.columns(), measuring)


def _attributes(judged: Audit) -> dict[str, object]:
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
