# SPDX-License-Identifier: Apache-2.0
"""The console's pages: each that has a link is served to its people, and links the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.web.desk.roles import ROUTES

ROOT = Path(__file__).resolve().parents[3]
LINKS = (ROOT / "static/shared/pages.js").read_text(encoding="utf-8")
ADDRESSES = re.findall(r'^  \["([^"]+)", "[^"]+"\],$', LINKS, re.MULTILINE)


def test_the_links_are_found() -> None:
    """The list of links begins with the session, and has the other pages."""
    assert "." == ADDRESSES[0]
    assert len(ADDRESSES) >= 5


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_that_has_a_link_is_served_and_links_the_others(door, address) -> None:
    """A new page needs its file, its script with the links, its route and the route's role."""
    route = door.app.url_map.bind("").match(f"/{address.removeprefix('.')}", return_rule=True)[0]
    assert ROUTES[f"GET {route.rule}"].page
    with door.visitor("Kim").get(f"/{address.removeprefix('.')}") as served:
        assert 200 == served.status_code
        page = served.get_data(as_text=True)
    assert '<nav aria-label="Pages"></nav>' in page
    (script,) = re.findall(r'<script type="module" src="(static/\w+/\w+\.js)"></script>', page)
    assert 'import "../shared/pages.js";' in (ROOT / script).read_text(encoding="utf-8")
