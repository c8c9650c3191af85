# SPDX-License-Identifier: Apache-2.0
"""Pre-flight checks name each fault and its remedy."""

from __future__ import annotations

import dataclasses
import shutil
import socket
from datetime import date

import pytest

from power.errors import MeterMismatch, MeterUnreachable
from referee.errors import Unavailable
from referee.service.entry.team_list import register_team
from referee.service.preflight.checks import Outcome, run_checks
from referee.service.preflight.disk import disk_shortage
from referee.service.setup.config_file import load_config
from tests.support.contests import write_config, write_images, write_truth


@pytest.fixture
def config(tmp_path):
    """Return the configuration of a contest of two images, on unused ports."""
    write_images(tmp_path / "images", ["1.jpg", "2.jpg"])
    write_truth(tmp_path / "truth.json", [(1, "1.jpg"), (2, "2.jpg")])
    config = load_config(write_config(tmp_path, mode="practice"))
    server = dataclasses.replace(config.server, contest="127.0.0.1:1", console="127.0.0.1:2")
    return dataclasses.replace(config, server=server)


def no_referee():
    """Say that no referee runs."""
    raise Unavailable("The control desk does not answer.")


def outcomes(config, open_meter=None, ask_display=no_referee):
    """Return the outcomes by the checks' names."""
    return {check.name: check for check in run_checks(config, open_meter, ask_display)}


def with_meter(config, **values):
    """Return the configuration with another meter."""
    return dataclasses.replace(config, meter=dataclasses.replace(config.meter, **values))


def test_contest_that_is_ready(config):
    """Everything is OK except the ranges, which nobody has set."""
    found = outcomes(config)
    expected = {name: Outcome.OK for name in found} | {"ranges": Outcome.WARN}
    assert expected == {name: check.outcome for name, check in found.items()}
    assert "2 images, 2 classes" in found["images and ground truth"].found


def test_what_is_not_ok_has_a_remedy(config):
    """Each warning and each failure gives advice; a missing image is named."""
    (config.path.parent / "images" / "2.jpg").unlink()
    found = outcomes(with_meter(config, resource="none"))
    assert Outcome.FAIL is found["images and ground truth"].outcome
    assert "2.jpg" in found["images and ground truth"].found
    assert Outcome.WARN is found["link"].outcome
    for check in found.values():
        assert check.outcome is Outcome.OK or check.remedy or "Give the folder" in check.found


@pytest.mark.slow
def test_teams_of_an_event(config, tmp_path):
    """The check tells apart no team, one team, readable hashes and a damaged file."""
    event = dataclasses.replace(config, contest=dataclasses.replace(config.contest, mode="event"))
    assert Outcome.WARN is outcomes(event)["teams"].outcome
    assert "referee team add" in outcomes(event)["teams"].remedy
    register_team(event.teams, "ants")
    assert Outcome.OK is outcomes(event)["teams"].outcome
    event.teams.chmod(0o644)
    assert f"chmod 600 {event.teams}" in outcomes(event)["teams"].remedy
    event.teams.write_text("nonsense")
    event.teams.chmod(0o600)
    assert Outcome.FAIL is outcomes(event)["teams"].outcome


def test_port_in_use(config):
    """A port in use is a warning, since the referee itself may use it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        server = dataclasses.replace(config.server, console=address)
        found = outcomes(dataclasses.replace(config, server=server))
    assert (Outcome.OK, Outcome.WARN) == (
        found["contest port"].outcome,
        found["console port"].outcome,
    )
    assert address in found["console port"].found


@pytest.mark.parametrize(("mode", "floor"), [("event", 2**31), ("practice", 2**28)])
def test_disk_that_is_nearly_full(config, monkeypatch, mode, floor):
    """`check` fails at the same free space, to the byte, at which arming is refused."""
    config = dataclasses.replace(config, contest=dataclasses.replace(config.contest, mode=mode))
    usage = type(shutil.disk_usage("/"))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 99, floor - 1))
    check = outcomes(config)["disk"]
    assert (Outcome.FAIL, check.remedy) == (check.outcome, disk_shortage(config))
    assert "make room" in check.remedy
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 99, floor))
    assert (Outcome.OK, None) == (outcomes(config)["disk"].outcome, disk_shortage(config))


@pytest.mark.parametrize(("mode", "outcome"), [("event", Outcome.WARN), ("practice", Outcome.OK)])
def test_an_emulated_meter_is_no_official_one(config, mode, outcome):
    """An event on the emulator gets a warning, and a rehearsal gets none."""
    config = dataclasses.replace(config, contest=dataclasses.replace(config.contest, mode=mode))
    check = outcomes(with_meter(config, resource="emulated"))["link"]
    assert outcome is check.outcome
    assert "EMULATED" in check.found
    assert ("[meter] resource" in check.remedy) == (mode == "event")


def test_meter_that_answers(config, meter):
    """The check tells the meter's name, and releases the link for the desk."""
    config = with_meter(
        config, resource="TCPIP::10.0.0.3::INSTR", voltage_range_v=300.0, current_range_a=1.0
    )
    found = outcomes(config, meter.open)
    assert "YOKOGAWA WT310E, firmware F1.04" == found["link"].found
    assert (Outcome.OK, "300 V, 1 A") == (found["ranges"].outcome, found["ranges"].found)
    assert ("open", "close") == (meter.calls[0], meter.calls[-1])
    assert {"prepare", "start", "stop"}.isdisjoint(meter.calls)


def test_what_only_people_know_of_the_meter(config, meter):
    """Without temperature and calibration date the check asks for both; an emulator needs none."""
    real = {"resource": "TCPIP::10.0.0.3::INSTR"}
    asked = outcomes(with_meter(config, **real), meter.open)
    assert [Outcome.WARN] * 2 == [asked[name].outcome for name in ("calibration", "room")]
    assert "[meter] calibrated" in asked["calibration"].remedy
    answered = with_meter(config, **real, calibrated=date(2026, 1, 31), ambient_c=24.0)
    found = outcomes(answered, meter.open)
    assert ("2026-01-31", "24.0 °C") == (found["calibration"].found, found["room"].found)
    assert "room" not in outcomes(with_meter(config, resource="emulated"))


@pytest.mark.parametrize(
    "error", [MeterUnreachable("Nobody answers."), MeterMismatch("This is a WT500.")]
)
def test_meter_that_cannot_be_used(config, error):
    """A missing meter or another model is a failure with its reason."""

    def open_meter():
        raise error

    found = outcomes(with_meter(config, resource="TCPIP::10.0.0.3::INSTR"), open_meter)
    assert (Outcome.FAIL, str(error)) == (found["link"].outcome, found["link"].found)
    assert "python -m power identify" in found["link"].remedy


READY = {"fault": "", "round_trip_ms": 12.5, "text": "1920x1080 pixels, 60 Hz"}


@pytest.mark.parametrize(
    ("facts", "outcome", "words"),
    [
        (READY, Outcome.OK, "1920x1080 pixels, 60 Hz"),
        (READY | {"fault": "The display page is hidden."}, Outcome.FAIL, "hidden"),
        (READY | {"round_trip_ms": None}, Outcome.FAIL, "has not painted"),
        (None, Outcome.FAIL, "has no display"),
        (Unavailable("gone"), Outcome.WARN, "does not run"),
    ],
)
def test_display_of_a_camera_event(config, facts, outcome, words):
    """A camera event needs a display that has painted a frame; only a running referee knows it."""

    def ask():
        if isinstance(facts, Exception):
            raise facts
        return facts

    contest = dataclasses.replace(config.contest, track="camera")
    check = outcomes(dataclasses.replace(config, contest=contest), ask_display=ask)["screen"]
    assert (outcome, True) == (check.outcome, words in check.found)
    assert check.remedy or outcome is Outcome.OK


def test_network_event_needs_no_display(config):
    """A track that sends its images has no check of a display."""
    assert "screen" not in outcomes(config)
