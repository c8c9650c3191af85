# SPDX-License-Identifier: Apache-2.0
"""The stored facts against their chain, and against the end that an earlier check told."""

from __future__ import annotations

from referee.service.evidence.facts_check import check_facts
from tests.store.conftest import insert_one_row
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


def test_an_older_copy_lacks_the_end_that_was_told(tmp_path):
    """Each of its own links holds, so only the link that somebody kept can tell."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    with contest.database.write() as connection:
        insert_one_row(connection, None, "one")
    earlier = check_facts(contest)
    with contest.database.write() as connection:
        insert_one_row(connection, None, "two")
    later = check_facts(contest, earlier.head)
    assert ((), 1) == (later.faults, later.rows - earlier.rows)
    assert later.head in later.text and earlier.head != later.head
    (fault,) = check_facts(contest, "ab" * 32).faults
    assert fault.startswith(
        f"The chain has no link {'ab' * 32}, where an earlier check saw its end"
    )
    contest.database.close()
