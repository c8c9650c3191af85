# SPDX-License-Identifier: Apache-2.0
"""The addresses from which a session was used."""

from __future__ import annotations

from referee.store.session_addresses import addresses_of_session, insert_session_address
from tests.store.conftest import new_session


def test_an_address_is_new_once(database):
    """Each address of a session is stored at its first use, and told as new then alone."""
    ants, bees = new_session(database, "ants"), new_session(database, "bees")
    with database.write() as connection:
        told = [
            insert_session_address(connection, session, address, "then")
            for session, address in ((ants, "::1"), (ants, "::1"), (ants, "::2"), (bees, "::1"))
        ]
    assert [True, False, True, True] == told
    assert ["::1", "::2"] == addresses_of_session(database.connection, ants)
