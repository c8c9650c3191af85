# SPDX-License-Identifier: Apache-2.0
"""`referee drill`: its list of faults, and wrong use."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee import cli
from referee.extras.drill.rules.faults import FAULTS, LEFT_OUT
from tests.support.contests import write_config


def test_the_list_has_every_fault_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It needs no event, and it says too what is not injected, and why."""
    assert 0 == cli.main(["drill", "--list"])
    told = capsys.readouterr().out
    for fault in FAULTS:
        assert f"{fault.name:18}{fault.line}" in told
    for name, why in LEFT_OUT.items():
        assert name in told and why in told


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--fault", "fire"], "There is no fault 'fire'; the faults are meter-unplugged"),
        (["--seconds", "3"], "at least 10 s"),
        (["--sessions", "0"], "1 to 19 sessions, not 0"),
        (["--sessions", "20"], "1 to 19 sessions, not 20"),
        (["--minutes", "-1"], "--minutes above 0"),
        (["--minutes", "nan"], "--minutes above 0"),
        (["--images", "1"], "10 to 5000"),
    ],
)
def test_wrong_use_is_told_before_anything_is_made(
    tmp_path: Path, options: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, a sentence that names what is wrong, and no folder."""
    config = write_config(tmp_path, mode="event")
    before = sorted(tmp_path.iterdir())
    assert 2 == cli.main(["drill", "--config", str(config), *options])
    assert text in capsys.readouterr().err
    assert before == sorted(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file stands where the folder should be: exit code 2, and what to do."""
    config = write_config(tmp_path, mode="event")
    assert 2 == cli.main(["drill", "--config", str(config), "--out", str(config)])
    assert "Give another --out" in capsys.readouterr().err


def test_a_rehearsal_cannot_be_drilled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has no teams whose turn it is, and nothing to arm."""
    assert 2 == cli.main(["drill", "--config", str(write_config(tmp_path, mode="practice"))])
    assert "is no event" in capsys.readouterr().err


def test_a_drill_without_an_event_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither --config nor --list: the sentence names both."""
    assert 2 == cli.main(["drill"])
    assert "--config" in capsys.readouterr().err
