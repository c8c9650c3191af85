# SPDX-License-Identifier: Apache-2.0
"""The numbered states of a document, and what a page gets that holds one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.web.server.numbered import NumberedStates, sent_event
from referee.web.server.pieces import Piece


def told(piece: Piece) -> tuple[str, dict[str, Any]]:
    """Return the name and the data of an event."""
    lines = dict(line.split(": ", 1) for line in piece.plain.decode().strip().split("\n"))
    return lines["event"], json.loads(lines["data"])


def document(number: int) -> dict[str, Any]:
    """Return a document of which one field changes."""
    return {"number": number, "long": ["stays"] * 50}


def test_whole_then_differences_then_signs_of_life() -> None:
    """A page without a state gets all of it, then what has changed, then that nothing has."""
    states = NumberedStates()
    assert states.put(document(1))
    held, event = states.after("")
    assert ("whole", {"number": held, "document": document(1)}) == told(event)
    assert f"id: {held}\n".encode() in event.plain
    assert ("alive", {"number": held}) == told(states.after(held)[1])
    states.put(document(2))
    newest, event = states.after(held)
    change = {"fields": {"number": {"set": 2}}}
    assert ("change", {"from": held, "number": newest, "change": change}) == told(event)


def test_a_page_that_has_missed_states_gets_one_difference() -> None:
    """A page that was away for a while goes on from what it holds."""
    states = NumberedStates()
    states.put(document(1))
    held, _ = states.after("")
    for number in range(2, 9):
        states.put(document(number))
    name, data = told(states.after(held)[1])
    assert ("change", held) == (name, data["from"])
    assert {"fields": {"number": {"set": 8}}} == data["change"]


@pytest.mark.parametrize("held", ["1.00000000", "9.x", "x", "1", "-1", "1.", "é", "9" * 5000])
def test_a_state_that_nobody_knows(held: str) -> None:
    """A page of another run, or one that sends nonsense, gets all of it."""
    states = NumberedStates()
    states.put(document(1))
    assert "whole" == told(states.after(held)[1])[0]


def test_a_state_that_is_no_longer_kept() -> None:
    """Only the newest states are kept; for an older one all of it comes."""
    states = NumberedStates(kept=3)
    states.put(document(1))
    first, _ = states.after("")
    for number in range(2, 4):
        states.put(document(number))
    assert "change" == told(states.after(first)[1])[0]
    states.put(document(4))
    assert "whole" == told(states.after(first)[1])[0]


def test_equal_documents_are_one_state() -> None:
    """What is put again is no news, and 1 in the place of true is."""
    states = NumberedStates()
    assert states.put({"final": True})
    assert not states.put({"final": True})
    assert states.put({"final": 1})


def test_all_pages_share_an_event() -> None:
    """It is made and packed once for those who hold one state."""
    states = NumberedStates()
    states.put(document(1))
    held, whole = states.after("")
    assert whole is states.after("")[1]
    states.put(document(2))
    assert states.after(held)[1] is states.after(held)[1]


def test_a_difference_that_is_longer_than_all_of_it_is_not_sent() -> None:
    """Where everything changes, the whole document is shorter."""
    states = NumberedStates()
    states.put([{"a": number} for number in range(20)])
    held, _ = states.after("")
    states.put([])
    assert "whole" == told(states.after(held)[1])[0]


def test_two_runs_have_no_number_in_common() -> None:
    """So no page takes a state of another run for one that it holds."""
    first, second = NumberedStates(), NumberedStates()
    first.put(document(1))
    second.put(document(2))
    assert first.newest != second.newest


def test_no_number_that_json_lacks() -> None:
    """NaN never reaches a page, because it would stop the page's script."""
    with pytest.raises(ValueError, match="JSON"):
        sent_event("x", float("nan"))
