# SPDX-License-Identifier: Apache-2.0
"""`referee diploma` writes a page to print, of final results alone."""

from __future__ import annotations

import html
import re
from hashlib import sha256

from referee.cli import main
from referee.service.event.finalizing import finalize


def diploma(event, *arguments):
    """Run the command for this event."""
    return main(["diploma", *map(str, arguments), "--config", str(event.contest.config.path)])


def digests(page):
    """Return the hashes that a page of diplomas tells, by session."""
    found = re.findall(r"session(\d+)\.zip, SHA-256<br>\s*<code>([^<]+)</code>", page)
    return {int(session): "".join(text.split()) for session, text in found}


def test_the_hash_is_that_of_the_exported_bundle(event, tmp_path):
    """Each team's paper names the file that `referee export` writes, to the last byte."""
    finalize(event.contest, ["Ada"])
    out, bundle = tmp_path / "diplomas.html", tmp_path / "session2.zip"
    assert 0 == diploma(event, "--out", out)
    config = str(event.contest.config.path)
    assert 0 == main(["export", "2", "--out", str(bundle), "--config", config])
    told = digests(out.read_text())
    assert {1, 2, 3} == set(told)
    assert sha256(bundle.read_bytes()).hexdigest() == told[2]


def test_chosen_teams_alone(event, tmp_path, capsys):
    """A team without a session that counts is named, and nothing is written."""
    finalize(event.contest, ["Ada"])
    out = tmp_path / "one.html"
    assert 0 == diploma(event, "bees", "--out", out)
    assert "1 diploma on A4" in capsys.readouterr().out
    assert [2] == [*digests(out.read_text())]
    assert 2 == diploma(event, "hornets", "--out", tmp_path / "none.html")
    assert "'hornets' has no session that counts" in capsys.readouterr().err
    assert not (tmp_path / "none.html").exists()


def test_provisional_results_have_no_diplomas(event, tmp_path, capsys):
    """The rehearsal is made at any time, of invented teams, and each page says so."""
    out = tmp_path / "diplomas.html"
    assert 2 == diploma(event, "--out", out)
    assert "PROVISIONAL" in capsys.readouterr().err
    assert not out.exists()
    assert 0 == diploma(event, "--rehearsal", "--out", out)
    page = html.unescape(out.read_text())
    assert page.count("<article") == page.count('class="mark">REHEARSAL') > 5
    assert "bees" not in page
    assert 2 == diploma(event, "--rehearsal", "--out", tmp_path / "nowhere" / "diplomas.html")
    assert "cannot be written" in capsys.readouterr().err
