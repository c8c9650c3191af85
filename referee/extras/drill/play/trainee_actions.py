# SPDX-License-Identifier: Apache-2.0
"""What trainees do by hand: words that they type at the drill's terminal, read without waiting."""

from __future__ import annotations

import os
import selectors
import threading
from dataclasses import dataclass
from typing import IO

from referee.extras.drill.rules.faults import HANDS

QUIT, ASK = "quit", "?"
"""Words beside those of the hands: end the drill, and show the words."""

_MOST_BYTES = 4096


@dataclass(frozen=True)
class TraineeAction:
    """A line that was typed: the hand, `quit` or `?`, and the lane's name or number if any.

    `wrong` says what is wrong with a line that is none of these.
    """

    what: str = ""
    lane: int | None = None
    wrong: str = ""


def understand(line: str, lanes: dict[str, int]) -> TraineeAction:
    """Return what a typed line means; the start of a word is enough if no other begins so."""
    word, _, place = line.strip().lower().partition(" ")
    names = {hand.removeprefix("hand "): hand for hand in HANDS} | {QUIT: QUIT, ASK: ASK}
    matching = [name for name in names if name == word] or [n for n in names if n.startswith(word)]
    if not word or len(matching) != 1:
        known = ", ".join(names)
        why = (
            f"'{word}' may be {' or '.join(matching)}"
            if word and matching
            else f"'{word}' is no word"
        )
        return TraineeAction(wrong=f"{why}; the words are {known}.")
    if place and place.strip() not in lanes:
        return TraineeAction(
            wrong=f"There is no lane '{place.strip()}'; the lanes are {', '.join(lanes)}."
        )
    return TraineeAction(names[matching[0]], lanes.get(place.strip()))


def words_text() -> str:
    """Return the words of the hands, one a line."""
    rows = [(hand.removeprefix("hand "), text) for hand, text in HANDS.items()]
    rows += [(QUIT, "end the drill, and show the report"), (ASK, "show these words")]
    return "\n".join(f"  {word:8}{text}" for word, text in rows)


class Keyboard:
    """The lines of an input, as far as they have come; it may end, and the drill goes on."""

    def __init__(self, stream: IO[str]) -> None:
        self._selector = selectors.SelectSelector()
        self._pending = b""
        self._open = True
        try:
            self._selector.register(stream, selectors.EVENT_READ)
            self._descriptor = stream.fileno()
        except (OSError, ValueError):  # There is no input at all.
            self._open = False

    def wait(self, wait_s: float) -> None:
        """Wait without reading."""
        threading.Event().wait(wait_s)

    def lines(self, wait_s: float) -> list[str]:
        """Wait for input, `wait_s` at most, and return the lines that are complete."""
        if not self._open:
            self.wait(wait_s)
            return []
        if not self._selector.select(wait_s):
            return []
        part = os.read(self._descriptor, _MOST_BYTES)
        if not part:
            self._open = False
            self._selector.unregister(self._descriptor)
        *lines, self._pending = (self._pending + part).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]

    def close(self) -> None:
        """Forget the input; it stays open."""
        self._selector.close()
