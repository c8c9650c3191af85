# SPDX-License-Identifier: Apache-2.0
"""The syntax of resource strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.kind_resource import Resource, is_official, parse_resource


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
    with pytest.raises(ValueError, match=r"no option 'shunt'; it has: good, max"):
        resource.known_options(["good", "max"])
