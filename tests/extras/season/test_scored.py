# SPDX-License-Identifier: Apache-2.0
"""One bundle scored again: the same bytes give the same numbers, or the same reason."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.extras.season.bundle_read import read_bundle
from referee.extras.season.joint import energy_of_row, grouped, joint_uncertainty, seed_from
from referee.extras.season.rows import RowKey, row_line
from referee.extras.season.scored import DrawBlock, joined, measure, row_of, score_bundle
from referee.formats.ground_truth import read_ground_truth
from referee.scoring.comparison import compare
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import DEVKIT, RULE_SETS, VOC
from referee.scoring.split_half import Drawing
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.encoding import json_bytes
from referee.service.evidence.signature import envelope_of
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play
from tests.support.season_bundles import members_of, shaken, small_truth, write

TRUTH = small_truth()


@pytest.fixture(scope="module")
def members():
    """Return the members of a bundle of 400 detections."""
    return members_of(TRUTH, shaken(TRUTH, np.random.default_rng(2), 400))


@pytest.fixture(scope="module")
def bundle(members, tmp_path_factory):
    """Return the path of that bundle."""
    return write(tmp_path_factory.mktemp("tokyo") / "session1.zip", members)


@pytest.mark.parametrize("shuffled", [False, True])
def test_an_exported_bundle_has_its_own_score_again(tmp_path, shuffled):
    """The mAP, the score and the words of the bundle come again, also of a shuffled session."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    write_bundle(contest, play(contest, shuffled=shuffled), tmp_path / "bundle.zip")
    contest.database.close()
    row = score_bundle(tmp_path / "bundle.zip", read_ground_truth(tmp_path / "truth.json").truth)
    assert ("scored", None, True) == (row["status"], row["reason"], row["reproduces"])
    assert row["old"]["mean_ap"] == row["new"]["mean_ap"]
    assert row["old"]["score"] == row["new"]["score"] > 0
    assert row["old"]["normalized_accuracy"] == row["new"]["normalized_accuracy"]
    assert ("ants, é", 1, "network") == (row["team"], row["session"], row["track"])
    assert len(row["station"]) == 64


def test_a_shuffled_session_has_the_same_score(bundle, members, tmp_path):
    """The number that the contestant saw leads to the image, whatever order the session had."""
    header, *lines = members["images.csv"].decode().splitlines()
    order = np.random.default_rng(9).permutation(len(lines))
    images = [f"{n},{lines[place].partition(',')[2]}" for n, place in enumerate(order, start=1)]
    number = {place + 1: n for n, place in enumerate(order.tolist(), start=1)}
    rows = [row.partition(b",") for row in members["detections.csv"].splitlines(keepends=True)]
    shuffled = members | {
        "images.csv": "\n".join([header, *images]).encode(),
        "detections.csv": b"".join(b"%d,%b" % (number[int(n)], rest) for n, _, rest in rows),
    }
    row = score_bundle(write(tmp_path / "a.zip", shuffled), TRUTH, resamples=4)
    plain = score_bundle(bundle, TRUTH, resamples=4)
    assert (row["new"]["mean_ap"], row["joint"]) == (plain["new"]["mean_ap"], plain["joint"])


def test_the_same_bytes_give_the_same_row(bundle, tmp_path):
    """The row depends on the file's bytes, the rules and the seed, and on nothing else."""
    (tmp_path / bundle.parent.name).mkdir()
    other = tmp_path / bundle.parent.name / bundle.name
    other.write_bytes(bundle.read_bytes())
    line = row_line(score_bundle(bundle, TRUTH))
    assert line == row_line(score_bundle(other, small_truth()))
    assert line != row_line(score_bundle(bundle, TRUTH, seed=1))


def test_the_score_is_that_of_the_library(bundle):
    """Each set of rules gives the mAP that `evaluate` gives, and the bundle's own reproduce."""
    detections = shaken(TRUTH, np.random.default_rng(2), 400)
    for rules in RULE_SETS.values():
        row = score_bundle(bundle, TRUTH, rules, resamples=4)
        assert evaluate(TRUTH, detections, rules).mean_ap == row["new"]["mean_ap"]
        assert (rules.name, rules.version) == (row["rules"], row["rules_version"])
        assert row["reproduces"] is (True if rules == DEVKIT else None)
        assert row["new"]["mean_ap"] / 0.5 == row["new"]["score"]


def test_blocks_of_draws_join_to_the_whole(bundle):
    """Draws that three workers made are those that one makes, bit for bit."""
    read = read_bundle(bundle)
    whole, *blocks = (
        measure(read, TRUTH, VOC, 5, 20, DrawBlock(first, count))
        for first, count in ((0, 20), (0, 7), (7, 12), (19, 1))
    )
    key = RowKey("", VOC.name, VOC.version, "0", 5, 20)
    rows = [row_of(key, "0", read.told, it) for it in (whole, joined(blocks))]
    assert row_line(rows[0]) == row_line(rows[1])


def test_two_bundles_of_one_truth_can_be_compared(bundle, members, tmp_path):
    """Their joint draws see the same halves; each bundle's own interval has draws of its own."""
    session = members["session.json"].replace(b"ants", b"bees")
    twin = write(tmp_path / "twin.zip", members | {"session.json": session})
    weaker = members_of(TRUTH, shaken(TRUTH, np.random.default_rng(3), 90), energy_wh=0.7)
    rows = [
        score_bundle(path, TRUTH) for path in (bundle, twin, write(tmp_path / "weaker.zip", weaker))
    ]
    first, same, other = map(joint_uncertainty, rows)
    assert 1 == len({row["joint"]["key"] for row in rows})
    energy = energy_of_row(rows[0])
    nothing = compare(first, same, energy, replace(energy, uncertainty_wh=0.0))
    assert (0.0, 0.5) == (nothing.difference, nothing.turn_probability)
    assert rows[0]["new"]["mean_ap_interval"] != rows[1]["new"]["mean_ap_interval"]
    told = compare(first, other, energy, energy_of_row(rows[2]))
    assert told.interval.low < told.difference < told.interval.high
    assert rows[0]["new"]["score"] - rows[2]["new"]["score"] == told.difference


def test_other_draws_have_another_key(bundle):
    """Rows with other seeds, draws or truths say by their key that they are not comparable."""
    rows = [
        score_bundle(bundle, TRUTH, resamples=4),
        score_bundle(bundle, TRUTH, resamples=5),
        score_bundle(bundle, TRUTH, seed=1, resamples=4),
        score_bundle(bundle, replace(TRUTH, box=TRUTH.box + 1), resamples=4),
    ]
    assert 4 == len({row["joint"]["key"] for row in rows})


def test_sums_of_many_images_keep_the_degrees_of_freedom():
    """A thousand sums never claim more degrees of freedom than the images, and few fewer."""
    from referee.scoring.comparison import _degrees

    truth = small_truth(images=3000)
    whole = Drawing(evaluate(truth, shaken(truth, np.random.default_rng(4), 9000))).halves(4)
    rare = np.zeros(3000)
    rare[::300] = 1.0
    for halves in (whole, replace(whole, parts=rare - rare.mean())):
        fewer = grouped(halves)
        assert (1000, True) == (len(fewer.parts), np.isclose(fewer.parts.sum(), 0, atol=1e-9))
        assert _degrees(fewer) <= _degrees(halves) * 1.1
        assert _degrees(fewer) > min(_degrees(halves), 1000) / 2


def test_a_seed_is_a_number_that_any_reader_of_json_keeps():
    """Seeds differ by every word and stay below 2^48."""
    seeds = {seed_from(*words) for words in (("a", "b"), ("ab",), ("a",), ("b", "a"))}
    assert 4 == len(seeds)
    assert max(seeds) < 2**48


def test_a_session_without_a_score_has_the_new_map_alone(members, tmp_path):
    """A bundle that was exported before its score, and one of an INVALID energy, have no score."""
    unscored = write(tmp_path / "a.zip", members | {"score.json": b"null\n"})
    row = score_bundle(unscored, TRUTH, resamples=4)
    assert ("scored", None, None) == (row["status"], row["old"], row["new"]["score"])
    assert 0 < row["new"]["mean_ap"] < 1
    assert energy_of_row(row) is None
    old = json.loads(members["score.json"])
    old |= {"verdict": "INVALID", "reasons": ["It lost 3 s.", "More."]}
    invalid = write(tmp_path / "b.zip", members | {"score.json": json.dumps(old).encode()})
    row = score_bundle(invalid, TRUTH, resamples=4)
    assert (None, "It lost 3 s.") == (row["new"]["score"], row["old"]["reason"])


def test_a_suspect_energy_has_a_score_and_no_interval(members, tmp_path):
    """Nobody guarantees the limit of error of a SUSPECT energy."""
    old = json.loads(members["score.json"]) | {"verdict": "SUSPECT"}
    path = write(tmp_path / "a.zip", members | {"score.json": json.dumps(old).encode()})
    row = score_bundle(path, TRUTH, resamples=4)
    new = row["new"]
    assert energy_of_row(row) is None
    assert new["score"] > 0
    assert None is new["score_interval"]
    assert new["mean_ap_interval"]


BROKEN = {
    "a missing member": ({"images.csv": None}, "images.csv: The member is missing."),
    "a track of another kind": (
        {"session.json": (b'"network"', b'"os.system"')},
        "session.json: Its track 'os.system' has rules of its own.",
    ),
    "a session of another shape": (
        {"session.json": (b'"session": 1', b'"session": "x"')},
        "session.json: It is not as a referee writes it: Expected `int`, got `str`",
    ),
    "a score of another shape": ({"score.json": b"[1]"}, "score.json: It is not as a referee"),
    "JSON without end": ({"score.json": b"[" * 100_000}, "score.json: It is not as a referee"),
    "an image twice": (
        {"images.csv": (b"2,2,10,", b"2,1,10,")},
        "images.csv: Its numbers and image ids are not 1 to N, each once.",
    ),
    "an image that is no number": ({"images.csv": (b"2,2,10,", b"2,x,10,")}, "images.csv: It is"),
    "an image number beyond 64 bits": (
        {"images.csv": (b"2,2,10,", b"2,2,99999999999999999999,")},
        "images.csv: It is no list of images",
    ),
    "no list of images": ({"images.csv": b""}, "images.csv: It is no list of images"),
    "a line that is no detection": (
        {"detections.csv": b"1,1,0.5,1,2,3,4\n1,1,nonsense,1,2,3,4\n"},
        "detections.csv: line 2, confidence: 'nonsense' is not a number.",
    ),
    "other images": (
        {"images.csv": (b",10,", b",11,")},
        "images.csv: The ground truth has the image 10, and the session has not.",
    ),
    "other classes": (
        {"session.json": (b'"4"', b'"5"')},
        "session.json: The ground truth has 4 classes (1 to 4), and the session 4 classes (1 to 5)",
    ),
    "a class without a number": (
        {"session.json": (b'"4"', b'"x"')},
        "session.json: It has a class that is no number",
    ),
    "more detections than any session takes": (
        {"detections.csv": b"\n" * 10_000_002},
        "detections.csv: It has 10000002 lines, more than any session gives.",
    ),
    "a name without end": (
        {"session.json": (b"ants", b"a" * 1001)},
        "session.json: It is not as a referee writes it: Expected `str` of length <= 1000",
    ),
    "a number that is none": (
        {"score.json": (b'"energy_wh": 0.5', b'"energy_wh": 1e999')},
        "score.json: It is not as a referee writes it",
    ),
    "a manifest of another kind": ({"manifest.json": b"[]"}, "manifest.json: It is no manifest"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_bundle_says_what_is_wrong(members, tmp_path, name):
    """The row names the member and the fault, and has the file's hash."""
    edits, reason = BROKEN[name]
    changed = dict(members)
    for member, edit in edits.items():
        if edit is None:
            del changed[member]
        else:
            content = edit if isinstance(edit, bytes) else changed[member].replace(*edit, 1)
            assert content != changed.get(member)
            changed[member] = content
    path = write(tmp_path / "broken.zip", changed, fit="manifest.json" not in edits)
    row = score_bundle(path, TRUTH)
    assert row["reason"].startswith(reason), row["reason"]
    assert ("broken", 64, None) == (row["status"], len(row["bundle_sha256"]), row["new"])
    assert row_line(row)


@pytest.mark.parametrize("energy_wh", [1e-310, 1e-300, 0.0, -1.0, 1e308])
def test_an_energy_that_no_meter_measures_gives_no_strange_number(members, tmp_path, energy_wh):
    """Whatever energy a stranger tells, the row is JSON: no infinity, no NaN."""
    old = json.loads(members["score.json"]) | {"energy_wh": energy_wh, "uncertainty_wh": 0.0}
    path = write(tmp_path / "a.zip", members | {"score.json": json.dumps(old).encode()})
    row = score_bundle(path, TRUTH, resamples=4)
    assert ("scored", True) == (row["status"], bool(row_line(row)))
    assert (energy_wh > 1e-305) == (row["new"]["score"] is not None)


def test_a_changed_member_is_found_by_its_hash(members, tmp_path):
    """A bundle whose detections are not those of its manifest is not scored."""
    path = write(tmp_path / "a.zip", members)
    with zipfile.ZipFile(path) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    write(path, whole | {"detections.csv": b"1,1,0.5,1,2,3,4\n"}, fit=False)
    assert score_bundle(path, TRUTH)["reason"].startswith("detections.csv: found SHA-256 ")


def test_a_bundle_that_its_statement_contradicts_is_not_scored(members, tmp_path):
    """Hashes that fit the forged detections are not those that were signed."""
    digests = {name: sha256(members[name]).hexdigest() for name in sorted(members)}
    told = {"session": 1, "referee_version": "0", "sha256": digests}
    envelope = envelope_of(told).signed(Ed25519PrivateKey.generate()).to_json()
    signed = members | {"manifest.json": json_bytes(told | {"envelope": envelope})}
    path = write(tmp_path / "a.zip", signed, fit=False)
    assert "scored" == score_bundle(path, TRUTH, resamples=4)["status"]
    forged = b"1,1,0.5,1,2,3,4\n"
    told["sha256"]["detections.csv"] = sha256(forged).hexdigest()
    manifest = {"manifest.json": json_bytes(told | {"envelope": envelope})}
    write(path, signed | manifest | {"detections.csv": forged}, fit=False)
    reason = score_bundle(path, TRUTH)["reason"]
    assert reason.startswith("manifest.json: It is not what was signed")


def test_a_zip_bomb_is_refused_by_its_size(members, tmp_path):
    """A member that claims more than any session gives is not unpacked."""
    path = write(tmp_path / "bomb.zip", members | {"score.json": b" " * 2**26 + b"null"})
    assert path.stat().st_size < 2**20
    row = score_bundle(path, TRUTH)
    assert "score.json: It has 67108868 bytes, more than any session gives." == row["reason"]


def test_a_member_that_lies_about_its_size_is_refused(members, tmp_path):
    """No more is unpacked than a member claims and one byte, and it is then too long."""
    path = write(tmp_path / "liar.zip", members | {"score.json": b" " * 100_000 + b"null"})
    content = path.read_bytes()
    path.write_bytes(content.replace((100_004).to_bytes(4, "little"), (4).to_bytes(4, "little")))
    assert score_bundle(path, TRUTH)["reason"].startswith("score.json: The member has another size")


def test_a_member_that_is_there_twice_is_refused(members, tmp_path):
    """Two members of one name would let each reader see another one."""
    path = write(tmp_path / "twice.zip", members)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("score.json", b"null")
    assert "score.json: The member is there 2 times." == score_bundle(path, TRUTH)["reason"]


def test_what_is_no_bundle_is_a_row_too(bundle, tmp_path):
    """A text, half a bundle, a folder, a pipe and a missing file each give a reason."""
    (tmp_path / "text.zip").write_text("nothing")
    (tmp_path / "half.zip").write_bytes(bundle.read_bytes()[:-100])
    (tmp_path / "folder.zip").mkdir()
    os.mkfifo(tmp_path / "pipe.zip")
    reasons = {
        name: score_bundle(tmp_path / f"{name}.zip", TRUTH)["reason"]
        for name in ("text", "half", "folder", "pipe", "missing")
    }
    no_zip = "This is no whole zip file: it has no end record."
    assert no_zip == reasons["text"] == reasons["half"]
    assert reasons["folder"] == reasons["pipe"] == "It is no file."
    assert "The file cannot be read: No such file or directory." == reasons["missing"]
