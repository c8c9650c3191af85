# SPDX-License-Identifier: Apache-2.0
"""`referee scoreboard` freezes and unfreezes by name, and says how the scoreboard is."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from referee.cli import main
from tests.support.contests import make_contest


def test_freeze_unfreeze_and_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each form prints the state and who made it; a second freeze keeps the first name."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()

    def said(what: str, *options: str) -> str:
        config = ["--config", str(contest.config.path)]
        assert 0 == main(["scoreboard", what, *options, *config])
        return capsys.readouterr().out

    assert "is not frozen, and never has been" in said("show")
    assert "no address in [server] scoreboard" in said("show")
    assert "is frozen. It was frozen by Ada" in said("freeze", "--by", "Ada")
    assert "is frozen. It was frozen by Ada" in said("freeze", "--by", "Grace")
    assert "is not frozen. It was unfrozen by Grace" in said("unfreeze", "--by", "Grace")
    assert "unfrozen by Grace" in said("show")


def test_the_word_of_earlier_releases_is_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that says `thaw` goes on, and no help names the word."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    config = ["--config", str(contest.config.path)]
    assert 0 == main(["scoreboard", "freeze", "--by", "Ada", *config])
    assert 0 == main(["scoreboard", "thaw", "--by", "Ada", *config])
    assert "unfrozen by Ada" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["scoreboard", "--help"])
    assert "thaw" not in capsys.readouterr().out


def test_times_are_local_with_their_offset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody in a hall has to reckon from UTC."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        options = ["--by", "Ada", "--config", str(contest.config.path)]
        assert 0 == main(["scoreboard", "freeze", *options])
    finally:
        monkeypatch.undo()
        time.tzset()
    moment = r"by Ada at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+05:30\."
    assert re.search(moment, capsys.readouterr().out)
