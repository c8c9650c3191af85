# SPDX-License-Identifier: Apache-2.0
"""Who edits contest.toml beside a running referee is told that it goes on with the earlier one."""

from __future__ import annotations

import pytest

from referee.cli import main
from referee.service.setup.edited_config import edited_while_running
from referee.service.setup.folder_lock import lock_folder
from tests.support.contests import make_contest


@pytest.fixture
def edited(tmp_path):
    """Return a contest whose configuration was edited after its preparation."""
    contest = make_contest(tmp_path, mode="event", prize_sigma="sample")
    text = contest.config.path.read_text()
    contest.config.path.write_text(text.replace("sample", "population"))
    yield contest
    contest.database.close()


def test_only_beside_a_running_referee_is_an_edit_told(edited):
    """Without one the new file is what counts; the earlier lines put back are no edit."""
    assert "" == edited_while_running(edited)
    with lock_folder(edited.config.storage.folder, "contest"):
        assert edited_while_running(edited).startswith("contest.toml has changed since")
        text = edited.config.path.read_text()
        edited.config.path.write_text(text.replace("population", "sample"))
        assert "" == edited_while_running(edited)


def test_results_are_told_and_not_made_final_by_an_edited_file(edited, capsys):
    """The table comes with the remark, and no approval mixes two configurations."""
    path = str(edited.config.path)
    with lock_folder(edited.config.storage.folder, "contest"):
        assert 0 == main(["results", "--config", path])
        assert "has changed since the referee was started" in capsys.readouterr().err
        assert 2 == main(["finalize", "--approved-by", "Kim", "--config", path])
        assert "Nothing is final. contest.toml has changed" in capsys.readouterr().err
    assert 0 == main(["results", "--config", path])
    assert "" == capsys.readouterr().err
