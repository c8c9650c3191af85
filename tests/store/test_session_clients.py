# SPDX-License-Identifier: Apache-2.0
"""What the programs that logged in to a session call themselves."""

from __future__ import annotations

from referee.store.session_clients import clients_of_session, insert_session_clients
from tests.store.conftest import new_session


def test_a_session_keeps_each_of_its_first_five_names_once(database):
    """A program that changes its name with each login fills no disk."""
    ants, bees = new_session(database, "ants"), new_session(database, "bees")
    names = ["curl", "curl", *(f"bot/{number}" for number in range(9))]
    with database.write() as connection:
        insert_session_clients(connection, [(ants, name, "then") for name in names])
        insert_session_clients(connection, [(bees, "curl", "then")])
    assert ["curl", "bot/0", "bot/1", "bot/2", "bot/3"] == clients_of_session(
        database.connection, ants
    )
    assert ["curl"] == clients_of_session(database.connection, bees)
