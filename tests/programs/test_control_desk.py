# SPDX-License-Identifier: Apache-2.0
"""A command that the desk runs tells how it ended, and ends in any case."""

from __future__ import annotations

import sys

import pytest

from referee.errors import Unavailable
from referee.programs.control_desk import run_own_command


def test_a_command_tells_its_exit_code_and_what_it_said(tmp_path):
    """A refusal of the command comes back in its own words."""
    config = tmp_path / "contest.toml"
    words = ["export", "1", "--out", str(tmp_path / "one.zip"), "--config", str(config)]
    code, said = run_own_command(words)
    assert 2 == code
    assert f"referee export: {config}: cannot be read" in said


def test_a_command_without_end_is_ended(tmp_path, monkeypatch):
    """A page that waits for a command gets a sentence in the end."""
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\nexec sleep 1000\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    with pytest.raises(Unavailable, match="took more than 0.2 s"):
        run_own_command(["export"], bound_s=0.2)
