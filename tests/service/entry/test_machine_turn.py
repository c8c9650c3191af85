# SPDX-License-Identifier: Apache-2.0
"""What the processes of a contest share about logins."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import pytest

from referee.service.entry.login_line import LoginLine, WaitingLogin
from referee.service.entry.machine_turn import MachineTurn

KEY = b"a secret of the contest"


def test_guesses_of_all_processes_have_one_turn(tmp_path: Path) -> None:
    """A guess in one process waits for a turn in another one; clean addresses share theirs."""
    here, there = MachineTurn(tmp_path, KEY), MachineTurn(tmp_path, KEY)
    assert here.take(alone=False)
    assert not there.take(alone=True)
    assert there.take(alone=False)
    here.give_back()
    there.give_back()
    assert here.take(alone=True)
    assert not there.take(alone=True)
    assert not there.take(alone=False)
    here.give_back()
    assert there.take(alone=True)
    there.give_back()


def test_no_guess_begins_while_somebody_else_waits(tmp_path: Path) -> None:
    """Guesses of several processes leave a gap: whoever wants a turn is before the next of them."""
    guess, other, team = (MachineTurn(tmp_path, KEY) for _ in range(3))
    assert guess.take(alone=True)
    assert not team.take(alone=False)
    guess.give_back()
    assert not other.take(alone=True)
    assert team.take(alone=False)
    assert not other.take(alone=True)
    team.give_back()
    assert other.take(alone=True)
    other.give_back()


def test_a_guess_in_one_process_counts_in_all(tmp_path: Path) -> None:
    """An address that one worker has found guessing stands behind the others at every worker."""
    here, there = LoginLine(9, MachineTurn(tmp_path, KEY)), LoginLine(9, MachineTurn(tmp_path, KEY))
    here.note_wrong("10.0.0.66", 1.0)
    for address in ("10.0.0.66", "10.0.0.7"):
        there.join(WaitingLogin(address, "ants"), 2.0)
    following = there.next(2.0)
    assert following is not None
    assert ("10.0.0.7", True) == (following.address, there.has_guessed("10.0.0.66", 2.0))


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """The file has mode 600, and no address stands in it."""
    machine = MachineTurn(tmp_path, KEY)
    machine.suspect("10.0.0.66", 1.0)
    assert 0o600 == (tmp_path / "logins.lock").stat().st_mode & 0o777
    assert b"10.0.0" not in (tmp_path / "logins.lock").read_bytes()
    assert (1.0, -math.inf) == (
        machine.until_s("10.0.0.66"),
        MachineTurn(tmp_path, b"").until_s("x"),
    )


def test_a_folder_that_is_gone_keeps_nobody_out(tmp_path: Path) -> None:
    """Without the file, each process goes on with its own turns."""
    machine = MachineTurn(tmp_path / "missing", KEY)
    assert machine.take(alone=True)
    machine.suspect("10.0.0.66", 1.0)
    assert -math.inf == machine.until_s("10.0.0.66")
    machine.give_back()


def test_a_full_disk_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guess that cannot be written is forgotten, and the login goes on."""
    machine = MachineTurn(tmp_path, KEY)

    def full(descriptor: int, content: bytes, place: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        machine.suspect("10.0.0.66", 1.0)
    assert -math.inf == machine.until_s("10.0.0.66")
