# SPDX-License-Identifier: Apache-2.0
"""Copied bundles give the rows that the station's feed gives, and nothing that was changed."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from hashlib import sha256

import pytest

from referee.errors import InputError
from referee.extras.stations.bundles import BundleFolder
from referee.extras.stations.joint_rows import joint_stations
from referee.service.evidence import bundle_file
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.encoding import json_bytes
from referee.service.scoreboard.feed import START, lines_after
from referee.service.scoreboard.publisher import Publisher
from referee.service.setup.signing_key import station_key
from referee.tracks.loading import load_track
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.packed_bundles import pack, unpack
from tests.support.stations import followed

TRACK = load_track("network")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return an event with a good and a void session, and a folder of their bundles."""
    folder = tmp_path_factory.mktemp("event")
    clock = FakeClock()
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register("ants", "bees")
        event.play("ants", found=3)
        event.play("bees", found=5)
        event.early = folder / "early.zip"
        write_bundle(contest, 2, event.early)
        desk.steps_of(2).void(2, "Kim", "wrong images")
        event.bundles = folder / "bundles"
        event.bundles.mkdir()
        for number in (1, 2):
            write_bundle(contest, number, event.bundles / f"session{number}.zip")
        yield event
    contest.database.close()


@pytest.fixture
def copies(played, tmp_path):
    """Return a copy of the bundles, which a test may change."""
    return shutil.copytree(played.bundles, tmp_path / "copies")


def read(folder, keys=()):
    """Return the sessions of a folder, and what was told."""
    told = []
    return BundleFolder(folder, TRACK, keys).read(told.append), told


def rewrite(path, **members):
    """Write a bundle again, with other content in some members."""
    pack(path, unpack(path) | {name.replace("_json", ".json"): members[name] for name in members})


def teams(stations):
    """Return the sessions of each team of the only station."""
    (station,) = stations
    return {team.name: team.played for team in station.teams if team.played}


def test_bundles_give_the_rows_that_the_feed_gives(played, copies):
    """Key, figures and intervals are those of the feed, to the last bit."""
    sessions, told = read(copies)
    assert [] == told
    snapshot = Publisher(played.contest).refresh()
    online = followed("A", "".join(lines_after(snapshot, START)[0]))
    assert station_key(played.contest.config.path) == sessions[0].station
    by_feed, by_stick = (
        joint_stations([online], [], "network"),
        joint_stations([], sessions, "network"),
    )
    assert by_feed[0].key == by_stick[0].key
    assert teams(by_feed) == teams(by_stick)
    assert {"ants"} == set(teams(by_feed))


def test_the_longer_facts_are_the_newer_bundle(played, copies):
    """Two bundles of one session, under any names, give its newest state: here it is void."""
    shutil.copy(played.early, copies / "zzz.zip")
    sessions, told = read(copies)
    assert ([(1, False), (2, True)], []) == ([(it.session, it.void) for it in sessions], told)
    (copies / "session2.zip").unlink()
    assert [(1, False), (2, False)] == [(it.session, it.void) for it in read(copies)[0]]


def test_only_bundles_of_the_given_keys_count(played, copies):
    """A bundle whose member was changed, or that another key has signed, is told."""
    public = played.contest.config.path.parent / "signing.pub"
    assert 2 == len(read(copies, [public])[0])
    other = make_contest(
        copies.parent / "other" if (copies.parent / "other").mkdir() else copies.parent / "other"
    )
    other.database.close()
    sessions, told = read(copies, [other.config.path.parent / "signing.pub"])
    assert ([], 2) == (sessions, len([one for one in told if "has signed it" in one]))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("score_json", b"{}", "score.json: found SHA-256"),
        ("manifest_json", b"{}", "no whole bundle"),
        ("manifest_json", b"[", "no whole bundle"),
        ("manifest_json", json.dumps({"sha256": [], "envelope": 3}).encode(), "no whole bundle"),
    ],
)
def test_a_changed_bundle_does_not_count(copies, name, content, told):
    """It is told once, with the member; the others count."""
    rewrite(copies / "session1.zip", **{name: content})
    folder, found = BundleFolder(copies, TRACK), []
    assert [2] == [one.session for one in folder.read(found.append)]
    folder.read(found.append)
    assert 1 == len(found) and told in found[0]


def test_a_score_that_the_signed_statement_contradicts_does_not_count(copies):
    """A manifest that fits the forged score is not the one that was signed; no key is needed."""
    path = copies / "session1.zip"
    score = re.sub(rb'"mean_ap": [0-9.]+', b'"mean_ap": 0.95', unpack(path)["score.json"], count=1)
    manifest = json.loads(unpack(path)["manifest.json"])
    manifest["sha256"]["score.json"] = sha256(score).hexdigest()
    rewrite(path, score_json=score, manifest_json=json_bytes(manifest))
    sessions, told = read(copies)
    assert [2] == [one.session for one in sessions]
    assert "manifest.json: It is not what was signed: the statement's" in told[0]


def test_a_file_with_a_byte_too_many_does_not_count(copies):
    """The layout is checked here too, before anything is read."""
    path = copies / "session1.zip"
    path.write_bytes(b"\n" + path.read_bytes())
    sessions, told = read(copies)
    assert ([2], True) == ([one.session for one in sessions], "end record" in told[0])


def test_two_sessions_of_one_number_both_count(played, copies):
    """A restored folder gives numbers again: neither team's session takes the other's place."""
    (one, two), _ = read(copies)
    other = replace(one, team="bees", created_utc="later", facts=one.facts + 1)
    (station,) = joint_stations([], [one, other, two], "network")
    assert [("ants", 1), ("bees", 1)] == [
        (team.name, played.session) for team in station.teams for played in team.played
    ]


def test_a_file_that_is_no_zip_and_one_that_is_too_large_are_told(copies, monkeypatch):
    """Nothing is unpacked beyond the size of a session."""
    (copies / "notes.zip").write_bytes(b"PK")
    assert "notes.zip" in read(copies)[1][0]
    monkeypatch.setitem(bundle_file.MOST, "score.json", bundle_file.Most(10, 10))
    assert [] == read(copies)[0]


def test_a_bundle_of_another_track_is_told(copies):
    """A ranking has one track, and no name in a file loads a module."""
    sessions, told = [], []
    sessions = BundleFolder(copies, load_track("camera")).read(told.append)
    assert ([], 2) == (sessions, len(told))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    """The message names it."""
    with pytest.raises(InputError, match="copied"):
        BundleFolder(tmp_path / "copied", TRACK)
