# SPDX-License-Identifier: Apache-2.0
"""A bundle is verified without its database, and whatever was changed in it is named."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest

from referee.errors import InputError
from referee.service.evidence import verify as verify_module
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.bundle_file import NotABundle
from referee.service.evidence.facts import link_behind
from referee.service.evidence.facts_read import read_facts
from referee.service.evidence.shadow import shadow_findings
from referee.service.evidence.verify import verify_bundle
from tests.bench.tampering import tamper
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.packed_bundles import pack
from tests.support.played_sessions import play


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a contest's ground truth and the bundle of a whole session."""
    folder = tmp_path_factory.mktemp("verify")
    contest = make_contest(folder, FakeClock(), mode="event", seconds=20)
    write_bundle(contest, play(contest), folder / "bundle.zip")
    contest.database.close()
    return folder


def verify(folder, path=None):
    """Verify a bundle against the contest's ground truth."""
    return verify_bundle(path or folder / "bundle.zip", folder / "truth.json")


def members_of(folder):
    """Return the content of each member of the bundle by name."""
    with zipfile.ZipFile(folder / "bundle.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(folder, tmp_path, members, *, manifest=False, signed=False):
    """Write a bundle of these members; with `manifest`, its hashes fit them.

    The old signature is then left out, unless it is to stay as if nothing had happened.
    """
    if manifest:
        told = json.loads(members["manifest.json"])
        told["sha256"] = {name: sha256(members[name]).hexdigest() for name in told["sha256"]}
        if not signed:
            del told["envelope"]
        members["manifest.json"] = (json.dumps(told, indent=2) + "\n").encode()
    return pack(tmp_path / "changed.zip", members)


def test_a_whole_bundle_holds(folder):
    """Everything in an untouched bundle is computed again to the last digit."""
    assert [] == verify(folder)


# What is changed: the member, a text in it, and what takes its place.
EDITS = {
    "a box": ("detections.csv", b"0.24285714285714285", b"0.24285714285714286"),
    "a late box": ("late_detections.csv", b"11.0", b"12.0"),
    "an answer's time": ("answers.csv", b"1.25", b"1.24"),
    "a request": ("requests.csv", b"/image", b"/imagf"),
    "a power": ("power.csv", b"START", b"STOP"),
    "a reading": ("readings.jsonl", b'"state": "START"', b'"state": "STOP"'),
    "a fact": ("facts.jsonl", b'"actor":"Kim"', b'"actor":"Tim"'),
    "the energy": ("verdict.json", b'"energy_wh": 0.0', b'"energy_wh": 1.0'),
    "the verdict": ("verdict.json", b'"verdict": "', b'"verdict": "X'),
    "the score": ("score.json", b'"mean_ap": 0.', b'"mean_ap": 1.'),
    "the team": ("session.json", b"ants", b"bees"),
    "the seed": ("session.json", b"18446744073709551611", b"18446744073709551612"),
    "an image": ("images.csv", b"1.jpg", b"9.jpg"),
    "a setting": ("config.toml", b"seconds = 20", b"seconds = 21"),
    "a fact of the run": ("run.json", b'"timer_s": 20', b'"timer_s": 21'),
    "a word on the wire": ("meter.jsonl", b"*IDN?", b"*IDM?"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found(folder, tmp_path, name):
    """A changed digit is found by its member, with what was found and what was expected."""
    member, old, new = EDITS[name]
    members = members_of(folder)
    assert old in members[member]
    members[member] = members[member].replace(old, new, 1)
    finding, *_ = verify(folder, changed(folder, tmp_path, members))
    assert (member, True) == (finding.member, "expected" in finding.what)


@pytest.mark.parametrize("name", sorted(EDITS.keys() - {"a word on the wire", "an image"}))
def test_an_edit_with_its_hash_is_found(folder, tmp_path, name):
    """Where the manifest was made to fit, the rows themselves tell, each with its line."""
    member, old, new = EDITS[name]
    members = members_of(folder)
    members[member] = members[member].replace(old, new, 1)
    findings = verify(folder, changed(folder, tmp_path, members, manifest=True))
    assert findings
    assert member in {finding.member for finding in findings} or member == "config.toml"


def test_a_reading_that_the_meter_never_sent_is_found(folder, tmp_path):
    """The conversation with the meter must have each reading, with its numbers."""
    members = members_of(folder)
    lines = members["meter.jsonl"].splitlines(keepends=True)
    place = [n for n, line in enumerate(lines) if b"NORMal:VALue?" in line][12]
    del lines[place : place + 2]
    members["meter.jsonl"] = b"".join(lines)
    findings = verify(folder, changed(folder, tmp_path, members, manifest=True))
    assert ["readings.jsonl"] == [finding.member for finding in findings]
    assert "the meter's conversation has no such reading" in findings[0].what


def test_rows_in_another_order_are_found(folder, tmp_path):
    """Two facts that changed places break the chain at the first of them."""
    members = members_of(folder)
    lines = members["facts.jsonl"].splitlines(keepends=True)
    lines[8], lines[9] = lines[9], lines[8]
    members["facts.jsonl"] = b"".join(lines)
    findings = verify(folder, changed(folder, tmp_path, members, manifest=True))
    assert any("line 9 (" in finding.what for finding in findings)


def forged(folder, edit):
    """Return the members after `edit` of each row, with every hash and every copy made to fit."""
    members = members_of(folder)
    before, lines = None, []
    for text in members["facts.jsonl"].splitlines():
        line = json.loads(text)
        edit(line["table"], line["row"])
        before = link_behind(line, before)
        lines.append(json.dumps(line | {"strand": before.hex()}, separators=(",", ":")))
    members["facts.jsonl"] = ("\n".join(lines) + "\n").encode()
    return members


def test_a_forged_energy_is_judged_again(folder, tmp_path):
    """Whoever makes all hashes fit another energy fails, because the energy is judged again."""

    def edit(table, row):
        if table == "energies":
            row["energy_wh"] /= 2

    findings = verify(folder, changed(folder, tmp_path, forged(folder, edit), manifest=True))
    assert any("judged again, energy_wh: found" in finding.what for finding in findings)


ODD_VALUES = {
    # A column of a table, a value that no referee stores, and what is told of it.
    "too many images": ("requests", "image_count", 2**62, "has no such images"),
    "image 0": ("requests", "first_image", 0, "has no such images"),
    "no settings": ("session_meters", "settings", "{}", "no referee stores"),
    "no moment": ("readings", "utc", "noon", "no referee stores"),
    "no detail": ("energies", "detail", "null", "no referee stores"),
    "a list": ("notices", "text", [], "the rules of the database refuse it"),
    "a number too large": ("notices", "notice_id", 2**63, "the rules of the database refuse it"),
}


@pytest.mark.parametrize("name", ODD_VALUES)
def test_a_forged_value_of_another_kind_is_told(folder, tmp_path, name):
    """Rows that no referee stores end in a sentence, neither in a traceback nor in a long wait."""
    table, column, value, text = ODD_VALUES[name]

    def edit(of, row):
        if of == table:
            row[column] = value

    findings = verify(folder, changed(folder, tmp_path, forged(folder, edit), manifest=True))
    assert any(text in finding.what for finding in findings), findings


def test_a_forged_score_is_scored_again(folder, tmp_path):
    """Whoever makes all hashes fit another score fails, because the score is computed again."""

    def edit(table, row):
        if table == "scoring_runs":
            row["score"] *= 2

    findings = verify(folder, changed(folder, tmp_path, forged(folder, edit), manifest=True))
    assert any("score: found" in finding.what for finding in findings)


def test_a_manifest_of_another_session_is_told(folder, tmp_path):
    """The manifest's number of the session is compared with the session's own."""
    members = members_of(folder)
    told = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps(told | {"session": 7}).encode()
    findings = verify(folder, changed(folder, tmp_path, members, manifest=True))
    whole = [(finding.member, finding.what) for finding in findings]
    assert ("manifest.json", "session: found 7, expected 1.") in whole


def test_a_score_that_names_fewer_answers_is_told(folder, tmp_path):
    """A score says up to which answer it goes; its figures alone may be equal without the last."""

    def edit(table, row):
        if table == "scoring_runs":
            row["upto_answer_id"] -= 1

    findings = verify(folder, changed(folder, tmp_path, forged(folder, edit), manifest=True))
    assert any(
        finding.what.startswith("the newest answer in time: found ")
        and finding.member == "score.json"
        for finding in findings
    ), findings


def test_a_later_version_that_tells_more_of_a_score_calls_no_bundle_false(folder, monkeypatch):
    """What a run stored is compared; what this version adds to it is not missed."""
    real = verify_module.compute_run

    def tells_more(*args):
        run = real(*args)
        uncertainty = run.detail["uncertainty"] | {"a_later_bound": 0.5}
        return replace(run, detail=run.detail | {"later": 1, "uncertainty": uncertainty})

    monkeypatch.setattr(verify_module, "compute_run", tells_more)
    assert [] == verify_bundle(folder / "bundle.zip", folder / "truth.json")


def test_the_second_path_agrees(folder, tmp_path):
    """The second path comes to the same mAP and score, and tells where a bundle's differ."""
    whole = folder / "bundle.zip"
    assert [] == verify_bundle(whole, folder / "truth.json", shadow=True)
    members = members_of(folder)
    told = json.loads(members["score.json"])
    assert 0 < told["mean_ap"] < 1
    for name in ("mean_ap", "energy_wh", "score"):
        odd = json.dumps(told | {name: told[name] * 1.001}).encode()
        findings = shadow_findings(members | {"score.json": odd}, folder / "truth.json", None)
        assert name in next(findings).what


def test_regions_of_a_crowd_are_no_truth_of_the_second_path(folder, tmp_path):
    """COCO's crowd regions are no objects for the scorer, and so for the second path neither."""
    truth = json.loads((folder / "truth.json").read_text())
    crowd = truth["annotations"][0] | {"id": 99, "iscrowd": 1, "bbox": [0, 0, 30, 20]}
    truth["annotations"].append(crowd)
    (tmp_path / "crowd.json").write_text(json.dumps(truth))
    assert [] == list(shadow_findings(members_of(folder), tmp_path / "crowd.json", None))


def test_the_second_path_calls_no_bundle_forged_for_a_list_that_it_cannot_read(folder, tmp_path):
    """WordNet ids in a blacklist are wrong use of the second path, and no finding."""
    (tmp_path / "names.csv").write_text("1,n02672831\n")
    with pytest.raises(InputError, match="the second path cannot read it"):
        list(shadow_findings(members_of(folder), folder / "truth.json", tmp_path / "names.csv"))


FIRST_ROWS = {
    "no row at all": [],
    "another row first": ["teams", "sessions", "materials"],
    "no materials": ["sessions", "teams", "answers"],
    "materials too late": ["sessions", "materials", "teams"],
}


@pytest.mark.parametrize("name", FIRST_ROWS)
def test_facts_begin_with_session_team_and_materials(name):
    """Facts that begin with other rows are refused, and the reason says what comes first."""
    before, lines = None, []
    for table in FIRST_ROWS[name]:
        row = {"answer_id": 1, "row_count": 0, "late": 0, "content": {"sha256": "00"}}
        line = {"table": table, "row": row}
        before = link_behind(line, before)
        lines.append(json.dumps(line | {"strand": before.hex()}).encode())
    with pytest.raises(NotABundle, match="session's own row, its team, and what") as refused:
        read_facts({"facts.jsonl": b"\n".join(lines)})
    assert "facts.jsonl" == refused.value.finding.member


def test_random_changes_are_all_found():
    """A small sample of `tests/bench/tampering.py`: nothing goes unnoticed, with or without key."""
    missed = tamper(10, seed=3)
    assert [10, 0, 0] == [
        sum(count for (_, it), count in missed.items() if it == what)
        for what in ("tried", "key", "no key")
    ]


def test_another_ground_truth_is_told(folder, tmp_path):
    """A ground truth that the session was not scored with is named, and nothing is scored."""
    other = json.loads((folder / "truth.json").read_text())
    other["annotations"][0]["bbox"][0] += 1
    (tmp_path / "other.json").write_text(json.dumps(other))
    (finding,) = verify_bundle(folder / "bundle.zip", tmp_path / "other.json")
    assert ("score.json", True) == (
        finding.member,
        "is not the session's ground_truth" in finding.what,
    )
    blacklist = tmp_path / "blacklist.csv"
    blacklist.write_text("1,1\n")
    (finding,) = verify_bundle(folder / "bundle.zip", folder / "truth.json", blacklist)
    assert "was scored without a blacklist" in finding.what


def twice(members):
    """Return a zip file with one member in it twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in [*sorted(members.items()), ("run.json", b"{}")]:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_that_are_no_bundle(folder, tmp_path):
    """Each broken file gets one clear sentence."""
    whole = (folder / "bundle.zip").read_bytes()
    members = members_of(folder)
    path = tmp_path / "odd.zip"
    for content, member, text in (
        (b"", "", "This is no whole zip file"),
        (b"hello", "", "This is no whole zip file"),
        (whole[: len(whole) // 2], "", "This is no whole zip file"),
        (twice(members), "run.json", "there 2 times"),
    ):
        path.write_bytes(content)
        (finding,) = verify(folder, path)
        assert (member, True) == (finding.member, text in finding.what)
    for name, content, text in (
        ("../../etc/passwd", b"x", "No bundle has such a member"),
        ("run.json", None, "The member is missing"),
        ("manifest.json", b"[]", "It is no manifest"),
        ("facts.jsonl", b"{}\n", "line 1 is no fact"),
        ("facts.jsonl", b"[" * 100_000, "line 1 is no fact"),
        ("manifest.json", b"[" * 100_000, "It is no manifest"),
    ):
        odd = members | {name: content}
        odd = {name: content for name, content in odd.items() if content is not None}
        findings = verify(folder, changed(folder, tmp_path, odd))
        assert (name, True) == (findings[-1].member, text in findings[-1].what)
    with pytest.raises(InputError, match="is a folder"):
        verify(folder, tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        verify(folder, tmp_path / "none.zip")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("header", ["", "Image_ID, category_id,xmin,ymin,xmax,ymax\n"])
def test_the_second_path_reads_csv_as_the_first_does(folder, tmp_path, header, packed):
    """Header, comments, blanks for commas and gzip make no difference to mAP and score."""
    truth = json.loads((folder / "truth.json").read_text())
    lines = ["# the truth\r\n", header]
    for one in truth["annotations"]:
        x, y, w, h = one["bbox"]
        box = f"{x} {y},{x + w - 1},{y + h - 1} # a box"
        lines.append(f"{one['image_id']}, {one['category_id']},{box}\n\n")
    content = "".join(lines).encode()
    (tmp_path / "truth.csv").write_bytes(gzip.compress(content) if packed else content)
    assert [] == list(shadow_findings(members_of(folder), tmp_path / "truth.csv", None))


@pytest.mark.parametrize("missing", ["truth", "blacklist"])
def test_a_missing_truth_is_no_forgery(folder, tmp_path, missing):
    """A file that is not there is wrong use; nothing is said about the bundle."""
    truth = tmp_path if missing == "truth" else folder
    blacklist = None if missing == "truth" else tmp_path / "blacklist.csv"
    with pytest.raises(InputError, match="does not exist. Nothing was verified"):
        verify_bundle(folder / "bundle.zip", truth / "truth.json", blacklist)


def test_a_bomb_is_not_unpacked(folder, tmp_path, monkeypatch):
    """Members that would be larger than any session are refused before they are read."""
    monkeypatch.setattr("referee.core.bounds.MOST_BYTES", 10_000)
    (finding,) = verify(folder)
    assert "more than any session gives" in finding.what
