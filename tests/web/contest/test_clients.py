# SPDX-License-Identifier: Apache-2.0
"""A session keeps what the programs that logged in call themselves."""

from __future__ import annotations

from referee.store.session_clients import clients_of_session
from tests.support.fakes import eventually
from tests.web.conftest import Site


def clients(site: Site) -> list[str]:
    """Return the names that the only session has."""
    return clients_of_session(site.contest.database.connection, 1)


def test_a_login_names_its_program(site: Site) -> None:
    """A resumed session has the second program's name as well, and a repeat adds nothing."""
    for name in ("one/1 (CPU)", "one/1 (CPU)", "two/2"):
        site.login(**{"User-Agent": name})
    eventually(lambda: len(clients(site)) == 2)
    assert ["one/1 (CPU)", "two/2"] == clients(site)


def test_a_login_without_a_name_is_served(site: Site) -> None:
    """So is one whose name is no text; nothing else of the login depends on it."""
    assert site.login(**{"User-Agent": ""})
    assert site.login(**{"User-Agent": "caf\u00e9"})
    eventually(lambda: clients(site) == ["caf?"])


def test_a_refused_login_leaves_nothing(site: Site) -> None:
    """Only who has the password can write into a session."""
    answer = site.client.post(
        "/login", data={"username": "me", "password": "wrong"}, headers={"User-Agent": "evil/1"}
    )
    assert 401 == answer.status_code
    site.login(**{"User-Agent": "good/1"})
    eventually(lambda: clients(site) == ["good/1"])
