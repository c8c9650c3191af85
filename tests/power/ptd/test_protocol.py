# SPDX-License-Identifier: Apache-2.0
"""The grammar of PTDaemon's clients: each line is a request, or gets a clear answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.ptd import protocol
from power.ptd.device import DEVICE_TYPES
from power.ptd.protocol import RequestRefused, parse


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("Hello", protocol.Hello()),
        ("hello", protocol.Hello()),
        ("Identify", protocol.Identify()),
        ("RR", protocol.ReadRanges()),
        ("SR,V,Auto", protocol.SetRange("V", None)),
        ("SR,a,auto", protocol.SetRange("A", None)),
        ("SR,A,0.123299", protocol.SetRange("A", 0.123299)),
        ("SR, V, 300.000000", protocol.SetRange("V", 300.0)),
        ("Go,1000,0", protocol.Start(1000, 0, "notset")),
        ("Go,0,0", protocol.Start(0, 0, "notset")),
        ("Go,1000,2,2026_a-b_ranging", protocol.Start(1000, 2, "2026_a-b_ranging")),
        ("Timed,1000,60,5,m", protocol.Start(1000, 5, "m", 60)),
        ("Stop", protocol.Stop()),
        ("Reset", protocol.Reset()),
        ("Mark,second half", protocol.SetMark("second half")),
        ("R*", protocol.ReadNow()),
        ("RL", protocol.ReadLast(None)),
        ("RL,*", protocol.ReadLast(None)),
        ("RL,1", protocol.ReadLast(1)),
        ("Watts", protocol.Total("Watts")),
        ("Volts", protocol.Total("Volts")),
        ("Amps", protocol.Total("Amps")),
        ("PF", protocol.Total("PF")),
        ("Uncertainty", protocol.Uncertainty()),
    ],
)
def test_each_request_is_read(line: str, request_: protocol.Request) -> None:
    """What power-dev and SPEC CPU send is one request each."""
    assert request_ == parse(line)


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("", "Unknown command ''"),
        ("Temperature", "Unknown command 'Temperature'; known are Hello, Identify, RR, SR, Go"),
        ("DC-RL", "Unknown command"),
        ("RL,*,*", "Invalid number of parameters"),
        ("Go,1000", "Invalid number of parameters, 1; the form is Go,MS,RAMPUP[,MARK]"),
        ("Go,1000,0,a,b", "Invalid number of parameters"),
        ("SR,A", "Invalid number of parameters"),
        ("SR,A,5,1", "Invalid number of parameters"),
        ("Stop,now", "Invalid number of parameters"),
        ("SR,W,5", "Error in parameter 1: 'W'"),
        ("SR,A,", "Error in parameter 2: ''"),
        ("SR,A,0", "Error in parameter 2"),
        ("SR,A,-1", "Error in parameter 2"),
        ("SR,A,nan", "Error in parameter 2"),
        ("SR,A,inf", "Error in parameter 2"),
        ("Go,-1,0", "Error in parameter 1"),
        ("Go,1e3,0", "Error in parameter 1"),
        ("Go,3600001,0", "Error in parameter 1"),
        ("Go,1000,10001", "Error in parameter 2"),
        ("Go,1000,0,", "Error in parameter: '' is no mark"),
        ("Go,1000,0,\x07", "Error in parameter"),
        ("Timed,1000,0,0", "Error in parameter 2"),
        ("Timed,1000,500001,0", "Error in parameter 2"),
        ("RL,0", "Error in parameter 1"),
        ("RL,²", "Error in parameter 1"),
        ("RL,99999999999999999999", "Error in parameter 1"),
        ("Mark," + "x" * 256, "Error in parameter"),
    ],
)
def test_each_wrong_line_has_an_answer_that_says_why(line: str, start: str) -> None:
    """The answers begin as clients expect, and go on with what is wrong."""
    with pytest.raises(RequestRefused) as refused:
        parse(line)
    assert str(refused.value).startswith(start)


def test_a_meter_on_direct_current_knows_another_word_for_its_samples() -> None:
    """The server of power-dev asks for `RL`, and learns from the unknown word to ask `DC-RL`."""
    for line in ("RL,*,*", "RL"):
        with pytest.raises(RequestRefused, match="Unknown command"):
            parse(line, direct_current=True)
    assert protocol.ReadLast(None) == parse("DC-RL", direct_current=True)
    assert "DC-RL" in protocol.words(direct_current=True)


# The server reads bytes as Latin-1, so each byte is a character.
BYTES = st.text(st.characters(codec="latin-1"), max_size=30)
FIELDS = st.sampled_from([*protocol.words(), "A", "V", "1", "*"]) | BYTES


@given(st.lists(FIELDS, max_size=6).map(",".join))
def test_any_text_is_a_request_or_refused_in_one_short_line(line: str) -> None:
    """No text breaks the parser, and no answer breaks the protocol's lines."""
    try:
        parse(line)
    except RequestRefused as refused:
        assert 0 < len(str(refused)) < 400
        assert str(refused).isprintable()
        assert str(refused).isascii()


def test_the_page_names_every_word() -> None:
    """docs/ptd.md has a row for each word of the protocol, and for each device type."""
    page = (Path(__file__).parents[3] / "docs" / "ptd.md").read_text(encoding="utf-8")
    cells = " ".join(re.findall(r"^\| (.*?) \|", page, re.MULTILINE))
    assert [] == [word for word in protocol.words() if f"`{word}" not in cells]
    assert [] == [number for number in DEVICE_TYPES if not re.search(rf"\b{number}\b", cells)]
