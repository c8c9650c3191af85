# SPDX-License-Identifier: Apache-2.0
"""The names of a site's files are such that no host and no disk mixes them up."""

from __future__ import annotations

import pytest

from referee.extras.publish.names import is_hashed, is_team_page, team_page


@pytest.mark.parametrize(
    ("team", "slug"),
    [
        ("Rocket small", "rocket-small"),
        ("Équipe №5 / Kiel", "equipe-no5-kiel"),
        ("東京", "team"),
        ("../../etc", "etc"),
        ("CON", "con"),
        ("x" * 90, "x" * 40),
    ],
)
def test_a_teams_page_has_a_plain_name(team, slug):
    """Small letters, digits and dashes, and some digits that tell equal ones apart."""
    folder, _, name = team_page(team).partition("/")
    assert ("teams", slug) == (folder, name.rpartition("-")[0])
    assert is_team_page(name)


def test_names_that_a_host_takes_for_one_have_pages_of_their_own():
    """Capitals and what is left out make another page."""
    assert 4 == len({team_page(name) for name in ("ants", "Ants", "ants!", "ANTS")})


@pytest.mark.parametrize("name", ["x.js", "../a.0123456789abcdef.js", "A.0123456789abcdef.js", ""])
def test_other_names_are_not_ours(name):
    """What has another form is somebody else's file."""
    assert not is_hashed(name) and not is_team_page(name)
