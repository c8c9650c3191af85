# SPDX-License-Identifier: Apache-2.0
"""Resource strings: of other kinds of meters, and with the settings of a serial line."""

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
    Resource,
    SerialLine,
    is_official,
    parse_line,
    parse_resource,
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


@pytest.mark.parametrize(
    "text",
    [
        "TCPIP::192.168.1.5::INSTR",
        "TCPIP0::127.0.0.1,40123::inst0::INSTR",
        "USB0::0x0B21::0x0025::SERIAL::INSTR",
        "ASRL/dev/ttyUSB0::INSTR",
        "ASRL::/dev/ttyUSB0::INSTR",
        "GPIB0::1::INSTR",
        "PRLGX-ASRL::/dev/ttyS0::INTFC",
        "emulated",
        "none",
    ],
)
def test_what_pyvisa_and_the_referee_understand_stays_theirs(text: str) -> None:
    """PyVISA's strings and the referee's own words are no resource strings of another kind."""
    assert parse_resource(text) is None
    assert is_official(text)


@pytest.mark.parametrize(
    ("text", "kind", "address", "options"),
    [
        ("shelly:192.0.2.7", "shelly", "192.0.2.7", {}),
        ("shelly:[2001:db8::7]:8080", "shelly", "[2001:db8::7]:8080", {}),
        ("ina228:1/0x40?shunt=0.015&max=10", "ina228", "1/0x40", {"shunt": "0.015", "max": "10"}),
        ("rapl:", "rapl", "", {}),
        ("ppk2:/dev/ttyACM0?mv=3300", "ppk2", "/dev/ttyACM0", {"mv": "3300"}),
    ],
)
def test_a_kind_its_address_and_its_options(
    text: str, kind: str, address: str, options: dict[str, str]
) -> None:
    """A kind, an address, and options after a question mark make up the string."""
    assert parse_resource(text) == Resource(kind, address, options)
    assert not is_official(text)


@pytest.mark.parametrize("text", ["shelly:a?x", "shelly:a?x=1&x=2", "shelly:a?x=1&&"])
def test_options_that_are_no_list_are_refused(text: str) -> None:
    """Options without a value, or given twice, are a ValueError that shows the string."""
    with pytest.raises(ValueError, match="shelly:a"):
        parse_resource(text)


@given(st.text(max_size=30))
def test_any_text_is_understood_or_refused(text: str) -> None:
    """No text raises anything but a ValueError, and PyVISA's colons are never taken."""
    try:
        found = parse_resource(text)
    except ValueError:
        return
    assert found is None or (not text[len(found.kind) :].startswith("::"))


def test_a_number_has_bounds_and_a_name() -> None:
    """An option that is no number, out of bounds or missing is named in the error."""
    resource = Resource("ina228", "1", {"shunt": "nan", "max": "1e9", "good": "2"})
    assert resource.number("good", None, least=0, most=3) == 2
    assert resource.number("other", 7, least=0, most=3) == 7
    for name in ("shunt", "max", "missing"):
        with pytest.raises(ValueError, match=name):
            resource.number(name, None, least=0, most=3)
    with pytest.raises(ValueError, match=r"no option 'shunt'; it has: accuracy, good, max"):
        resource.known_options(["good", "max"])


def test_every_kind_takes_an_accuracy() -> None:
    """The option `accuracy` is a share of the power in %, for every kind; another text is told."""
    assert Resource("plug", "a").stated_accuracy() is None
    assert Resource("plug", "a", {"accuracy": "1.5"}).stated_accuracy() == pytest.approx(0.015)
    Resource("plug", "a", {"accuracy": "1"}).known_options(())
    with pytest.raises(ValueError, match="accuracy=-1 must be a number from 0 to 100"):
        Resource("plug", "a", {"accuracy": "-1"}).stated_accuracy()


@pytest.mark.parametrize(
    ("address", "expected"),
    [("192.0.2.7", ("192.0.2.7", 80)), ("[2001:db8::7]:8080", ("2001:db8::7", 8080))],
)
def test_a_host_and_a_port(address: str, expected: tuple[str, int]) -> None:
    """An address is a host with a port, or with that of most devices."""
    assert expected == Resource("plug", address).host_port(80)


@pytest.mark.parametrize("address", ["", "a/b", "a:x", "u@a", "@a", "a:70000"])
def test_what_is_no_host_says_what_to_write(address: str) -> None:
    """An address that names no host is a ValueError with the form that it should have."""
    with pytest.raises(ValueError, match=r"names no device; write plug:HOST\[:PORT\]"):
        Resource("plug", address).host_port(80)
