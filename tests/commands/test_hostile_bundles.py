# SPDX-License-Identifier: Apache-2.0
"""Bundles of strangers through every command that reads them: no code runs, and each one ends.

`verify`, `rescore`, `season` and `board --bundles` read the same hostile bundles here.
"""

from __future__ import annotations

import json
import re
import struct
import sys
import tracemalloc
import zipfile
import zlib
from hashlib import sha256

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee import cli
from referee.extras.season.rankings import events_of
from referee.extras.season.report_tables import pairs_table, rankings_table
from referee.extras.season.report_text import report_json, report_text
from referee.extras.season.rows import row_line
from referee.extras.season.scored import score_bundle
from referee.extras.stations.bundles import BundleFolder
from referee.extras.stations.joint_board import view_text
from referee.formats.ground_truth import read_ground_truth
from referee.formats.tables import csv_of
from referee.scoring.rules import DEVKIT
from referee.service.evidence import bundle_file
from referee.service.evidence.facts import link_behind
from referee.service.evidence.verify import verify_bundle
from referee.service.setup.signing_key import public_text
from referee.tracks.network import TRACK
from tests.support.packed_bundles import pack
from tests.support.played_sessions import bundle_of

HOSTILE = (
    *("1e999", "-1e999", "1e308", "-1e308", "5e-324", "NaN", "-Infinity", "0.5", "-1", "0", "-0.0"),
    *("9" * 400, "-" + "9" * 400, "9" * 5000, str(2**63), str(2**53), str(-(2**63) - 1)),
    *("null", "true", "[]", "{}", '""', '"x"', '"\\ud800"', '"\\u001b[31m"', "[" * 3000),
)
"""What takes the place of a number: JSON that no referee writes."""

NUMBER = re.compile(rb"(?<=[:\[ ])-?\d+(?:\.\d+)?(?:e-?\d+)?(?=[,\s\]}])")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a contest's ground truth and the bundle of a whole session."""
    return bundle_of(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def members(folder):
    """Return the content of each member of that bundle by name."""
    with zipfile.ZipFile(folder / "bundle.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members):
    """Write members as a bundle without a signature, whose manifest fits them."""
    told = json.loads(members["manifest.json"])
    told["sha256"] = {name: sha256(members[name]).hexdigest() for name in told["sha256"]}
    told.pop("envelope", None)
    members = members | {"manifest.json": (json.dumps(told, indent=2) + "\n").encode()}
    return write_as_it_is(path, members)


def write_as_it_is(path, members):
    """Write members as a bundle, the manifest as it stands."""
    return pack(path, members)


def with_track(members, name):
    """Return the members of a bundle whose every text names a track."""
    config = members["config.toml"].decode()
    assert 'track = "network"' in config or "track =" not in config
    edited = config.replace("[contest]\n", f'[contest]\ntrack = "{name}"\n', 1)
    session = members["session.json"].replace(b'"network"', json.dumps(name).encode(), 1)
    return members | {"config.toml": edited.encode(), "session.json": session}


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """Return the name of a module that somebody else wrote; importing it leaves a file."""
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "rules.py").write_text(
        f"import pathlib; pathlib.Path({str(tmp_path / 'it_ran')!r}).touch()\n"
        "from referee.tracks.network import NetworkTrack\n"
        "class Strange(NetworkTrack):\n    name = 'strange.rules'\n"
        "TRACK = Strange()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "strange.rules"
    for name in ("strange", "strange.rules"):
        sys.modules.pop(name, None)


def read_by_all(path, folder, out, track=()):
    """Return the exit codes of the three commands that read a bundle, by name."""
    truth = ["--ground-truth", str(folder / "truth.json"), *track]
    copies = out / "copies"
    copies.mkdir()
    (copies / "one.zip").write_bytes(path.read_bytes())
    board = ["board", "--bundles", str(copies), "--data", str(out / "board"), *track]
    rescore = ["rescore", str(copies), "--out", str(out / "season.jsonl"), "--jobs", "1", *truth]
    commands = {"verify": ["verify", str(path), *truth], "rescore": rescore, "board": board}
    return {name: cli.main(words) for name, words in commands.items()}


@pytest.mark.slow
def test_no_bundle_chooses_code(folder, members, tmp_path, stranger, capsys):
    """The module that a bundle names is run by no command, and each says how to trust it."""
    path = write(tmp_path / "strange.zip", with_track(members, stranger))
    assert {"verify": 1, "rescore": 1, "board": 0} == read_by_all(path, folder, tmp_path)
    err = capsys.readouterr().err
    assert not (tmp_path / "it_ran").exists()
    assert 2 == err.count("has rules of its own. Trusted are camera, network")
    assert "It is of another track than 'network'. It does not count" in err


@pytest.mark.slow
def test_the_caller_chooses_code(folder, members, tmp_path, stranger):
    """With --track MODULE the caller trusts a module: rescore scores by its reader, board ranks."""
    path = write(tmp_path / "strange.zip", with_track(members, stranger))
    named = ["--track", stranger]
    codes = read_by_all(path, folder, tmp_path, named)
    assert {"rescore": 0, "board": 0, "verify": 1} == codes  # Its facts are of another track.
    assert (tmp_path / "it_ran").exists()
    (row,) = map(json.loads, (tmp_path / "season.jsonl").read_text().splitlines())
    assert ("scored", stranger) == (row["status"], row["track"])
    board = json.loads((tmp_path / "board" / "view.json").read_text())
    assert "ants" in json.dumps(board)


@pytest.mark.parametrize("command", ["verify", "rescore", "season", "board"])
def test_a_track_that_the_caller_names_must_be_one(folder, tmp_path, command, capsys):
    """A wrong --track is wrong use, and one sentence."""
    truth, out = ["--ground-truth", str(folder / "truth.json")], tmp_path / "season.jsonl"
    out.touch()
    words = {
        "verify": [str(folder / "bundle.zip"), *truth],
        "rescore": [str(folder), *truth, "--out", str(out)],
        "season": ["report", str(out)],
        "board": ["--bundles", str(folder), "--data", str(tmp_path / "board")],
    }
    assert 2 == cli.main([command, *words[command], "--track", "no.such.rules"])
    assert "there is no module no.such.rules" in capsys.readouterr().err


def test_what_is_not_signed_is_not_interpreted(folder, members, tmp_path, capsys):
    """A wrong, a missing and a foreign signature end the check before config or facts are read."""
    other = tmp_path / "other.pub"
    other.write_bytes(public_text(Ed25519PrivateKey.generate().public_key()))
    hostile = members | {"config.toml": b"\xff[", "facts.jsonl": b"[" * 9}
    unsigned = write(tmp_path / "unsigned.zip", hostile)
    swapped = write_as_it_is(tmp_path / "swapped.zip", hostile)
    for path, key, told in (
        (unsigned, folder / "signing.pub", "The bundle is not signed"),
        (folder / "bundle.zip", other, "No signature in it is by"),
        (swapped, folder / "signing.pub", "config.toml: found SHA-256"),
    ):
        words = ["verify", str(path), "--ground-truth", str(folder / "truth.json")]
        assert 1 == cli.main([*words, "--public-key", str(key)])
        err = capsys.readouterr().err
        assert told in err and "Nothing in the bundle was interpreted." in err
        assert "is no fact" not in err and "TOML" not in err


def season_and_board(path, truth):
    """Let rescore, season and board read a bundle: it counts or says why, and nothing ends."""
    rows = [json.loads(row_line(score_bundle(path, truth, DEVKIT, resamples=4)))]
    events = events_of(rows)
    for text in (
        report_text(events, rows),
        csv_of(rankings_table(events)),
        csv_of(pairs_table(events)),
    ):
        assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert json.dumps(report_json("x", "score", events, rows), allow_nan=False)
    told = []
    sessions = BundleFolder(path.parent, TRACK).read(told.append)
    assert json.loads(view_text("x", TRACK, [], sessions))
    assert 1 == len(sessions) + len(told)
    return rows[0], told


FIELDS = ("session.json", "score.json", "verdict.json", "manifest.json")


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_bundle_whose_numbers_are_hostile_ends_nothing(folder, members, data):
    """Any number of its JSON may be none: rescore, season and board go on, and say why."""
    truth = read_ground_truth(folder / "truth.json").truth
    name = data.draw(st.sampled_from(FIELDS))
    content = members[name]
    share = data.draw(st.sampled_from([1, 1, 4, 1000]))  # One number, some, or every one.
    chosen = data.draw(st.integers(0, 10_000))
    text = data.draw(st.sampled_from(HOSTILE)).encode()
    places = list(NUMBER.finditer(content))
    start = chosen % len(places)
    for found in reversed(places[start : start + share]):
        content = content[: found.start()] + text + content[found.end() :]
    (folder / "odd").mkdir(exist_ok=True)
    path = folder / "odd" / "odd.zip"
    put = write_as_it_is if name == "manifest.json" else write
    put(path, members | {name: content})
    season_and_board(path, truth)
    assert verify_bundle(path, folder / "truth.json") or text in (b"0", b"-0.0", b"1e308")


ODD = {
    # A member, a pattern in it, and what takes its place.
    "a session without end": ("session.json", rb'"session": 1', b'"session": 1e999'),
    "400 digits": ("session.json", rb'"session": 1', b'"session": 1' + b"0" * 400),
    "a length of 400 digits": ("session.json", rb'"length_s": 20.0', b'"length_s": ' + b"9" * 400),
    "half a letter": ("session.json", rb'"team": "ants', rb'"team": "\ud800ants'),
    "an empty interval": ("score.json", rb'"score": \[[^]]*\]', b'"score": []'),
    "a nested member": ("verdict.json", rb'"emulated": true', b'"emulated": ' + b"[" * 90_000),
}


@pytest.mark.parametrize("name", ODD)
def test_one_odd_bundle_does_not_end_the_board(folder, members, tmp_path, name, capsys):
    """The odd bundle does not count, and a sentence says why; the other one counts."""
    member, pattern, text = ODD[name]
    content, count = re.subn(pattern, lambda found: text, members[member], count=1)
    assert 1 == count
    (tmp_path / "copies").mkdir()
    write(tmp_path / "copies" / "good.zip", members)
    write(tmp_path / "copies" / "odd.zip", members | {member: content})
    words = ["board", "--bundles", str(tmp_path / "copies"), "--data", str(tmp_path / "board")]
    assert 0 == cli.main(words)
    out, err = capsys.readouterr()
    assert "ants, é" in out
    assert "odd.zip: " in err and "It does not count." in err and "Traceback" not in err


def test_a_key_that_is_none_names_no_station(members, tmp_path):
    """The id of a key is a SHA-256: no other text becomes the name of a station."""
    told = json.loads(members["manifest.json"])
    for odd in ("\ud800", "../../x", "A" * 64, "a" * 63, "\u202e" * 64):
        told["envelope"]["signatures"][0]["keyid"] = odd
        hostile = members | {"manifest.json": json.dumps(told, indent=2).encode() + b"\n"}
        write_as_it_is(tmp_path / "odd.zip", hostile)
        heard = []
        assert [] == BundleFolder(tmp_path, TRACK).read(heard.append)
        assert "manifest.json" in heard[0] and heard[0].isprintable()


def bomb(path, members, name, size, told):
    """Write a bundle with a member of blank lines that says another size than it has."""
    write_as_it_is(path, members | {name: b" " * size})
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at = archive.start_dir
    place = content.index(name.encode(), at)
    struct.pack_into("<L", content, place - 46 + 24, told)
    struct.pack_into("<L", content, place - 46 + 16, zlib.crc32(b" " * told))
    path.write_bytes(content)
    return path


def test_a_bomb_takes_no_memory(folder, members, tmp_path):
    """What a member says of its size bounds what is unpacked, and a lie is told; so do lines."""
    truth = folder / "truth.json"
    path = bomb(tmp_path / "lie.zip", members, "config.toml", 2**26, 10)
    tracemalloc.start()
    finding, *_ = verify_bundle(path, truth)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ("config.toml", True) == (finding.member, most < 2**25), most
    for name, content, told in (
        ("run.json", b" " * (2**24 + 1), "16777217 bytes, more than any session gives"),
        ("config.toml", b"\n" * 1_000_002, "1000002 lines, more than any session gives"),
        ("facts.jsonl", b" " * 2**27, "more than any session gives"),
    ):
        hostile = write(tmp_path / "odd.zip", members | {name: content})
        (finding,) = verify_bundle(hostile, truth)
        assert told in finding.what


@pytest.mark.parametrize("command", ["verify", "rescore", "board"])
def test_one_bound_holds_for_every_reader(folder, members, tmp_path, command, monkeypatch):
    """The bounds of a member stand in one place: verify, rescore and board refuse alike."""
    monkeypatch.setitem(bundle_file.MOST, "session.json", bundle_file.Most(2**20, 3))
    path = write(tmp_path / "long.zip", members)
    if command == "verify":
        told = [finding.what for finding in verify_bundle(path, folder / "truth.json")]
    elif command == "rescore":
        told = [score_bundle(path, read_ground_truth(folder / "truth.json").truth)["reason"]]
    else:
        told = []
        BundleFolder(tmp_path, TRACK).read(told.append)
    assert 1 == len(told) and "lines, more than any session gives" in told[0]


def forged(members, place, text):
    """Return the members with another number in the facts, and every later link made to fit."""
    lines = members["facts.jsonl"].splitlines()
    numbers = [
        (line, found)
        for line, content in enumerate(lines)
        for found in NUMBER_OF_FACT.finditer(content)
    ]
    line, found = numbers[place % len(numbers)]
    lines[line] = lines[line][: found.start()] + text + lines[line][found.end() :]
    before, made = None, []
    for content in lines:
        row = msgspec.json.decode(content)
        before = link_behind(row, before)
        made.append(
            re.sub(rb'"strand":"[0-9a-f]+"', b'"strand":"%s"' % before.hex().encode(), content)
        )
    return members | {"facts.jsonl": b"\n".join(made) + b"\n"}


NUMBER_OF_FACT = re.compile(rb"(?<=[:,\[ ])-?\d+(?:\.\d+)?(?:e-?\d+)?(?=[,\]}])")
STORED = ("1e308", "-1e308", "5e-324", "0.5", "-1", "0", "9" * 19, str(-(2**63)), "null", '"x"')


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.integers(0, 10_000), text=st.sampled_from(STORED))
def test_facts_whose_numbers_are_hostile_end_nothing(folder, members, place, text):
    """A row that fits its links but holds no referee's number is a finding, never a traceback."""
    try:
        hostile = forged(members, place, text.encode())
    except (ValueError, KeyError, TypeError, OverflowError):
        return  # No link can be made of it.
    path = write(folder / "facts.zip", hostile)
    assert isinstance(verify_bundle(path, folder / "truth.json", shadow=True), list)
