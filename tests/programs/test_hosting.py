# SPDX-License-Identifier: Apache-2.0
"""A meter of another kind is looked at by its resource string before anything starts."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.programs.hosting import require_kind
from referee.service.setup.config import MeterSection


@pytest.mark.parametrize(
    ("section", "said"),
    [
        (MeterSection(resource="shely:192.0.2.7"), "did you mean shelly:"),
        (MeterSection(resource="shelly:"), "names no device"),
        (MeterSection(resource="ina228:1"), "needs the option shunt"),
        (MeterSection(resource="rapl:", element="SIGMA"), "no element SIGMA"),
    ],
)
def test_what_cannot_be_opened_is_told_at_once(section: MeterSection, said: str) -> None:
    """A kind, an option or an element that does not exist is told with the resource string."""
    with pytest.raises(InputError, match=said) as told:
        require_kind(section)
    assert section.resource in str(told.value)


@pytest.mark.parametrize("resource", ["shelly:192.0.2.7", "emulated", "none", "TCPIP::a::INSTR"])
def test_nothing_is_asked_of_a_device(resource: str) -> None:
    """A resource string that can be right is taken, whether or not its device is there."""
    require_kind(MeterSection(resource=resource))
