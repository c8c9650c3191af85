# SPDX-License-Identifier: Apache-2.0
"""The power log: written row by row, read back without loss."""

from __future__ import annotations

import errno
import json
import os
import re
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.logs.power_log import COLUMNS, PowerLog, read_power_log
from power.meter import MEASURED, QUALITIES, ElementValues, IntegrationState, Reading
from tests.support.full_disk import FullDisk


def test_header_is_the_contract(tmp_path: Path) -> None:
    """The header begins with the columns that other programs rely on; new ones come after them."""
    with PowerLog(tmp_path / "log.csv", 0.0):
        pass
    old = "elapsed_s,utc,voltage_v,current_a,power_w,energy_wh,integration_s,state"
    new = "power_factor,frequency_hz,voltage_peak_v,current_peak_a,uncertainty_w"
    assert f"{old},{new}\n" == (tmp_path / "log.csv").read_text()


def test_each_line_of_json_is_in_the_file_at_once(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """A log of JSON lines has no header; its keys are the columns that the reading knows."""
    path = tmp_path / "log.jsonl"
    with PowerLog(path, 2.0) as log:
        log.begin(2.0, lambda reading: 0.01234567)
        log.add(make_reading(3.5, absent={"frequency_hz": "over range"}, power_factor=0.98))
        text = path.read_text()
    assert text.endswith("\n")
    values = json.loads(text)
    assert {*COLUMNS, "power_factor", "frequency_hz", "uncertainty_w"} == values.keys()
    assert (1.5, "2026-01-01T00:00:03.500+00:00", 6.0, "START") == (
        *(values["elapsed_s"], values["utc"], values["power_w"], values["state"]),
    )
    assert (0.98, None, 0.01235) == (
        *(values["power_factor"], values["frequency_hz"], values["uncertainty_w"]),
    )


ANY = st.floats(-1e9, 1e9) | st.none()


@given(
    values=st.lists(ANY, min_size=5, max_size=5),
    qualities=st.lists(ANY, min_size=4, max_size=4),
    asked=st.booleans(),
    elements=st.lists(st.tuples(ANY, ANY), max_size=3),
    state=st.sampled_from(IntegrationState),
)
def test_both_formats_read_back_the_same(
    values: list[float | None],
    qualities: list[float | None],
    asked: bool,
    elements: list[tuple[float | None, float | None]],
    state: IntegrationState,
) -> None:
    """A reading comes back from JSON lines as it comes back from CSV, with every digit."""
    known = dict(zip((*MEASURED, *QUALITIES), (*values, *qualities), strict=True))
    absent = {name: "none" for name in known if known[name] is None}
    if not asked:
        absent = {name: "none" for name in absent if name in MEASURED}
    reading = Reading(
        monotonic_s=12.25,
        utc=datetime(2026, 1, 1, tzinfo=UTC),
        **known,  # type: ignore[arg-type]
        state=state,
        absent=absent,
        elements=tuple(ElementValues(at, *pair) for at, pair in enumerate(elements, start=1)),
    )
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name in ("log.csv", "log.jsonl"):
            with PowerLog(Path(folder) / name, elements=True) as log:
                log.add(reading)
            found += read_power_log(Path(folder) / name)
    assert found[0] == found[1]
    assert known == {name: getattr(found[0], name) for name in known}
    assert absent.keys() == found[0].absent.keys()


def test_a_log_of_json_lines_goes_on_after_a_kill(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """What resumes a log of JSON lines cuts off half a line and appends whole ones."""
    path = tmp_path / "log.jsonl"
    with PowerLog(path) as log:
        log.add(make_reading(1.0))
    with open(path, "a") as file:
        file.write('{"elapsed_s": 2.0, "utc": "20')
    assert 1 == len(read_power_log(path))
    with PowerLog(path, resume=True) as log:
        log.add(make_reading(3.0))
    assert [1.0, 3.0] == [row.monotonic_s for row in read_power_log(path)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ('"power_w": NaN', "NaN is no measured value"),
        ('"power_w": 9.91e37', "no measured value"),
        ('"power_w": 1' + "0" * 400, "no measured value"),
        ('"power_w": "3"', "power_w is '3', not a number"),
        ('"power_w": true', "power_w is True, not a number"),
        ('"state": "RUN"', "RUN"),
        ('"state": 1', "state is 1, not a text"),
        ('"utc": "yesterday"', "yesterday"),
        ('"elapsed_s": null', "elapsed_s is missing"),
        ('"x": ' + "[" * 100_000, "nested too deeply"),
        ('"x": }', "Expecting value"),
    ],
)
def test_a_broken_line_of_json_is_named(
    tmp_path: Path, make_reading: Callable[..., Reading], changes: str, words: str
) -> None:
    """The error for a line that is no reading names file and line."""
    path = tmp_path / "log.jsonl"
    with PowerLog(path) as log:
        log.add(make_reading(1.0))
    whole = path.read_text()
    # Of two equal keys the later one counts.
    path.write_text(whole + whole.rstrip().removesuffix("}") + f", {changes}}}\n")
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        read_power_log(path)
    assert f"{path}, line 2" in str(caught.value)


def test_a_line_of_json_without_a_column_is_refused(tmp_path: Path) -> None:
    """A line names the first key that it lacks."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"elapsed_s": 1.0}\n')
    with pytest.raises(ValueError, match="line 1: the key utc is missing"):
        read_power_log(path)


def test_columns_of_a_later_version_are_left_out(tmp_path: Path) -> None:
    """A column that this version does not know may hold anything."""
    path = tmp_path / "log.csv"
    path.write_text(",".join(COLUMNS) + ",mood\n1,2026-01-01T00:00:00+00:00,1,2,3,4,5,STOP,fine\n")
    assert 3.0 == read_power_log(path)[0].power_w


def test_each_row_is_in_the_file_at_once(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """A killed writer loses no row that it had added."""
    path = tmp_path / "log.csv"
    with PowerLog(path, 2.0) as log:
        log.add(make_reading(3.5))
        line = path.read_text().splitlines()[1]
    assert (
        "1.5000,2026-01-01T00:00:03.500+00:00,120.0,0.05,6.0,0.005833333333333334,3.0,START,,,,,"
        == line
    )


def test_what_the_meter_cannot_say_differs_from_what_it_was_not_asked(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """The frequency of direct current comes back absent, and one not asked for comes back None."""
    rows = [
        make_reading(1.0, absent={"frequency_hz": "over range"}, power_factor=0.98),
        make_reading(2.0, frequency_hz=60.0, voltage_peak_v=169.7, current_peak_a=0.0707),
    ]
    with PowerLog(tmp_path / "log.csv") as log:
        log.begin(0.0, lambda reading: 0.012)
        for row in rows:
            log.add(row)
    found = read_power_log(tmp_path / "log.csv")
    assert {"frequency_hz": "no data"} == found[0].absent
    assert {} == found[1].absent
    assert (0.98, None, None) == (
        found[0].power_factor,
        found[0].frequency_hz,
        found[0].current_peak_a,
    )
    assert (60.0, 169.7, 0.0707) == (
        found[1].frequency_hz,
        found[1].voltage_peak_v,
        found[1].current_peak_a,
    )
    assert (tmp_path / "log.csv").read_text().splitlines()[2].endswith(",0.012")


def test_single_elements_have_columns_of_their_own(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """Power and energy of each element come back, and an element that is not there stays away."""
    row = make_reading(1.0, elements=(ElementValues(1, 4.0, 0.1), ElementValues(3, 2.0, None)))
    with PowerLog(tmp_path / "log.csv", elements=True) as log:
        log.add(row)
    assert row.elements == read_power_log(tmp_path / "log.csv")[0].elements


def test_a_log_of_the_first_version_is_read(tmp_path: Path) -> None:
    """A log with eight columns has readings without power factor, frequency and peaks."""
    path = tmp_path / "log.csv"
    path.write_text(",".join(COLUMNS) + "\n1.0,2026-01-01T00:00:00+00:00,1,2,3,4,5,START\n")
    found = read_power_log(path)[0]
    assert (3.0, None, {}) == (found.power_w, found.frequency_hz, found.absent)


def test_what_is_written_reads_back(tmp_path: Path, make_reading: Callable[..., Reading]) -> None:
    """Numbers come back to the last digit, and absent values come back absent."""
    rows = [
        make_reading(1.0, power_w=None, absent={"power_w": "over range"}),
        make_reading(2.25, state=IntegrationState.TIMEUP),
    ]
    with PowerLog(tmp_path / "log.csv", 0.0) as log:
        for row in rows:
            log.add(row)
    found = read_power_log(tmp_path / "log.csv")
    assert [row.energy_wh for row in rows] == [row.energy_wh for row in found]
    assert [None, 6.0] == [row.power_w for row in found]
    assert {"power_w": "no data"} == found[0].absent
    assert [1.0, 2.25] == [row.monotonic_s for row in found]
    assert IntegrationState.TIMEUP is found[1].state


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    """An existing log stays as it is."""
    path = tmp_path / "log.csv"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        PowerLog(path, 0.0)
    assert "precious" == path.read_text()


def test_rows_wait_while_the_disk_is_full(
    tmp_path: Path,
    make_reading: Callable[..., Reading],
    full_disk: FullDisk,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """On a full disk no row is lost or repeated; one warning begins the trouble, one ends it."""
    path = tmp_path / "log.csv"
    with PowerLog(path) as log:
        log.add(make_reading(1.0))
        full_disk.fill(path, room=10)
        for at_s in (2.0, 3.0, 4.0):
            log.add(make_reading(at_s))
        assert not log.flush()
        assert "4.0000,2026" in log.waiting
        full_disk.free()
        log.add(make_reading(5.0))
        assert "" == log.waiting
    assert [1.0, 2.0, 3.0, 4.0, 5.0] == [row.monotonic_s for row in read_power_log(path)]
    assert 2 == len(caplog.messages)
    assert "free some space" in caplog.messages[0]


def test_no_run_begins_on_a_full_disk(tmp_path: Path, full_disk: FullDisk) -> None:
    """A log whose header finds no room is refused, and leaves no file."""
    path = tmp_path / "log.csv"
    full_disk.fill(path)
    with pytest.raises(OSError, match="free some space"):
        PowerLog(path)
    assert not path.exists()


def test_no_run_begins_on_a_disk_that_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes the first line and cannot keep it is refused; the file is removed."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    path = tmp_path / "log.csv"
    with pytest.raises(OSError, match=r"log\.csv cannot be written \(Input/output error\)"):
        PowerLog(path)
    assert not path.exists()


def test_a_half_written_last_row_is_left_out(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """A killed process's log is readable up to its last whole row."""
    path = tmp_path / "log.csv"
    with PowerLog(path, 0.0) as log:
        log.add(make_reading(1.0))
    with open(path, "a") as file:
        file.write("2.0000,2026-01-01T00")
    assert 1 == len(read_power_log(path))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1.0,2026-01-01T00:00:00+00:00,1,2,nan,4,5,START", "nan is no measured value"),
        ("1.0,2026-01-01T00:00:00+00:00,1,2,9.91e+37,4,5,START", "no measured value"),
        ("1.0,2026-01-01T00:00:00+00:00,1,2,3,4,5,RUN", "RUN"),
        ("1.0,2026-01-01T00:00:00+00:00,1,2,3", "5 fields instead of 8"),
        ("1.0,yesterday,1,2,3,4,5,START", "yesterday"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, row: str, words: str) -> None:
    """The error for a malformed row names file and line."""
    path = tmp_path / "log.csv"
    path.write_text(",".join(COLUMNS) + "\n" + row + "\n")
    with pytest.raises(ValueError, match=words) as caught:
        read_power_log(path)
    assert f"{path}, line 2" in str(caught.value)


def test_a_field_without_end_is_refused(tmp_path: Path) -> None:
    """A field that is longer than any is an error that names the file."""
    path = tmp_path / "log.csv"
    path.write_text(",".join(COLUMNS) + "\n" + "1" * 200_000 + "\n")
    with pytest.raises(ValueError, match="log.csv: field larger than"):
        read_power_log(path)


def test_another_header_is_refused(tmp_path: Path) -> None:
    """A file with another header is refused."""
    path = tmp_path / "log.csv"
    path.write_text("a,b,c\n1,2,3\n")
    with pytest.raises(ValueError, match="the first line must begin with"):
        read_power_log(path)
