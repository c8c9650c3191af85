# SPDX-License-Identifier: Apache-2.0
"""A bundle holds the blacklist that its session was scored with, and verifies by it."""

from __future__ import annotations

import json
import zipfile

import pytest

from referee.cli import main
from referee.core import bounds
from referee.errors import InputError
from referee.extras.stations.bundles import BundleFolder
from referee.service.event.proposals import apply_proposal
from referee.service.event.rescoring import Filter, make_proposal
from referee.service.evidence import bundle_file
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.facts_check import check_facts
from referee.service.evidence.verify import verify_bundle
from referee.service.setup import blacklist as blacklist_module
from referee.store.images import blacklist_of
from referee.tracks.network import TRACK
from tests.service.evidence.test_verify import changed, members_of
from tests.support.contests import make_contest, with_blacklist
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play

LISTED = "2,1\n4,1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a ground truth, and the bundle of a session; the blacklist is gone."""
    folder = tmp_path_factory.mktemp("blacklist")
    contest = make_contest(folder, FakeClock(), mode="event", seconds=20)
    contest = with_blacklist(contest, LISTED)
    write_bundle(contest, play(contest), folder / "bundle.zip")
    contest.database.close()
    (folder / "blacklist.csv").unlink()
    return folder


def told(findings):
    """Return findings as pairs of member and text."""
    return [(one.member, one.what) for one in findings]


def test_a_bundle_with_its_blacklist_needs_no_file(folder, tmp_path, capsys):
    """The bundle and the ground truth are enough; a list that is given must be the same."""
    assert LISTED.encode() == members_of(folder)["blacklist.csv"]
    truth = folder / "truth.json"
    words = ["verify", str(folder / "bundle.zip"), "--ground-truth", str(truth)]
    assert 0 == main([*words, "--shadow"]), capsys.readouterr().err
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    same.write_text(LISTED)
    other.write_text("2,1\n")
    assert 0 == main([*words, "--blacklist", str(same)])
    assert 1 == main([*words, "--blacklist", str(other)])
    assert "blacklist.csv: " + f"{other} is another blacklist: found" in capsys.readouterr().err


def test_a_bundle_of_an_earlier_referee_verifies_with_the_file(folder, tmp_path):
    """Without the member, verify wants the list by name, and takes only the same."""
    members = members_of(folder)
    manifest = json.loads(members["manifest.json"])
    del members["blacklist.csv"], manifest["sha256"]["blacklist.csv"]
    members["manifest.json"] = json.dumps(manifest).encode()
    path, truth = (
        changed(folder, tmp_path, members, manifest=True),
        folder / "truth.json",
    )
    (tmp_path / "list.csv").write_text(LISTED)
    assert [] == verify_bundle(path, truth, tmp_path / "list.csv", shadow=True)
    (tmp_path / "list.csv").write_text("2,1\n")
    ((member, what),) = told(verify_bundle(path, truth, tmp_path / "list.csv"))
    assert ("score.json", True) == (member, "is not the session's blacklist" in what)
    (wanted,) = told(verify_bundle(path, truth))
    assert (
        "score.json",
        "The session was scored with a blacklist, and none is given.",
    ) == wanted


def test_another_list_in_a_bundle_is_found(folder, tmp_path):
    """A changed list, one that is missing, and one too many are named, with hashes that fit too."""
    truth, members = folder / "truth.json", members_of(folder)
    edited = members | {"blacklist.csv": b"2,1\n"}
    (member, what), *_ = told(verify_bundle(changed(folder, tmp_path, edited), truth))
    assert ("blacklist.csv", True) == (member, "expected" in what)
    found = told(verify_bundle(changed(folder, tmp_path, edited, manifest=True), truth))
    assert ("blacklist.csv", "The session was not scored with it.") in found
    missing = {name: it for name, it in members.items() if name != "blacklist.csv"}
    found = told(verify_bundle(changed(folder, tmp_path, missing), truth))
    assert (
        "manifest.json",
        "It names 'blacklist.csv', and the bundle has no such member.",
    ) in found


def test_a_list_that_a_session_never_had_is_found(tmp_path):
    """A blacklist in the bundle of a session without one does not hold, and scores nothing."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    write_bundle(contest, play(contest), tmp_path / "bundle.zip")
    contest.database.close()
    members = members_of(tmp_path)
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"] = dict(sorted({**manifest["sha256"], "blacklist.csv": ""}.items()))
    members |= {
        "blacklist.csv": b"1,1\n",
        "manifest.json": json.dumps(manifest).encode(),
    }
    path = changed(tmp_path, tmp_path, members, manifest=True)
    found = told(verify_bundle(path, tmp_path / "truth.json"))
    assert ("blacklist.csv", "The session was not scored with it.") in found


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a,b,c\n", "It is no blacklist: "),
        (b"\n" * 1_000_002, "more than any session gives"),
    ],
)
def test_a_hostile_list_is_a_finding(folder, tmp_path, content, what):
    """What is no list, or too long a one, is a finding of its member; the limit is in the table."""
    assert bounds.BLACKLIST_MOST == bundle_file.MOST["blacklist.csv"]
    members = members_of(folder)
    old = json.loads(members["score.json"])
    members |= {"blacklist.csv": content, "score.json": json.dumps(old).encode()}
    path = changed(folder, tmp_path, members, manifest=True)
    found = told(verify_bundle(path, folder / "truth.json", shadow=True))
    assert any(member == "blacklist.csv" and what in text for member, text in found), found


def test_season_and_board_take_a_bundle_with_a_list(folder, tmp_path, capsys):
    """`rescore` scores it as the event did, and the board counts it."""
    (tmp_path / "list.csv").write_text(LISTED)
    words = [
        "--ground-truth",
        str(folder / "truth.json"),
        "--out",
        str(tmp_path / "season.jsonl"),
    ]
    words += ["--blacklist", str(tmp_path / "list.csv"), "--jobs", "1"]
    assert 0 == main(["rescore", str(folder / "bundle.zip"), *words])
    (row,) = map(json.loads, (tmp_path / "season.jsonl").read_text().splitlines())
    assert "scored" == row["status"]
    assert "1 of 1 row with the bundle's own rules has its own mAP" in capsys.readouterr().out
    told_of_board: list[str] = []
    assert 1 == len(BundleFolder(folder, TRACK).read(told_of_board.append))
    assert [] == told_of_board


def test_the_list_of_a_proposal_is_in_the_bundle_once_it_counts(tmp_path):
    """Before the proposal is applied the bundle holds the contest's list, then the new one."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    contest = with_blacklist(contest, LISTED)
    number, new = play(contest), tmp_path / "new.csv"
    new.write_text("3,1\n")
    proposal = make_proposal(contest, Filter(blacklist=new), "Kim", "the committee's list")
    new.unlink()

    def listed():
        write_bundle(contest, number, tmp_path / "bundle.zip")
        with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
            return archive.read("blacklist.csv")

    assert LISTED.encode() == listed()
    apply_proposal(contest, proposal, "Kim", "agreed")
    assert b"3,1\n" == listed()
    assert [] == verify_bundle(tmp_path / "bundle.zip", tmp_path / "truth.json", shadow=True)
    assert () == check_facts(contest).faults
    contest.database.close()


def test_the_stored_list_is_a_fact(tmp_path):
    """It is stored once, whatever prepares the contest again; `audit` sees another content."""
    contest = with_blacklist(make_contest(tmp_path, FakeClock()), LISTED)
    contest = with_blacklist(contest, LISTED)
    connection = contest.database.connection
    ((digest, content),) = connection.execute("select sha256, content from blacklists")
    assert LISTED.encode() == content == blacklist_of(connection, digest)
    connection.execute("drop trigger blacklists_no_update")
    connection.execute("update blacklists set content = x'00'")
    assert any("blacklists 1 is not the row" in fault for fault in check_facts(contest).faults)
    contest.database.close()


def test_a_list_that_no_bundle_could_hold_is_refused(tmp_path, monkeypatch):
    """A contest or a proposal with too long a blacklist is refused before anything is stored."""
    monkeypatch.setattr(blacklist_module, "BLACKLIST_MOST", bounds.Most(10, 10))
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    play(contest)
    with pytest.raises(InputError, match="has 12 bytes, more than any blacklist"):
        with_blacklist(contest, "2,1\n4,1\n3,1\n")
    chosen = Filter(blacklist=tmp_path / "blacklist.csv")
    with pytest.raises(InputError, match="has 12 bytes, more than any blacklist"):
        make_proposal(contest, chosen, "Kim", "why")
    assert [] == contest.database.connection.execute("select * from blacklists").fetchall()
    contest.database.close()
