# SPDX-License-Identifier: Apache-2.0
"""Logins of operators, where a folder was restored from a backup."""

from __future__ import annotations

from referee.service.people.logins import Logins
from referee.service.people.operators import add_operator
from tests.support.backups import backup_of


def test_a_seal_of_a_lost_login_opens_nobodys(practice):
    """After a backup the number of a login comes again, and its old seal is worth nothing."""
    secrets = {
        name: add_operator(practice, name, role, "boss")[1]
        for name, role in (("Kim", "operator"), ("Lee", "assistant"))
    }
    restored = backup_of(practice)
    lost = Logins(practice).begin("Lee", secrets["Lee"], "10.0.0.2")
    contest = restored()
    logins = Logins(contest)
    given = logins.begin("Kim", secrets["Kim"], "10.0.0.2")
    assert lost.partition(".")[0] == given.partition(".")[0]
    assert (None, "Kim") == (logins.look(lost), logins.look(given).name)
    contest.database.close()
