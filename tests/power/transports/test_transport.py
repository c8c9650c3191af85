# SPDX-License-Identifier: Apache-2.0
"""The log of what a transport carried."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path
from typing import Any

import pytest

from power.errors import MeterSilent
from power.transports.transport import LoggedTransport, WireLog
from tests.support.full_disk import FullDisk


def test_every_event_is_a_line_with_both_clocks(
    tmp_path: Path, script: Any, fake_time: Any
) -> None:
    """Each event is one line, in order: sent, received, failed, cleared and closed."""
    path = tmp_path / "meter.jsonl"
    inner = script([("*IDN?", "YOKOGAWA,WT310,1,F1"), (":X?", b"#14\x7e\x95\x1b\xee\n")])
    transport = LoggedTransport(inner, WireLog(path, fake_time.clock, fake_time.utc))
    transport.write("*IDN?")
    transport.read(1.0)
    fake_time.sleep(0.5)
    transport.write(":X?")
    transport.read(1.0)
    with pytest.raises(MeterSilent):
        transport.read(1.0)
    transport.clear()
    transport.close()
    transport.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [
        ("open", "script"),
        ("sent", "*IDN?"),
        ("received", "YOKOGAWA,WT310,1,F1\n"),
        ("sent", ":X?"),
        ("received", "2331347e951bee0a"),
        ("failed", "MeterSilent: script is silent"),
        ("cleared", ""),
        ("closed", ""),
    ] == [(line["event"], line.get("text", line.get("hex"))) for line in lines]
    assert [1000.0, 1000.5] == sorted({line["monotonic_s"] for line in lines})
    assert lines[0]["utc"] == "2026-01-01T00:16:40.000000+00:00"
    assert inner.closed


def test_a_second_link_appends(tmp_path: Path, script: Any, fake_time: Any) -> None:
    """A second link appends to the log of the first."""
    path = tmp_path / "meter.jsonl"
    for _ in range(2):
        LoggedTransport(script([]), WireLog(path, fake_time.clock, fake_time.utc)).close()
    assert 4 == len(path.read_text().splitlines())


def events(path: Path) -> list[tuple[str, str]]:
    """Return each line's event and text; each line must be whole."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["event"], line["text"]) for line in lines]


def test_a_full_disk_fails_no_conversation(
    tmp_path: Path,
    script: Any,
    fake_time: Any,
    full_disk: FullDisk,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A full disk fails no question; missing records are counted, warned of and marked."""
    path = tmp_path / "meter.jsonl"
    log = WireLog(path, fake_time.clock, fake_time.utc)
    transport = LoggedTransport(script([("A?", "1"), ("B?", "2"), ("C?", "3")]), log)
    full_disk.fill(path, room=20)
    with caplog.at_level(logging.WARNING):
        for question, answer in (("A?", b"1\n"), ("B?", b"2\n")):
            transport.write(question)
            assert answer == transport.read(1.0)
        full_disk.free()
        transport.write("C?")
        transport.read(1.0)
    log.close()
    assert [
        ("open", "script"),
        ("sent", "A?"),
        ("gap", "3 records are missing here: File too large"),
        ("sent", "C?"),
        ("received", "3\n"),
    ] == events(path)
    assert 3 == log.lost
    assert ["cannot be written", "is written again"] == [
        next(words for words in ("cannot be written", "is written again") if words in text)
        for text in caplog.messages
    ]


def test_a_link_closes_on_a_full_disk(
    tmp_path: Path, script: Any, fake_time: Any, full_disk: FullDisk
) -> None:
    """A link closes on a full disk without an error, and the next one logs the missing count."""
    path = tmp_path / "meter.jsonl"
    log = WireLog(path, fake_time.clock, fake_time.utc)
    inner = script([])
    first = LoggedTransport(inner, log)
    full_disk.fill(path)
    first.clear()
    first.close()
    assert inner.closed
    full_disk.free()
    LoggedTransport(script([]), log).close()
    assert ["open", "cleared", "gap", "open", "closed"] == [event for event, _ in events(path)]


def test_the_log_is_readable_by_its_user_alone(tmp_path: Path, script: Any, fake_time: Any) -> None:
    """Only its user can read the log."""
    path = tmp_path / "meter.jsonl"
    LoggedTransport(script([]), WireLog(path, fake_time.clock, fake_time.utc)).close()
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
