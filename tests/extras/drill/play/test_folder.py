# SPDX-License-Identifier: Apache-2.0
"""The folder of a drill: the event's configuration with what makes it a drill, its operators."""

from __future__ import annotations

import pytest

from referee.extras.drill.play.folder import (
    DrillPictures,
    drill_config,
    new_folder,
    operators_of_event,
    set_up,
)
from referee.service.people.operators import add_operator, operators_of
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.service.teams.roster import read_roster
from tests.support.contests import write_config, write_images, write_truth

LANES = """
[[lane]]
name = "left"
contest = "127.0.0.1:0"
resource = "TCPIP::192.0.2.7::inst0::INSTR"
[[lane]]
name = "right"
contest = "0.0.0.0:8005"
resource = "TCPIP::192.0.2.8::inst0::INSTR"
current_range_a = 2.0
"""
RESOURCES = ["TCPIP::127.0.0.1,40001::inst0::INSTR", "TCPIP::127.0.0.1,40002::inst0::INSTR"]


@pytest.fixture
def pictures(tmp_path):
    """Return two pictures with their truth, in place of generated ones."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    names = ["1.jpg", "2.jpg"]
    write_images(folder / "images", names)
    write_truth(folder / "truth.json", list(enumerate(names, 1)))
    return DrillPictures(folder / "images", folder / "truth.json", folder / "answers.json")


def test_drills_are_numbered(tmp_path):
    """Each drill has a folder of its own; other names beside them do not count."""
    (tmp_path / "pictures-120").mkdir()
    (tmp_path / "7").mkdir()
    assert ["8", "9"] == [new_folder(tmp_path).name for _ in range(2)]


def test_the_copy_is_the_event_with_emulated_meters(tmp_path, pictures):
    """Lanes and ranges stay; meters, images and data are the drill's, and no port is 0."""
    path = write_config(tmp_path, mode="event", name="LPIRC", seconds=600)
    text = path.read_text().partition("[meter]")[0]
    path.write_text(f'{text}[server]\nconsole = "127.0.0.1:0"\n{LANES}')
    event = load_config(path)
    folder = new_folder(tmp_path / "drill")
    config = drill_config(event, folder, pictures, 60, RESOURCES)
    assert RESOURCES == [lane.meter.resource for lane in config.lanes]
    assert [None, 2.0] == [lane.meter.current_range_a for lane in config.lanes]
    assert ("DRILL of LPIRC", 60, "event") == (
        config.contest.name,
        config.contest.seconds,
        config.contest.mode,
    )
    assert "0.0.0.0:8005" == config.lanes[1].contest
    assert not any(
        address.endswith(":0") for address in (config.lanes[0].contest, config.server.console)
    )
    assert folder == config.storage.folder.resolve() and folder == config.path.parent
    assert pictures.images == config.images.folder


def test_operators_keep_their_passwords_and_the_event_its_files(tmp_path, pictures):
    """Their hashes go into the copy; the event's folder has the same bytes as before."""
    event = load_config(write_config(tmp_path, mode="event"))
    assert [] == operators_of_event(event, new_folder(tmp_path / "drill"))
    with opened_contest(event) as contest:
        add_operator(contest, "Kim", "operator", "test", "correct horse battery")
        hashes = [one.password_hash for one in operators_of(contest)]
    before = {p.name: p.read_bytes() for p in event.storage.folder.iterdir() if p.is_file()}
    folder = new_folder(tmp_path / "drill")
    operators = operators_of_event(event, folder)
    assert hashes == [one.password_hash for one in operators]
    config = drill_config(event, folder, pictures, 60, RESOURCES[:1])
    passwords = set_up(config, operators, 1, 1)
    with opened_contest(config) as contest:
        assert hashes == [one.password_hash for one in operators_of(contest)]
        assert set(passwords) == {team.name for team in read_roster(contest).active}
        assert read_roster(contest).order is not None
    after = {p.name: p.read_bytes() for p in event.storage.folder.iterdir() if p.is_file()}
    assert before == after
    assert not (folder / "event").exists()
