# SPDX-License-Identifier: Apache-2.0
"""`referee verify` says what holds in a bundle, with its ground truth and without."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.cli import main
from referee.service.evidence.encoding import json_bytes
from referee.service.results import final_score
from referee.service.setup.signing_key import key_id, public_text, read_public_key
from tests.support.packed_bundles import pack, unpack
from tests.support.played_sessions import bundle_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a bundle and its ground truth."""
    return bundle_of(tmp_path_factory.mktemp("verify"))


def verify(capsys, folder, *words):
    """Run the command; return its exit code and its output."""
    code = main(["verify", str(folder / "bundle.zip"), *words])
    return code, capsys.readouterr()


def test_without_a_truth_it_says_what_holds_and_what_to_bring(folder, capsys):
    """Nothing claims that the score holds, and the missing file is named by its SHA-256."""
    code, told = verify(capsys, folder)
    digest = sha256((folder / "truth.json").read_bytes()).hexdigest()
    assert 0 == code
    assert "holds: every hash, row, energy and verdict. The score was NOT computed" in told.out
    assert f"give the file with SHA-256 {digest} as --ground-truth" in told.out
    report = json.loads(verify(capsys, folder, "--json")[1].out)
    assert (True, False, []) == (report["holds"], report["scored_again"], report["findings"])


def test_with_the_truth_the_score_holds_too(folder, capsys):
    """The sentence names the score only when it was computed again."""
    words = ("--ground-truth", str(folder / "truth.json"))
    code, told = verify(capsys, folder, *words)
    assert (0, True) == (code, "every hash, row, energy, verdict and score;" in told.out)
    assert json.loads(verify(capsys, folder, *words, "--json")[1].out)["scored_again"]


def test_it_says_whose_session_holds_and_what_its_result_is(folder, capsys):
    """Session, team, contest, time, mAP, energy, score and key, in words and in JSON."""
    key = folder / "signing.pub"
    code, told = verify(capsys, folder, "--public-key", str(key))
    short = key_id(read_public_key(key))[:16]
    assert 0 == code
    assert f"signed by {key} (key {short}).\nSession 1 of 'ants, é'\n" in told.out
    assert "contest     LPIRC, started 7 June 2026, 12:00 UTC\n" in told.out
    assert "mAP         0.562500\n" in told.out and "verdict     VALID" in told.out
    report = json.loads(verify(capsys, folder, "--json", "--public-key", str(key))[1].out)
    score = json.loads(unpack(folder / "bundle.zip")["score.json"])
    expected = {name: score[name] for name in ("mean_ap", "energy_wh", "score", "verdict")} | {
        "session": 1,
        "team": "ants, é",
        "contest": "LPIRC",
        "started_utc": "2026-06-07T12:00:02+00:00",
        "signature": "good",
        "session_of_name": None,
    }
    assert expected == {name: report[name] for name in expected}


def test_a_signature_is_good_wrong_none_or_unchecked(folder, tmp_path, capsys):
    """Each of the four has words of its own; what does not hold tells nothing of a session."""
    other = tmp_path / "other.pub"
    other.write_bytes(public_text(Ed25519PrivateKey.generate().public_key()))
    members = unpack(folder / "bundle.zip")
    manifest = json.loads(members["manifest.json"])
    bare = json_bytes({name: manifest[name] for name in manifest if name != "envelope"})
    unsigned = pack(tmp_path / "unsigned.zip", members | {"manifest.json": bare})
    score = members["score.json"].replace(b"0.5625", b"0.95")
    forged = pack(tmp_path / "forged.zip", members | {"score.json": score})
    whole, key = folder / "bundle.zip", folder / "signing.pub"
    for path, words, state, text in (
        (whole, [key], "good", "; signed by "),
        (whole, [], "unchecked", "; the signature was not checked."),
        (unsigned, [], "none", "; not signed."),
        (whole, [other], "wrong", "No signature in it is by"),
        (unsigned, [key], "none", "The bundle is not signed"),
        (forged, [], "wrong", "score.json: found SHA-256"),
        (forged, [key], "wrong", "score.json: found SHA-256"),
    ):
        options = [word for one in words for word in ("--public-key", str(one))]
        holds = main(["verify", str(path), *options]) == 0
        said = capsys.readouterr()
        assert text in said.out + said.err
        main(["verify", str(path), "--json", *options])
        report = json.loads(capsys.readouterr().out)
        assert (state, holds) == (report["signature"], report["session"] == 1)
        assert holds or report["team"] is report["mean_ap"] is report["score"] is None


def test_a_bundle_under_another_sessions_name_is_told(folder, tmp_path, capsys):
    """The content holds; the warning says which session it is, and JSON has both numbers."""
    for name, told in (("session12.zip", 12), ("session3-0a1b2c3d.zip", 3), ("session1.zip", 1)):
        path = tmp_path / name
        path.write_bytes((folder / "bundle.zip").read_bytes())
        assert 0 == main(["verify", str(path)])
        said = capsys.readouterr()
        assert "Session 1 of 'ants, é'" in said.out
        warning = f"the file's name says session {told}, and it holds session 1"
        assert (told != 1) == (warning in said.err)
        main(["verify", str(path), "--json"])
        report = json.loads(capsys.readouterr().out)
        assert (1, told) == (report["session"], report["session_of_name"])


def test_a_score_that_denies_its_session_is_found_without_a_truth(tmp_path, monkeypatch, capsys):
    """Verdict, energy and counts of a score are those of its session, whatever the truth is."""
    told = final_score.context_of
    monkeypatch.setattr(final_score, "context_of", lambda *facts: told(*facts) | {"energy_wh": 9.0})
    code, said = verify(capsys, bundle_of(tmp_path))
    assert (1, "") == (code, said.out)
    assert "score.json: energy_wh: found 9.0, expected" in said.err
    assert "does not hold" in said.err


def test_the_second_path_needs_the_truth(folder, capsys):
    """--shadow scores, so it is wrong use without a ground truth."""
    code, told = verify(capsys, folder, "--shadow")
    assert (2, "") == (code, told.out)
    assert "needs --ground-truth" in told.err
