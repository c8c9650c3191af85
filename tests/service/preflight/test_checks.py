# SPDX-License-Identifier: Apache-2.0
"""The list of findings names each fault and its remedy."""

from __future__ import annotations

import dataclasses
import re
import shutil
import socket
from datetime import date

import pytest

from power.meter import Identity
from referee.commands import check
from referee.programs.ports import answering, free
from referee.service.people.operators import add_operator
from referee.service.preflight.disk import disk_shortage
from referee.service.preflight.finding import Level
from referee.service.preflight.lane_rules import (
    meter_findings,
    shared_meter_findings,
    unasked_meter_findings,
)
from referee.service.preflight.listing import all_findings
from referee.service.preflight.surroundings import LaneFacts, PortFacts, Surroundings
from referee.service.setup.lane_config import LaneSection, MeterSection
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import new_passwords
from referee.store.teams import Registration

URL = "http://10.0.0.1:8000"
SET = MeterSection(
    resource="TCPIP::10.0.0.3::INSTR",
    voltage_range_v=300.0,
    current_range_a=1.0,
    ambient_c=23.0,
    calibrated=date(2026, 1, 31),
)
KNOWN = Identity("YOKOGAWA", "WT310E", "C2", "F1.04")
LANE = LaneFacts(1, SET, "0.0.0.0:8000", (URL,), "ok", "", KNOWN)
AROUND = Surroundings(True, (LANE,), (PortFacts("contest", "0.0.0.0:8000", ""),))


def found(contest, around=AROUND, **server):
    """Return the findings by item."""
    config = contest.config
    changed = dataclasses.replace(config, server=dataclasses.replace(config.server, **server))
    other = dataclasses.replace(contest, config=changed)
    return {it.item: it for it in all_findings(other, around, "this program")}


def with_lane(**values):
    """Return surroundings whose only lane differs."""
    return dataclasses.replace(AROUND, lanes=(dataclasses.replace(LANE, **values),))


def with_meter(**values):
    """Return surroundings whose only meter is configured differently."""
    return with_lane(meter=dataclasses.replace(SET, **values))


def test_address_of_a_lane_names_its_own_setting(contest):
    """The remedy names the setting of the lane, and keeps its port."""
    lanes = tuple(
        LaneSection(name, f"127.0.0.1:{8000 + number}", SET)
        for number, name in enumerate(("left", "right"))
    )
    config = dataclasses.replace(contest.config, declared_lanes=lanes)
    facts = tuple(LaneFacts(n, SET, it.contest, (), name=it.name) for n, it in enumerate(lanes, 1))
    ports = (PortFacts("contest of lane right", "127.0.0.1:8001", "in use"),)
    around = dataclasses.replace(AROUND, runs=False, lanes=facts, ports=ports)
    other = dataclasses.replace(contest, config=config)
    remedies = {it.item: it.remedy for it in all_findings(other, around, "this program")}
    sentence = remedies["address for contestants of lane right"]
    assert sentence.startswith("Set [[lane]] number 2 contest to 0.0.0.0:8001 or ")
    assert remedies["contest of lane right port"].endswith(
        "choose another [[lane]] number 2 contest."
    )


def test_help_names_checks_that_exist(contest):
    """The names behind the options in the help are items of the list."""
    options = "override|acknowledge|take-back"
    named = set(re.findall(rf"--(?:{options}) '?([a-z ]+?)'? --reason", check.__doc__))
    other_kind = dataclasses.replace(SET, resource="shelly:192.0.2.7")
    items = found(contest).keys() | found(contest, with_lane(meter=other_kind)).keys()
    assert named and named <= items


def test_an_event_that_is_ready(contest):
    """To be looked at: the images' order, what is left out, and slow checks that nobody made."""
    add_team(contest, "ants", Registration(), "Kim")
    new_passwords(contest, ["ants"], "Kim")
    items = found(contest)
    bad = {item for item, finding in items.items() if finding.level is not Level.OK}
    slow = {"golden client", "durable commit", "passwords", "identity", "error queue"}
    left_out = {"name of the event", "scoreboard", "rehearsal images"}
    assert {"image order", "clock", "logins", *left_out, *slow} == bad
    assert Level.FAIL not in {finding.level for finding in items.values()}
    assert "4 images, 2 classes" in items["images and ground truth"].text
    assert "YOKOGAWA WT310E, serial C2, firmware F1.04" == items["link"].text


def test_each_warning_and_failure_has_a_remedy(contest):
    """Nothing is called bad without saying what to do."""
    (contest.config.images.folder / "2.jpg").unlink()
    around = dataclasses.replace(
        with_lane(meter=MeterSection(resource="none"), address="127.0.0.1:8000"),
        changed=("contest.toml",),
    )
    items = found(contest, around, console="0.0.0.0:8001")
    assert [] == [it for it in items.values() if it.level is not Level.OK and not it.remedy]
    assert Level.FAIL is items["images and ground truth"].level
    assert "2.jpg" in items["images and ground truth"].text
    assert "contest.toml" in items["file"].text


def test_operators_of_an_event(contest):
    """Nobody, or only assistants, is a warning; with an operator all is well."""
    assert Level.WARN is found(contest)["logins"].level
    add_operator(contest, "Sam", "assistant", "boss")
    assert "nobody may act" in found(contest)["logins"].text
    add_operator(contest, "Kim", "operator", "boss")
    assert (Level.OK, "1 may act: Kim") == (
        found(contest)["logins"].level,
        found(contest)["logins"].text,
    )


def test_a_group_stands_together(contest):
    """The list has each group once, whatever order the checks have."""
    groups = [it.group for it in all_findings(contest, AROUND, "this program")]
    assert len(set(groups)) == 1 + sum(a != b for a, b in zip(groups, groups[1:], strict=False))


def test_teams_of_an_event(contest):
    """The check tells apart no team, no password, readable hashes, a damaged file, and all well."""
    assert Level.WARN is found(contest)["list"].level
    add_team(contest, "ants", Registration(), "Kim")
    assert "has no password" in found(contest)["list"].text
    new_passwords(contest, ["ants"], "Kim")
    assert Level.OK is found(contest)["list"].level
    contest.config.teams.chmod(0o644)
    assert f"chmod 600 {contest.config.teams}" in found(contest)["list"].remedy
    contest.config.teams.write_text("nonsense")
    assert Level.FAIL is found(contest)["list"].level


@pytest.mark.parametrize(
    ("address", "urls", "level", "words"),
    [
        ("127.0.0.1:8000", (), Level.WARN, "only this laptop"),
        ("localhost:8000", (URL,), Level.WARN, "only this laptop"),
        ("0.0.0.0:8000", (), Level.WARN, "on no network"),
        ("0.0.0.0:8000", (URL, "http://10.1.0.1:8000"), Level.WARN, "2 networks"),
        ("0.0.0.0:8000", (URL,), Level.OK, URL),
    ],
)
def test_the_address_for_contestants(contest, address, urls, level, words):
    """Contestants need one address that they can reach."""
    finding = found(contest, with_lane(address=address, urls=urls))["address for contestants"]
    assert (level, True) == (finding.level, words in finding.text)


def test_a_port_that_is_in_use_or_silent():
    """A free port is free for the server to come; one in use, or that nobody answers, is told."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        assert "" != answering("contest", address).fault
        listener.listen()
        assert "in use" in free("contest", address).fault
    assert "" == free("contest", address).fault
    assert "HOST:PORT" in free("contest", "nonsense").fault


@pytest.mark.parametrize("runs", [True, False])
def test_a_port_with_a_fault_fails(contest, runs):
    """Both a running server that is silent and a port that is taken forbid arming."""
    port = PortFacts("contest", "0.0.0.0:8000", "does not answer")
    around = dataclasses.replace(AROUND, runs=runs, ports=(port,))
    assert Level.FAIL is found(contest, around)["contest port"].level


@pytest.mark.parametrize(("mode", "floor"), [("event", 2**31), ("practice", 2**28)])
def test_disk_that_is_nearly_full(contest, practice, monkeypatch, mode, floor):
    """The check fails at the same free space, to the byte, as a login does in a rehearsal."""
    contest = {"event": contest, "practice": practice}[mode]
    usage = type(shutil.disk_usage("/"))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 99, floor - 1))
    finding = found(contest)["disk"]
    assert (Level.FAIL, finding.remedy) == (finding.level, disk_shortage(contest.config))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 99, floor))
    assert (Level.OK, None) == (found(contest)["disk"].level, disk_shortage(contest.config))


@pytest.mark.parametrize(
    ("values", "item", "level", "words"),
    [
        ({"voltage_range_v": None}, "ranges", Level.WARN, "auto-range"),
        ({}, "ranges", Level.OK, "300 V, 1 A"),
        ({"current_range_a": 3.0}, "ranges", Level.FAIL, "no current range 3 at crest factor 3"),
        ({"element": "2"}, "ranges", Level.FAIL, "a WT310E has no element 2"),
        ({"calibrated": None}, "calibration", Level.WARN, "not recorded"),
        ({"calibrated": date(2025, 6, 6)}, "calibration", Level.WARN, "longer ago"),
        ({"calibrated": date(2025, 6, 7)}, "calibration", Level.OK, "2025-06-07"),
        ({"calibrated": date(2026, 6, 8)}, "calibration", Level.FAIL, "future"),
        ({"ambient_c": None}, "room", Level.WARN, "not recorded"),
        ({"resource": "emulated"}, "emulated", Level.WARN, "EMULATED"),
        ({"resource": "none"}, "link", Level.WARN, "no meter"),
    ],
)
def test_the_meter_as_it_is_configured(contest, values, item, level, words):
    """Ranges, calibration, temperature and kind of the meter are judged on 7 June 2026."""
    finding = found(contest, with_meter(**values))[item]
    assert (level, True) == (finding.level, words in finding.text)


def test_the_ranges_of_a_meter_that_nobody_has_asked(contest):
    """While no meter answers, what some model of the family has passes, and 3 A passes nowhere."""
    unknown = dataclasses.replace(LANE, identity=None)

    def level(**values):
        lane = dataclasses.replace(unknown, meter=dataclasses.replace(SET, **values))
        return found(contest, dataclasses.replace(AROUND, lanes=(lane,)))["ranges"].level

    assert Level.OK is level(element="2")
    assert Level.OK is level(current_range_a=40.0)
    assert Level.FAIL is level(current_range_a=3.0)
    assert Level.FAIL is level(current_range_a=40.0, crest_factor=6)


@pytest.mark.parametrize(
    ("link", "text", "level"),
    [
        ("ok", "", Level.OK),
        ("ok", "its output was changed", Level.FAIL),
        ("lost", "No link", Level.FAIL),
        ("connecting", "", Level.FAIL),
        ("none", "", Level.WARN),
    ],
)
def test_the_link_to_the_meter(contest, link, text, level):
    """A meter that cannot be read forbids arming."""
    assert level is found(contest, with_lane(link=link, link_text=text))["link"].level


@pytest.mark.parametrize("text", ["No link", f"{SET.resource} did not answer in time"])
def test_a_lost_meter_is_named_once(contest, text):
    """The address stands in the finding once, whether or not the meter's error tells it."""
    told = found(contest, with_lane(link="lost", link_text=text))["link"].text
    assert (1, True) == (told.count(SET.resource), text in told)


def test_a_rehearsal_has_neither_slow_checks_nor_a_warning_about_its_emulator(practice):
    """What only an event needs is not asked of a rehearsal."""
    items = found(practice, with_meter(resource="emulated"))
    assert Level.OK is items["emulated"].level
    assert "golden client" not in items


@pytest.mark.parametrize(
    ("resource", "serial", "told"),
    [
        ("TCPIP::127.0.0.1,4000::inst0::INSTR", "C2", "tunnel or a bridge"),
        (
            "TCPIP::10.0.0.3::inst0::INSTR",
            "EMU0A1B2C",
            "Set resource in [meter] or in its [[lane]]",
        ),
    ],
)
def test_an_emulator_at_an_address_is_called_one(contest, resource, serial, told):
    """Its serial number or a loopback address gives it away, and the remedy says what to do."""
    identity = dataclasses.replace(KNOWN, serial=serial)
    meter = dataclasses.replace(SET, resource=resource)
    items = found(contest, with_lane(meter=meter, identity=identity))
    assert (Level.WARN, True) == (items["emulated"].level, "EMULATED" in items["emulated"].text)
    assert told in items["emulated"].remedy
    assert "emulated" not in found(contest)


def test_several_lanes_have_several_meters(contest):
    """Each item of a meter names its lane, and concerns it alone."""
    lost = LaneFacts(2, SET, link="lost", link_text="No link", name="right")
    around = dataclasses.replace(AROUND, lanes=(dataclasses.replace(LANE, name="left"), lost))
    items = found(contest, around)
    assert (Level.OK, 1) == (items["link of lane left"].level, items["link of lane left"].lane)
    assert (Level.FAIL, 2) == (items["link of lane right"].level, items["link of lane right"].lane)
    assert 2 == items["error queue of lane right"].lane


def lanes_with(*identities):
    """Return a lane for each of these meters."""
    return [
        LaneFacts(n, dataclasses.replace(SET, resource=f"at {n}"), identity=it, name=f"place {n}")
        for n, it in enumerate(identities, 1)
    ]


@pytest.mark.parametrize(
    ("identities", "sharing"),
    [
        ([KNOWN], []),
        ([KNOWN, None], []),
        ([None, None], []),
        ([KNOWN, dataclasses.replace(KNOWN, serial="C3")], []),
        ([KNOWN, dataclasses.replace(KNOWN, model="WT333E")], []),
        ([dataclasses.replace(KNOWN, serial="")] * 2, []),
        ([KNOWN, KNOWN], [1, 2]),
        ([KNOWN, dataclasses.replace(KNOWN, firmware="F2.01")], [1, 2]),
        ([KNOWN, dataclasses.replace(KNOWN, serial="C3"), KNOWN], [1, 3]),
    ],
)
def test_one_meter_in_two_lanes_fails_in_both(identities, sharing):
    """Equal model and serial number are one meter, which no two lanes may share."""
    items = {it.item: it for it in shared_meter_findings(lanes_with(*identities))}
    assert [f"own meter of lane place {lane}" for lane in sharing] == list(items)
    assert sharing == [it.lane for it in items.values()]
    for finding in items.values():
        assert Level.FAIL is finding.level
        assert all(f"lane 'place {n}' (at {n})" in finding.text for n in sharing)
        assert "python -m power identify" in finding.remedy


def test_a_session_that_is_still_there(contest, desk):
    """A session under way is told; only without a running referee is it to be looked at."""
    assert "0 so far" in found(contest)["free"].text
    number = desk.new_session("ants", "Kim")
    assert (Level.OK, True) == (
        found(contest)["free"].level,
        "READY" in found(contest)["free"].text,
    )
    desk.steps_of(number).arm(number, "Kim")
    for runs, level in ((True, Level.OK), (False, Level.WARN)):
        told = found(contest, dataclasses.replace(AROUND, runs=runs))["free"]
        assert (level, "session 1 of 'ants' is ARMED") == (told.level, told.text)


@pytest.mark.parametrize(
    ("mode", "allowed", "level"),
    [
        ("practice", False, Level.OK),
        ("event", False, Level.FAIL),
        ("event", True, Level.WARN),
    ],
)
def test_an_event_refuses_a_meter_of_another_kind(mode, allowed, level):
    """A Shelly fails the check of an event unless the configuration permits it."""
    meter = MeterSection(resource="shelly:192.0.2.7", allow_unofficial=allowed)
    facts = dataclasses.replace(LANE, meter=meter)
    items = {it.item: it for it in meter_findings(facts, mode, date(2026, 6, 1))}
    assert items.keys() == {"link", "official"}
    assert items["official"].level is level
    assert "shelly:192.0.2.7 is not an official meter" in items["official"].text
    assert ("allow_unofficial = true" in items["official"].remedy) is (level is Level.FAIL)


@pytest.mark.parametrize(
    ("identities", "unasked"),
    [
        ([None], []),
        ([KNOWN, None], [2]),
        ([None, None, KNOWN], [1, 2]),
        ([KNOWN, dataclasses.replace(KNOWN, serial="C3")], []),
    ],
)
def test_a_meter_that_was_not_asked_may_be_another_lanes(identities, unasked):
    """Before a referee runs, each such lane fails, so that nobody reads 'Ready'."""
    found = list(unasked_meter_findings(lanes_with(*identities)))
    assert unasked == [it.lane for it in found]
    assert {Level.FAIL} >= {it.level for it in found}


def test_meters_that_cannot_be_the_same_need_not_be_asked():
    """Emulated ones are their lane's own, and a plug is no WT310."""
    lanes = lanes_with(None, None, None)
    kinds = ("emulated", "shelly:192.0.2.7", "TCPIP::10.0.0.3::INSTR")
    mixed = [
        dataclasses.replace(lane, meter=MeterSection(resource=kind))
        for lane, kind in zip(lanes, kinds, strict=True)
    ]
    assert [] == list(unasked_meter_findings(mixed))


def test_a_console_on_all_addresses_tells_them(contest):
    """Brackets stand around those of IPv6."""
    around = dataclasses.replace(
        AROUND, console_urls=("http://10.0.0.1:8001", "http://[fd00::1]:8001")
    )
    text = found(contest, around, console="[::]:8001")["address of the console"].text
    assert (
        "[::]:8001: everybody" in text and "http://10.0.0.1:8001 or http://[fd00::1]:8001" in text
    )


def test_an_address_of_each_kind_is_one_network(contest):
    """Two of one kind are two networks."""
    item = "address for contestants"
    both = ("http://10.0.0.1:8000", "http://[fd00::1]:8000")
    assert Level.OK is found(contest, with_lane(urls=both))[item].level
    three = (*both, "http://10.1.0.1:8000")
    assert "is on 2 networks" in found(contest, with_lane(urls=three))[item].text
