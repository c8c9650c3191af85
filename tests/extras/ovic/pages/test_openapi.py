# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description covers the routes for models."""

from __future__ import annotations

import pytest

from referee.extras.ovic.submission.team_tokens import token_of_team
from tests.web.conftest import Site
from tests.web.contest.test_openapi import hold_for, require_described, require_tokens

pytestmark = pytest.mark.slow


def test_every_route_is_described_and_nothing_else(ovic_site: Site) -> None:
    """The description has the application's paths and methods, and no others."""
    require_described(ovic_site)


def test_a_token_is_required_where_the_server_requires_it(ovic_site: Site) -> None:
    """What is described with a token is refused without one, and nothing else is."""
    require_tokens(ovic_site)


@pytest.mark.parametrize("known", [True, False], ids=["team", "stranger"])
def test_answers_about_models_are_as_described(ovic_site: Site, known: bool) -> None:
    """For any request the description covers status, type and content of the answer."""
    headers = {"Accept": "application/json"}
    if known:
        headers["Authorization"] = f"Bearer {token_of_team(ovic_site.contest, 'me')}"
    hold_for(ovic_site, headers, lambda path: path.startswith("/ovic"))
