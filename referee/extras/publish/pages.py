# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's own pages as pages of a site: they name a pointer, and relative addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from referee.errors import InputError
from referee.extras.publish.names import POINTER

_STATIC = re.compile(r'(href|src)="/?static/([^"]+)"')
_SCRIPT = re.compile(r'<script type="module" src="/?static/([^"]+)"></script>')
_NAV = '<nav aria-label="Pages"><a href="/">Scoreboard</a></nav>'
_RESULTS = "Results and data"


def script_of(page: str) -> str:
    """Return the path, below the static folder, of the module that a page runs."""
    found = _SCRIPT.findall(page)
    if len(found) != 1:
        raise InputError(f"A page for a site runs one module, and this one runs {len(found)}.")
    return str(found[0])


def scoreboard_page(page: str, script: str, asset: Callable[[str], str]) -> str:
    """Return the scoreboard's page for the top of a site.

    `script` is the path of its script there, and `asset` returns that of a static file.
    """
    links = f'<nav aria-label="Pages"><a href="results.html">{_RESULTS}</a></nav>'
    return _once(_rooted(page, "", script, asset, ""), "</header>", f"  {links}\n  </header>")


def page_of_team(page: str, team: str, script: str, asset: Callable[[str], str]) -> str:
    """Return a team's page for the folder of the teams."""
    links = (
        '<nav aria-label="Pages"><a href="../index.html">Scoreboard</a> '
        f'<a href="../results.html">{_RESULTS}</a></nav>'
    )
    told = f' data-team="{escape(team)}"'
    return _once(_rooted(page, "../", script, asset, told), _NAV, links)


def _rooted(page: str, root: str, script: str, asset: Callable[[str], str], told: str) -> str:
    text = _SCRIPT.sub(f'<script defer src="{root}{script}"></script>', page)
    text = _STATIC.sub(lambda found: f'{found[1]}="{root}{asset(found[2])}"', text)
    text = _once(text, "<html lang", f'<html data-pointer="{root}{POINTER}"{told} lang')
    words = f'<a href="{root}results.html">{_RESULTS}</a> are a page without a script.'
    return _once(text, "</body>", f"<noscript>{words}</noscript>\n</body>")


def _once(text: str, old: str, new: str) -> str:
    """Return a text with the one place replaced; raise `InputError` if it is not there once."""
    if text.count(old) != 1:
        raise InputError(f"The page has {text.count(old)} places like {old!r}.")
    return text.replace(old, new)
