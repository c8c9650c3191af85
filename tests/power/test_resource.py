# SPDX-License-Identifier: Apache-2.0
"""Resource strings with the settings of a serial line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power import open_meter
from power.resource import (
    BAUDS,
    FORMATS,
    HANDSHAKES,
    TERMINATORS,
    SerialLine,
    parse_line,
    split_resource,
    with_line,
)

LINES = st.builds(
    SerialLine,
    st.sampled_from(BAUDS),
    st.sampled_from(FORMATS),
    st.sampled_from(HANDSHAKES),
    st.sampled_from(list(TERMINATORS)),
)


@given(LINES)
def test_what_is_written_is_read_back(line: SerialLine) -> None:
    """Every line is read back from the resource string that is written for it."""
    assert ("ASRL/dev/ttyS0::INSTR", line) == split_resource(
        with_line("ASRL/dev/ttyS0::INSTR", line)
    )


@given(st.permutations(["1200", "7o1", "xon-xoff", "cr"]))
def test_the_order_of_the_words_is_free(words: list[str]) -> None:
    """Words set the line in any order and in small letters."""
    assert SerialLine(1200, "7O1", "XON-XOFF", "CR") == parse_line(",".join(words))


@pytest.mark.parametrize(
    "text",
    ["TCPIP::192.168.1.5::INSTR", "ASRL/dev/tty@home::INSTR", "emulated", "GPIB0::1::INSTR", ""],
)
def test_without_words_the_line_is_that_as_delivered(text: str) -> None:
    """A resource string without words is left as it is, with the settings as delivered."""
    assert (text, SerialLine(9600, "8N1", "NONE", "CRLF")) == split_resource(text)
    assert text == with_line(text, SerialLine())


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("115200", "'115200' is no setting of a serial line; the words are 1200, 2400"),
        ("8E1", "'8E1' is no setting.*8N1, 7O1, 7E1, 7N2, NONE, XON-XOFF, RTS-CTS, CRLF, LF, CR"),
        ("", "'' is no setting"),
        ("9600,", "'' is no setting"),
        ("²", "'²' is no setting"),
        ("9600,8N1,1200", "'9600,8N1,1200' sets the baud of the serial line twice"),
    ],
)
def test_other_words_are_refused_with_the_list(words: str, fault: str) -> None:
    """A word that sets nothing, or sets something again, is named with the words that exist."""
    with pytest.raises(ValueError, match=fault):
        open_meter(f"ASRL/dev/ttyS0::INSTR@{words}")


def test_only_a_serial_line_has_settings() -> None:
    """Settings behind another resource are refused before anything is opened."""
    with pytest.raises(ValueError, match="only a serial line"):
        open_meter("TCPIP::192.168.1.5::INSTR@9600")


def test_a_line_knows_its_values() -> None:
    """A line with another value is refused by the name of its field."""
    with pytest.raises(ValueError, match="'8E1' is no data format; choose 8N1, 7O1, 7E1, 7N2"):
        SerialLine(data_format="8E1")
