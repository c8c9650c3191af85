# SPDX-License-Identifier: Apache-2.0
"""Pages come from templates, which escape what they are given and travel with the package."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from referee.service.setup.pages import page

ROOT = Path(__file__).resolve().parents[3]
SLIP = {"contest": "LPIRC", "slip": "session 3", "command": "referee verify", "code": "<svg/>"}


def test_what_a_page_is_given_is_text_and_no_markup():
    """A team's name shows as it is written, whatever it holds."""
    shown = page("service/evidence/slip.html", team="<script>'", **SLIP)
    assert '<h1 dir="auto">&lt;script&gt;&#39;</h1>' in shown and "<script>" not in shown


def test_a_field_that_is_forgotten_is_an_error():
    """No page is made with a gap in it."""
    with pytest.raises(UndefinedError, match="'team' is undefined"):
        page("service/evidence/slip.html", **SLIP)


@pytest.mark.parametrize("kind", ["html", "toml", "txt"])
def test_the_package_brings_its_templates_and_tables(kind):
    """The wheel takes them along from each folder."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    taken = setup["options.package_data"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "referee").rglob(f"*.{kind}")}
    assert folders
    assert [] == [
        folder
        for folder in folders
        if f"*.{kind}" not in taken.get(".".join(folder.parts), "").split()
    ]


def test_a_guest_of_another_package_has_templates_in_its_own_folder(tmp_path):
    """They escape and refuse gaps as the referee's own."""
    (tmp_path / "games.html").write_text("<p>{{ white }}</p>")
    assert "<p>&lt;b&gt;</p>" == page("games.html", tmp_path, white="<b>")
    with pytest.raises(UndefinedError, match="'white' is undefined"):
        page("games.html", tmp_path)
