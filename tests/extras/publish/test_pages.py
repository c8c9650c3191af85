# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's pages as they lie in a site."""

from __future__ import annotations

import re

import pytest

from referee.errors import InputError
from referee.extras.publish.pages import page_of_team, scoreboard_page, script_of
from referee.service.setup.pages import static_folder


def text(name):
    """Return a page of the scoreboard."""
    return (static_folder() / "scoreboard" / name).read_text()


def addresses(page):
    """Return all that a page asks for or leads to."""
    return re.findall(r'(?:href|src|data-pointer)="([^"]*)"', page)


def asset(name):
    """Return the path of a static file in the site."""
    return "data/" + name.rpartition("/")[2]


def test_every_address_is_relative():
    """So a site works below any path of a host, and from a disk."""
    page = scoreboard_page(text("scoreboard.html"), "data/page.js", asset)
    assert {"state", "data/page.js", "data/base.css", "results.html"} <= set(addresses(page))
    below = page_of_team(text("team.html"), "ants", "data/page.js", asset)
    assert all(one.startswith("../") for one in addresses(below))
    found = addresses(page) + addresses(below)
    assert [] == [one for one in found if one.startswith("/") or ":" in one or "static" in one]
    assert "module" not in page + below


def test_a_teams_name_is_no_markup():
    """Whatever a team calls itself stays its name."""
    page = page_of_team(text("team.html"), '"><script>x</script>', "data/page.js", asset)
    assert "<script>x" not in page and "&quot;&gt;&lt;script&gt;" in page


def test_a_page_of_another_form_is_refused():
    """A page that lost what a site changes in it would lead nowhere."""
    with pytest.raises(InputError, match="runs one module"):
        script_of("<html></html>")
    with pytest.raises(InputError, match="places like"):
        scoreboard_page(text("scoreboard.html").replace("</header>", ""), "x.js", asset)
