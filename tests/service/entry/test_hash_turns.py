# SPDX-License-Identifier: Apache-2.0
"""The turns of password hashes, in one process and in several."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from referee.errors import Refusal
from referee.service.entry.hash_turns import HashTurns
from referee.service.entry.machine_turn import MachineTurn
from tests.support.fakes import eventually


class Crowd:
    """Threads that want a turn, each for an address; `order` has the addresses as they had it."""

    def __init__(self, turns: HashTurns, pool: ThreadPoolExecutor) -> None:
        self.order: list[str] = []
        self._turns = turns
        self._pool = pool

    def want(self, address: str) -> Future[None]:
        """Let a thread wait for a turn, and return when it stands in the line."""
        line = self._turns._line._line
        before = len(line)
        future = self._pool.submit(self._have, address)
        eventually(lambda: len(line) > before or future.done())
        return future

    def _have(self, address: str) -> None:
        with self._turns.turn(address, "ants"):
            self.order.append(address)


def test_a_clean_address_goes_before_the_guesses_that_wait() -> None:
    """While one hash is computed, a newcomer passes every guess in the line."""
    turns = HashTurns()
    turns.note_wrong("x")
    with ThreadPoolExecutor(5) as pool:
        crowd = Crowd(turns, pool)
        with turns.turn("other", "ants"):
            futures = [crowd.want(address) for address in ("x", "x", "x", "team")]
        for future in futures:
            future.result(180)
    assert ["team", "x", "x", "x"] == crowd.order


def test_who_waits_too_long_is_told_to_try_again() -> None:
    """A wait has an end, and its end leaves the line as if nobody had waited."""
    now_s = [0.0]
    turns = HashTurns(lambda: now_s[0])
    with ThreadPoolExecutor(2) as pool:
        crowd = Crowd(turns, pool)
        with turns.turn("other", "ants"):
            late = crowd.want("late")
            now_s[0] = 20.0
            for one in turns._line._line:
                one.called.set()  # type: ignore[attr-defined]
            with pytest.raises(Refusal, match="wait a second"):
                late.result(180)
        crowd.want("next").result(180)
    assert ["next"] == crowd.order


def test_a_full_line_turns_the_guess_away() -> None:
    """Where only few may wait, a guess makes room for an address that has not guessed."""
    turns = HashTurns(most=1)
    turns.note_wrong("x")
    with ThreadPoolExecutor(3) as pool:
        crowd = Crowd(turns, pool)
        with turns.turn("other", "ants"):
            guess = crowd.want("x")
            team = pool.submit(crowd._have, "team")
            with pytest.raises(Refusal) as refused:
                guess.result(180)
        team.result(180)
    assert ("login_busy", ["team"]) == (refused.value.code, crowd.order)


def test_a_clean_address_passes_a_guess_that_waits_for_another_process(tmp_path: Path) -> None:
    """A guess that may not run yet keeps nobody else of its process waiting."""
    turns = HashTurns(machine=MachineTurn(tmp_path, b"key"))
    turns.note_wrong("x")
    other = MachineTurn(tmp_path, b"key")
    with ThreadPoolExecutor(2) as pool:
        crowd = Crowd(turns, pool)
        assert other.take(alone=False)
        guess = crowd.want("x")
        crowd.want("team").result(180)
        assert not guess.done()
        other.give_back()
        guess.result(180)
    assert ["team", "x"] == crowd.order


class Watched(MachineTurn):
    """The shared turn, which counts how often it was asked for in vain."""

    refused = 0

    def take(self, *, alone: bool) -> bool:
        """Take the turn, or count."""
        taken = super().take(alone=alone)
        self.refused += not taken
        return taken


def test_a_process_that_stands_still_keeps_no_team_out(tmp_path: Path) -> None:
    """After two seconds a clean address goes on without the shared turn; a guess does not."""
    now_s = [0.0]
    machine = Watched(tmp_path, b"key")
    turns = HashTurns(lambda: now_s[0], machine)
    turns.note_wrong("x")
    still = MachineTurn(tmp_path, b"key")
    assert still.take(alone=True)
    with ThreadPoolExecutor(2) as pool, ExitStack() as stack:
        stack.callback(still.give_back)
        crowd = Crowd(turns, pool)
        team = crowd.want("team")
        eventually(lambda: machine.refused > 0)
        now_s[0] = 2.0
        team.result(180)
        guess = crowd.want("x")
        before = machine.refused
        eventually(lambda: machine.refused > before)
        now_s[0] = 4.0
        before = machine.refused
        eventually(lambda: machine.refused > before + 1)
        assert not guess.done()
        stack.close()
        guess.result(180)
    assert ["team", "x"] == crowd.order
