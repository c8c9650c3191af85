# SPDX-License-Identifier: Apache-2.0
"""A configuration's track is found, or refused in a sentence."""

from __future__ import annotations

import sys

import pytest

from referee.errors import ConfigError, InputError
from referee.service.setup.config_file import load_config
from referee.service.setup.preparation import prepare_contest
from referee.store.sessions import create_session
from referee.tracks.loading import known_tracks, load_track
from referee.tracks.network import NetworkTrack
from tests.support.contests import make_contest, write_config
from tests.tracks.top1 import Top1Track


def test_a_name_without_a_dot_comes_with_the_referee():
    """The track `network` is an entry point of the referee."""
    assert isinstance(load_track("network"), NetworkTrack)
    assert "network" in known_tracks()


def test_parts_of_a_track_are_no_tracks():
    """A sentence about the known tracks names no module that is only a part of one."""
    assert not {"network_remarks", "track", "loading"} & set(known_tracks())


def test_a_dotted_name_is_any_module():
    """A dotted name loads a module from outside the referee."""
    assert isinstance(load_track("tests.tracks.top1"), Top1Track)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("networks", "there is no such track. Known are camera, network"),
        ("no.such.module", "there is no module no.such.module"),
        ("", "Known are camera, network"),
        (".", "cannot be imported"),
        ("..network", "cannot be imported"),
        ("track", "there is no such track"),
        ("os.path", "os.path has no TRACK"),
    ],
)
def test_an_unknown_track_is_named(name, text):
    """An unknown track is refused with its name and the known tracks."""
    with pytest.raises(ConfigError) as error:
        load_track(name)
    assert text in str(error.value)
    assert f"[contest] track = '{name}'" in str(error.value)


def test_a_track_that_lacks_a_library_says_so(tmp_path, monkeypatch):
    """A track whose library is missing is told apart from an unknown track."""
    (tmp_path / "holder").mkdir()
    (tmp_path / "holder" / "rules.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="holder.rules needs no_such_library: install it"):
        load_track("holder.rules")
    assert "holder.rules" not in sys.modules


def test_an_unknown_track_stops_the_preparation(tmp_path):
    """An unknown track stops the preparation."""
    config = load_config(write_config(tmp_path, track="networks"))
    with pytest.raises(ConfigError, match="'networks': there is no such track"):
        prepare_contest(config)
    assert not config.storage.folder.exists()


def test_sessions_of_another_track_are_not_read(tmp_path, clock):
    """A folder with sessions of one track refuses another track's configuration."""
    contest = make_contest(tmp_path, clock)
    with contest.database.write() as connection:
        now = clock.now()
        create_session(connection, team="ants", length_s=1.0, order_seed=None, now=now)
    contest.database.close()
    config = load_config(write_config(tmp_path, track="tests.tracks.top1", shuffle=False))
    with pytest.raises(InputError, match="holds sessions of the track 'network'"):
        prepare_contest(config)
