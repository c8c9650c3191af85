# SPDX-License-Identifier: Apache-2.0
"""What cannot be used is told before anything starts: a meter's kind, a library of an extra."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.errors import InputError, MissingLibrary
from referee.programs.hosting import hosted, require_kind
from referee.service.setup.config_file import load_config
from referee.service.setup.lane_config import MeterSection
from tests.support.contests import write_config


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


def test_a_scoreboard_without_the_library_of_charts_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event whose audience would see no chart says what to install, and writes nothing."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    config = load_config(write_config(tmp_path, mode="event"))
    config = replace(config, server=replace(config.server, scoreboard="127.0.0.1:0"))
    with (
        pytest.raises(MissingLibrary, match=r"pip install matplotlib \(the extra 'event'\)"),
        hosted(config),
    ):
        pass
    assert ["contest.toml"] == [path.name for path in tmp_path.iterdir()]
