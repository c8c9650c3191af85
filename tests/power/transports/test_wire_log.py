# SPDX-License-Identifier: Apache-2.0
"""The log of the conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from power.errors import MeterSilent
from power.transports.base import LoggedTransport, WireLog


def test_every_event_is_a_line_with_both_clocks(
    tmp_path: Path, script: Any, fake_time: Any
) -> None:
    """Sent, received, failed, cleared and closed are all in the file, in order."""
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
    """Reopening a link loses nothing of what was logged before."""
    path = tmp_path / "meter.jsonl"
    for _ in range(2):
        LoggedTransport(script([]), WireLog(path, fake_time.clock, fake_time.utc)).close()
    assert 4 == len(path.read_text().splitlines())
