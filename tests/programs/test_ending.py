# SPDX-License-Identifier: Apache-2.0
"""When Ctrl-C ends an event."""

from __future__ import annotations

from referee.programs.ending import AGAIN_S, Asking


def test_where_nothing_is_under_way_ctrl_c_ends_at_once() -> None:
    """Between two sessions nobody is asked back."""
    assert Asking().ends(False, 0.0)


def test_in_a_session_the_second_ctrl_c_ends() -> None:
    """The first Ctrl-C in a session asks back, and a second one soon after is meant."""
    asking = Asking()
    assert not asking.ends(True, 100.0)
    assert asking.ends(True, 100.0 + AGAIN_S - 0.001)


def test_a_ctrl_c_much_later_is_another_first_one() -> None:
    """Two slips of a finger in one session end nothing."""
    asking = Asking()
    assert [False, False, True] == [
        asking.ends(True, moment) for moment in (100.0, 100.0 + AGAIN_S, 100.0 + AGAIN_S + 1)
    ]
