# SPDX-License-Identifier: Apache-2.0
"""What `init` writes for an event, and what `check` says about it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.support.running import referee

pytestmark = pytest.mark.slow


def test_init_writes_secrets_that_only_the_owner_reads(tmp_path: Path) -> None:
    """`init` writes a commented configuration and private secrets, and overwrites neither."""
    folder = tmp_path / "event"
    assert referee("init", str(folder)).returncode == 0
    assert stat.S_IMODE((folder / "data" / "secrets.json").stat().st_mode) == 0o600
    assert "# Length of a session in whole seconds" in (folder / "contest.toml").read_text()
    again = referee("init", str(folder))
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_check_says_what_to_do(event: Path) -> None:
    """The checks of a fresh event warn that no team is registered, and name the command for it."""
    done = referee("check", "--config", str(event), "--json", "--quick")
    assert done.returncode == 0, done.stdout
    checks = {check["item"]: check for check in json.loads(done.stdout)["findings"]}
    assert checks["images and ground truth"]["level"] == "OK"
    assert checks["list"]["level"] == "WARN"
    assert "referee team add" in checks["list"]["remedy"]
