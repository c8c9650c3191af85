# SPDX-License-Identifier: Apache-2.0
"""Files that people hand over may begin with a byte order mark, as spreadsheets write it."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from power.bounded_file import file_text
from power.cli import main
from power.emulator.profile import energy_wh, read_csv
from power.logs.marks import read_marks

MARK = b"\xef\xbb\xbf"


@pytest.fixture
def logs(shared_data: Path) -> Path:
    """Return the folder of logs with the mark."""
    return shared_data / "field/meters/csv_bom"


@pytest.mark.parametrize(
    ("log", "energy", "verdict"),
    [("bom.csv", 0.00833333, "VALID"), ("old_bom.csv", 0.0042, "SUSPECT")],
)
def test_a_log_with_the_mark_is_audited(
    logs: Path, log: str, energy: float, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the energy and the verdict of the log without it."""
    assert 0 == main(["audit", str(logs / log), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (pytest.approx(energy), verdict) == (found["energy_wh"], found["verdict"])


def test_a_profile_with_the_mark_keeps_its_first_row(logs: Path) -> None:
    """5 W for two seconds, then 9 W."""
    profile = read_csv(logs / "prof_bom.csv")
    assert pytest.approx(19 / 3600) == energy_wh(profile, 0.0, 3.0)


def test_every_form_of_a_log_may_have_the_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CSV, packed CSV, JSON lines, the facts and the marks beside them."""
    header = "elapsed_s,utc,voltage_v,current_a,power_w,energy_wh,integration_s,state\n"
    rows = [
        f"{k}.2,2026-01-01T00:00:0{k}.000+00:00,120,0.05,6,{6 * k / 3600:.8f},{k},START\n"
        for k in range(1, 6)
    ]
    csv = (header + "".join(rows)).encode()
    names = header.strip().split(",")
    lines = "".join(
        json.dumps(
            {
                name: value if name in ("utc", "state") else float(value)
                for name, value in zip(names, row.strip().split(","), strict=True)
            }
        )
        + "\n"
        for row in rows
    ).encode()
    forms = {"a.csv": csv, "b.csv.gz": gzip.compress(MARK + csv), "c.jsonl": lines}
    energies = set()
    for name, content in forms.items():
        path = tmp_path / name
        path.write_bytes(content if name.endswith("gz") else MARK + content)
        main(["audit", str(path), "--json"])
        energies.add(json.loads(capsys.readouterr().out)["integrator_wh"])
    assert {round(30 / 3600, 8)} == energies
    (tmp_path / "a.marks.jsonl").write_bytes(MARK + b'{"elapsed_s": 1.5, "text": "warm"}\n')
    assert ["warm"] == [mark.text for mark in read_marks(tmp_path / "a.csv")]


def test_the_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    """One reader reads a schedule, a configuration, and what stands beside a log."""
    path = tmp_path / "a.txt"
    path.write_bytes(MARK + b"one\r\ntwo")
    assert "one\ntwo" == file_text(path)


def test_facts_with_the_mark_are_read(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody has opened the file beside the log in an editor."""
    for name in ("bom.csv", "bom.json"):
        shutil.copy(logs / name, tmp_path / name)
    facts = tmp_path / "bom.json"
    facts.write_bytes(MARK + facts.read_bytes())
    assert 0 == main(["audit", str(tmp_path / "bom.csv")])
    assert "(VALID)" in capsys.readouterr().out


@pytest.mark.parametrize("row", ["\ufeff0,5", "0;5", "0,5 W", "0,five"])
def test_a_row_of_a_profile_that_is_none_is_named(tmp_path: Path, row: str) -> None:
    """It is never left out in silence; a header and a reading without a power may be."""
    path = tmp_path / "profile.csv"
    path.write_text(f"{row}\n1,5\n2,9\n", encoding="utf-8-sig")
    with pytest.raises(ValueError, match="row 1: .* is no row of seconds and watts"):
        read_csv(path)
