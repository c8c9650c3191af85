# SPDX-License-Identifier: Apache-2.0
"""Rows that are read column by column, and those that are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from power.logs import power_log
from power.logs.power_log import PowerLog, read_power_log
from power.logs.rows import ALL_COLUMNS
from power.logs.usual_rows import BLOCK, usual_rows
from power.meter import ElementValues, IntegrationState, Reading
from power.readings import Readings

Make = Callable[..., Reading]
USUAL = {
    "elapsed_s": "1.5",
    "utc": "2026-02-28T23:59:59.999+00:00",
    "voltage_v": "120.01",
    "current_a": "",
    "power_w": "-6e-05",
    "energy_wh": "0.1",
    "integration_s": "1.0",
    "state": "START",
    "power_factor": "nan",
    "frequency_hz": "",
    "voltage_peak_v": "1",
    "current_peak_a": "0.0",
    "uncertainty_w": "",
}


def row_by_row(path: Path, monkeypatch: pytest.MonkeyPatch) -> Readings:
    """Return a log's readings without the way of whole columns."""
    with monkeypatch.context() as patch:
        patch.setattr(power_log, "usual_rows", lambda header, rows: None)
        return read_power_log(path)


def test_whole_columns_give_the_readings_of_single_rows(
    tmp_path: Path, make_reading: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usual and unusual blocks of a log, with elements and quantities, come back in every bit."""
    path = tmp_path / "log.csv"
    with PowerLog(path, elements=True, quantities=("S", "UTHD")) as log:
        for at in range(4 * BLOCK + 5):
            holed = at == BLOCK + 7
            log.add(
                make_reading(
                    at / 10,
                    power_w=None if holed else at / 7,
                    absent={"power_w": "no data"} if holed else {},
                    power_factor=at / 5000,
                    elements=(ElementValues(1, at / 3, 0.1), ElementValues(2, at / 9, None)),
                    quantities={"S": at / 11, "UTHD": None},
                    state=IntegrationState.STOP if at > 4 * BLOCK else IntegrationState.START,
                )
            )
    found = read_power_log(path)
    assert row_by_row(path, monkeypatch) == found
    assert 4 * BLOCK + 5 == len(found)
    assert [at for at, row in enumerate(found) if row.power_w is None] == [BLOCK + 7]


def test_usual_rows_are_taken() -> None:
    """Rows as the log writes them are read together; a column without numbers is left out."""
    found = usual_rows(ALL_COLUMNS, [list(USUAL.values())] * 2)
    assert found is not None
    assert {"elapsed_s", "voltage_v", "power_w", "energy_wh", "integration_s", "voltage_peak_v"} | {
        "current_peak_a"
    } == found.numbers.keys()
    assert [-6e-05, -6e-05] == found.numbers["power_w"].tolist()
    assert [1772323199999000] * 2 == found.utc_us.tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"power_w": ""},
        {"power_w": "nan"},
        {"power_w": "1,2"},
        {"power_w": "1_0"},
        {"power_w": "9.91e37"},
        {"power_w": "1" + "0" * 400},
        {"power_w": "null"},
        {"current_a": "1.0"},
        {"power_factor": ""},
        {"power_factor": "0.5"},
        {"state": "STOP"},
        {"utc": "2026-02-29T23:59:59.999+00:00"},
        {"utc": "2026-02-28T23:59:59.999+01:00"},
        {"utc": "2026-02-28T23:59:59.99٣+00:00"},
        {"utc": "2026-02-28T23:59:59+00:00"},
        {"utc": "0000-02-28T23:59:59.999+00:00"},
        {"utc": "2026-02-28T23:59:60.000+00:00"},
        {"utc": ""},
    ],
)
def test_a_row_of_another_kind_is_left_to_the_reader_of_rows(changes: dict[str, str]) -> None:
    """One such row is enough, and so is one with more or fewer fields."""
    other = list((USUAL | changes).values())
    assert usual_rows(ALL_COLUMNS, [list(USUAL.values()), other]) is None
    assert usual_rows(ALL_COLUMNS, [list(USUAL.values()), [*USUAL.values(), ""]]) is None
    assert usual_rows(ALL_COLUMNS, [list(USUAL.values()), []]) is None


def test_a_fault_after_many_usual_rows_is_named_by_its_line(
    tmp_path: Path, make_reading: Make
) -> None:
    """Lines count from the begin of the file, with those that are empty."""
    path = tmp_path / "log.csv"
    with PowerLog(path) as log:
        for at in range(2 * BLOCK):
            log.add(make_reading(float(at)))
    with path.open("a") as file:
        file.write("\n1,2\n")
    with pytest.raises(ValueError, match=f"line {2 * BLOCK + 3}: 2 fields instead of 13"):
        read_power_log(path)
