# SPDX-License-Identifier: Apache-2.0
"""Packed power logs: read as the plain ones, and made without a moment in which rows are lost."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from power.bench.rescue import LeftRun
from power.energy.judge import RunFacts
from power.logs.audit import audit
from power.logs.facts_file import RunCourse, save_facts
from power.logs.marks import add_mark, read_marks
from power.logs.packed import pack, packed_path
from power.logs.power_log import PowerLog
from power.meter import MeterSettings, Reading

OLD_LOG = "120,0.05,6,0.0016666,1\n120,0.05,6,0.0033333,2\n"


@pytest.fixture(params=["log.csv", "log.jsonl"])
def log(
    request: pytest.FixtureRequest, tmp_path: Path, make_reading: Callable[..., Reading]
) -> Path:
    """Return a log of 20 readings with its facts and a mark."""
    path = tmp_path / request.param
    with PowerLog(path) as written:
        for at_s in range(1, 21):
            written.add(make_reading(float(at_s)))
    save_facts(path, RunFacts(None, MeterSettings(timer_s=20)), RunCourse("", 0.0, ""))
    add_mark(path, "half", 10.0, datetime.now(UTC))
    return path


def test_a_packed_log_is_judged_as_the_plain_one(log: Path) -> None:
    """Readings, facts and marks are the same, and the plain log is gone."""
    before, marks = audit(log), read_marks(log)
    packed = pack(log)
    assert (False, f"{log.name}.gz") == (log.exists(), packed.name)
    assert before == audit(packed)
    assert "recorded" == audit(packed).source
    assert marks == read_marks(packed) != ()


def test_the_bytes_decide_and_not_the_name(log: Path) -> None:
    """A packed log without its suffix is read, and so is a plain one with it."""
    rows = audit(log).rows
    plain = log.with_name("plain" + log.suffix + ".gz")
    shutil.copy(log, plain)
    bare = log.with_name("bare" + log.suffix)
    pack(log).rename(bare)
    assert (rows, rows) == (audit(plain).rows, audit(bare).rows)


def test_a_packed_log_of_2015_is_read(tmp_path: Path) -> None:
    """Such a log has five columns and no header."""
    path = tmp_path / "2015.csv"
    path.write_text(OLD_LOG)
    readings = audit(path).readings
    assert readings == audit(pack(path)).readings


@pytest.mark.parametrize("left", [1, 40, -9, -1])
def test_a_torn_packed_log_is_refused(log: Path, left: int) -> None:
    """A part of a packed log is no log with fewer rows."""
    packed = pack(log)
    packed.write_bytes(packed.read_bytes()[:left])
    with pytest.raises(ValueError, match=r"no whole gzip file|must begin with|no JSON object"):
        audit(packed)


def test_a_packed_log_with_a_changed_byte_is_refused(log: Path) -> None:
    """The check sum tells."""
    packed = pack(log)
    whole = gzip.decompress(packed.read_bytes())
    changed = bytearray(packed.read_bytes())
    changed[-6] ^= 1
    packed.write_bytes(changed)
    assert b"START" in whole
    with pytest.raises(ValueError, match="no whole gzip file"):
        audit(packed)


def test_the_same_log_is_packed_to_the_same_bytes(log: Path) -> None:
    """A hash of a packed log says which log it is."""
    twin = log.parent / "twin" / log.name
    twin.parent.mkdir()
    shutil.copy(log, twin)
    assert pack(log).read_bytes() == pack(twin).read_bytes()


def test_a_log_that_cannot_be_packed_stays(log: Path) -> None:
    """A failure changes nothing, and no other file is written over."""
    text = log.read_text()
    packed_path(log).write_text("another")
    with pytest.raises(FileExistsError, match="already exists"):
        pack(log)
    assert "another" == packed_path(log).read_text()
    packed_path(log).unlink()
    in_the_way = packed_path(log).with_name(packed_path(log).name + ".part")
    in_the_way.mkdir()
    with pytest.raises(OSError, match="directory"):
        pack(log)
    assert text == log.read_text()
    assert not packed_path(log).exists()


def test_a_packed_log_is_no_log_to_go_on_with(log: Path) -> None:
    """A run that was packed has ended: `rescue` says so, and changes nothing."""
    facts = RunFacts(None, MeterSettings(timer_s=20), 20.0)
    save_facts(log, facts, RunCourse("", 0.0, ""))
    with pytest.raises(ValueError, match="finished already"):
        LeftRun.load(pack(log))
