# SPDX-License-Identifier: Apache-2.0
"""A session's team knows the images by its own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from referee.service.desk.session_steps import make_by_hand
from referee.service.setup.session_images import frame_tag_of, order_of
from tests.support.backups import backup_of


def test_order_is_shared_and_cannot_be_changed():
    """A session's order is computed once, and callers cannot change it."""
    order = order_of(10, 7)
    assert order is order_of(10, 7)
    with pytest.raises(ValueError, match="read-only"):
        order[0] = 3
    assert list(range(1, 11)) == np.sort(order).tolist()


def test_a_frame_of_a_lost_session_is_nobodys(practice):
    """After a backup another session has the number, and its frames another tag."""
    restored = backup_of(practice)
    lost = tags_of_new_sessions(practice)
    contest = restored()
    assert lost != tags_of_new_sessions(contest)
    contest.database.close()


def tags_of_new_sessions(contest):
    """Make three sessions, and return the tags of their frames."""
    numbers = [make_by_hand(contest, team, "boss", 1) for team in ("ants", "bees", "crabs")]
    return [frame_tag_of(contest, number) for number in numbers]
