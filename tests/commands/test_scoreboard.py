# SPDX-License-Identifier: Apache-2.0
"""`referee scoreboard` freezes and thaws by name, and says how the scoreboard is."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.cli import main
from tests.support.contests import make_contest


def test_freeze_thaw_and_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each form prints the state and who made it; a second freeze keeps the first name."""
    contest = make_contest(tmp_path, mode="event")
    contest.database.close()

    def said(what: str, *options: str) -> str:
        config = ["--config", str(contest.config.path)]
        assert 0 == main(["scoreboard", what, *options, *config])
        return capsys.readouterr().out

    assert "is not frozen, and never was" in said("show")
    assert "no address in [server] scoreboard" in said("show")
    assert "is frozen by Ada" in said("freeze", "--by", "Ada")
    assert "is frozen by Ada" in said("freeze", "--by", "Grace")
    assert "thawed by Grace" in said("thaw", "--by", "Grace")
    assert "thawed by Grace" in said("show")
