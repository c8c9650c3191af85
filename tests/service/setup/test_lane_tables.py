# SPDX-License-Identifier: Apache-2.0
"""The tables [[lane]]: several lanes, each apart from the others, and one lane without them."""

from __future__ import annotations

import pytest

from referee.service.setup.config_file import dump_config
from tests.service.setup.test_config_file import IMAGES, fault, load


def lane(name="left", contest="0.0.0.0:8000", resource="emulated", more=""):
    """Return the text of a lane."""
    keys = [f'name = "{name}"', f'contest = "{contest}"', f'resource = "{resource}"', more]
    return "\n".join(["[[lane]]", *filter(None, keys), ""])


RIGHT = lane("right", "0.0.0.0:8010", "USB0::1::INSTR", "current_range_a = 2.0")


def test_a_file_without_lanes_has_one(tmp_path):
    """The single lane has no name, the server's address and the section [meter]."""
    config = load(tmp_path, IMAGES + '[meter]\nresource = "none"\n')
    assert [("", "0.0.0.0:8000", config.meter)] == [
        (one.name, one.contest, one.meter) for one in config.lanes
    ]
    assert "none" == config.lane(1).meter.resource


def test_lanes_have_meters_of_their_own(tmp_path):
    """A lane's key takes the place of that in [meter]; all others come from there."""
    text = IMAGES + "[meter]\nvoltage_range_v = 300.0\ncurrent_range_a = 1.0\n" + lane() + RIGHT
    config = load(tmp_path, text)
    assert [("left", "emulated", 300.0, 1.0), ("right", "USB0::1::INSTR", 300.0, 2.0)] == [
        (one.name, one.meter.resource, one.meter.voltage_range_v, one.meter.current_range_a)
        for one in config.lanes
    ]
    assert ["meter.jsonl", "meter2.jsonl"] == [config.wire_log_of(n).name for n in (1, 2)]
    assert config == load(tmp_path, dump_config(config))


def test_a_lane_that_is_no_longer_declared_has_a_meter_still(tmp_path):
    """Old sessions of such a lane can be shown: it is called by its number."""
    config = load(tmp_path, IMAGES + lane() + RIGHT)
    assert ("3", config.meter) == (config.lane(3).name, config.lane(3).meter)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[lane]\n", ["two brackets"]),
        ("lane = 5\n" + IMAGES, ["two brackets"]),
        ('[[lane]]\nname = "a"\n', ["[[lane]] number 1 resource is missing"]),
        (lane().replace("name", "nam"), ["[[lane]] number 1", "'nam'", "did you mean 'name'?"]),
        ('[[lane]]\nname = "a"\nresource = "none"\n', ["number 1 contest is missing"]),
        (lane() + lane("b", "0.0.0.0:1").replace('"b"', "5"), ["number 2 name must be text"]),
        (lane(more="crest_factor = 4"), ["[[lane]] number 1 crest_factor", "3, 6"]),
        (lane(name=" a"), ["name must be printable"]),
        (lane(name=""), ["name must be printable"]),
        (lane(name=21 * "x"), ["more than 20"]),
        (lane() + lane("LEFT", "0.0.0.0:1"), ["number 2 name 'LEFT'", "[[lane]] number 1 too"]),
        (lane() + lane("b"), ["number 2 contest '0.0.0.0:8000'", "number 1 too"]),
        (lane() + lane("b", "127.0.0.1:8000"), ["contest '127.0.0.1:8000'", "number 1 too"]),
        (lane(contest="0.0.0.0:8001"), ["that of [server] console"]),
        (RIGHT + lane("b", "0.0.0.0:1", "usb0::1::INSTR"), ["resource 'usb0::1::INSTR'", "too"]),
        ('[server]\ncontest = "0.0.0.0:80"\n' + lane(), ["[server] contest", "in each lane"]),
        (
            lane("a", "0.0.0.0:1", "ASRL/dev/a::INSTR")
            + lane("b", "0.0.0.0:2", "asrl/dev/a::INSTR@38400"),
            ["resource 'asrl/dev/a::INSTR@38400'", "too"],
        ),
        (lane(resource="ASRL/dev/a::INSTR@8E1"), ["number 1 resource: '8E1' is no setting", "7E1"]),
        ('[meter]\nresource = "TCPIP::a::INSTR@9600"\n', ["[meter] resource", "only a serial"]),
        ('[meter]\nresource = "none"\n' + lane(), ["[meter] resource", "in each lane"]),
        ("".join(lane(str(n), f"0.0.0.0:{n}") for n in range(5)), ["5 tables", "at most 4"]),
    ],
)
def test_mistakes_of_lanes(tmp_path, text, expected):
    """The message names the lane, the key, the value, and the lane that has it already."""
    said = fault(tmp_path, text if IMAGES in text else IMAGES + text)
    assert [] == [part for part in expected if part not in said], said


def test_lanes_may_share_what_is_no_meter_and_no_fixed_port(tmp_path):
    """Two emulated lanes have an emulator each, and port 0 is any free port."""
    config = load(tmp_path, IMAGES + lane(contest="0.0.0.0:0") + lane("b", "0.0.0.0:0"))
    assert 2 == len(config.lanes)
    config = load(tmp_path, IMAGES + lane(contest="10.0.0.1:80") + lane("b", "10.0.1.1:80"))
    assert 2 == len(config.lanes)
