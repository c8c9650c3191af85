# SPDX-License-Identifier: Apache-2.0
"""How `make docs` makes the site of the documents: the README and its links are its map."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "LPIRC referee"
sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_parser", "search_words"]
include_patterns = ["*.md", "docs/*.md", "client_sample/*.md"]
# The page of the package in an index, which is a part of the README.
exclude_patterns = ["DESCRIPTION.md"]
root_doc = "README"
# Links go to headings by the names that viewers of Markdown give them.
myst_heading_anchors = 4
html_theme = "furo"
html_title = project
html_copy_source = False
html_extra_path = ["index.html"]
# A page that was opened as a file may not fetch the others; the list of what was found needs none.
html_show_search_summary = False
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))


def setup(app: Sphinx) -> None:
    """Let the README lead to all pages, pictures open, and CSV be a language."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", _lead_from_the_readme)
    app.connect("html-page-context", _let_pictures_open)
    app.connect("build-finished", _add_what_furo_leaves_out)


def _lead_from_the_readme(app: Sphinx, page: str, source: list[str]) -> None:
    """Give the README the tree of pages: each row of its table of roles, then its other links."""
    if page != root_doc:
        return
    rows = re.findall(r"^\| (an? \w+|anybody) \| (\[.*)$", source[0], flags=re.MULTILINE)
    seen: set[str] = set()
    for caption, text in [*((f"For {role}", links) for role, links in rows), ("More", source[0])]:
        links = dict.fromkeys(re.findall(r"\]\(([\w./-]+)\.md[#)]", text))
        new = [
            name for name in links if name not in seen and Path(app.srcdir, f"{name}.md").exists()
        ]
        seen.update(new)
        if new:
            tree = ["```{toctree}", ":hidden:", f":caption: {caption}", "", *new, "```"]
            source[0] += "\n\n" + "\n".join(tree) + "\n"


def _let_pictures_open(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Link each picture to its file, where a browser shows it in its full size."""
    picture = re.compile(r'<img [^>]*src="([^"]+)"[^>]*>')
    if "body" in context:
        context["body"] = picture.sub(r'<a href="\1">\g<0></a>', context["body"])


_SCROLLS = 'tabindex="0" role="group"'
_FOCUS = ".sidebar-search:focus-visible { outline: 3px solid !important; outline-offset: -3px; }"
# What those miss who hear the pages or have keys alone: the names of two landmarks, the levels of
# headings, a way to scroll what is wider than its place, and the focus of the search.
_LEFT_OUT = {
    '<aside class="sidebar-drawer"': '<aside class="sidebar-drawer" aria-label="Pages"',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    'class="caption" role="heading"': 'class="caption" role="heading" aria-level="2"',
    '<div id="search-results"': '<h1>Search</h1><div id="search-results"',
    "<pre>": f'<pre {_SCROLLS} aria-label="Lines">',
    '<div class="table-wrapper': f'<div {_SCROLLS} aria-label="Table" class="table-wrapper',
    "</head>": f"<style>{_FOCUS}</style></head>",
}


def _add_what_furo_leaves_out(app: Sphinx, error: Exception | None) -> None:
    """Complete the pages of the theme, which has no place for it in its templates."""
    for page in app.outdir.rglob("*.html") if error is None else ():
        text = page.read_text(encoding="utf-8")
        for left_out, whole in _LEFT_OUT.items():
            text = text.replace(left_out, whole)
        page.write_text(text, encoding="utf-8")
