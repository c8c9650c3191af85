# SPDX-License-Identifier: Apache-2.0
"""`referee verify` says what holds in a bundle, with its ground truth and without."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from referee.cli import main
from referee.service.results import final_score
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
    assert {"holds": True, "scored_again": False, "findings": []} == json.loads(
        verify(capsys, folder, "--json")[1].out
    )


def test_with_the_truth_the_score_holds_too(folder, capsys):
    """The sentence names the score only when it was computed again."""
    words = ("--ground-truth", str(folder / "truth.json"))
    code, told = verify(capsys, folder, *words)
    assert (0, True) == (code, "every hash, row, energy, verdict and score;" in told.out)
    assert json.loads(verify(capsys, folder, *words, "--json")[1].out)["scored_again"]


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
