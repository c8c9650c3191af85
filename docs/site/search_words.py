# SPDX-License-Identifier: Apache-2.0
"""What the site's search ranks by: how much each page is about a word, and words of other programs.

The generator's index says which page has a word, and neither how often nor where. So all pages that
have it come in the order of their names. `search_scorer.js` ranks them by the weights made here.
"""

from __future__ import annotations

import functools
import json
import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish
from sphinx.util import logging

# By the depth of a heading: the page's own title, then its sections. A page is about its title.
_OF_HEADING = {1: 12.0, 2: 4.0, 3: 2.0, 4: 1.0}
# What the text can add at most, however often it has the word.
_OF_TEXT = 6.0
# The changelog and the list of files name everything, and explain nothing.
_LISTS = {"docs/changelog": 0.05, "docs/where": 0.2}

_ASKED = tomllib.loads(Path(__file__).with_name("search_words.toml").read_text(encoding="utf-8"))
_LANGUAGE = SearchEnglish({})
_LOG = logging.getLogger(__name__)

Counts = dict[str, tuple[Counter[str], dict[str, float]]]


def setup(app: Sphinx) -> None:
    """Count the words of each page, and give their weights to the page of the search."""
    counts: Counts = {}

    def count(app: Sphinx, tree: nodes.document, page: str) -> None:
        asked = _asked_of(page)
        _lead_to_sections(tree, page, asked)
        counts[page] = (_words_of(tree), _headings_of(tree, page, asked.values()))

    def weigh(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
        if page == "search":
            for name in _pages_asked() - counts.keys():
                _LOG.warning("search_words.toml leads to %s.md, and there is no such page", name)
            weights = json.dumps(weights_of(counts), separators=(",", ":"), sort_keys=True)
            app.add_js_file(None, body=f"var PAGE_WEIGHTS = {weights};")

    app.connect("doctree-resolved", count)
    app.connect("html-page-context", weigh)


def stems_of(text: str) -> Iterator[str]:
    """Yield the words of a text as the index has them."""
    stems = (_stem_of(word) for word in _LANGUAGE.split(text))
    yield from filter(_LANGUAGE.word_filter, stems)


@functools.cache
def _stem_of(word: str) -> str:
    """Return the stem of a word; it takes long, and most words come again."""
    return _LANGUAGE.stem(word)


def weights_of(counts: Counts) -> dict[str, dict[int, float]]:
    """Return how much each page is about each word, by word and the page's place in the index.

    A word that few pages have weighs more, which counts where somebody asks for several. Of a long
    page, a word needs to be there more often for the same weight.
    """
    usual = sum(words.total() for words, _ in counts.values()) / max(1, len(counts))
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for place, (page, (words, headings)) in enumerate(sorted(counts.items())):
        length = 0.5 + 0.5 * words.total() / usual
        for word in words.keys() | headings.keys():
            often = words[word] / (words[word] + 4 * length)
            weight = headings.get(word, 0.0) + _OF_TEXT * often
            found[word][place] = weight * _LISTS.get(page, 1.0)
    rare = {word: math.log(1 + len(counts) / len(places)) for word, places in found.items()}
    return {
        word: {place: round(weight * rare[word], 2) for place, weight in places.items()}
        for word, places in found.items()
    }


def _pages_asked() -> set[str]:
    """Return the pages to which words lead."""
    return {place.partition("#")[0].removesuffix(".md") for place in _ASKED}


def _asked_of(page: str) -> Mapping[str, list[str]]:
    """Return the words that lead to a page, by its section."""
    found = ((place.partition("#"), words) for place, words in _ASKED.items())
    return {anchor: words for (name, _, anchor), words in found if name == f"{page}.md"}


def _lead_to_sections(tree: nodes.document, page: str, asked: Mapping[str, Iterable[str]]) -> None:
    """Make an entry of the index of each word. A section that is not there is an error."""
    sections = {name for section in tree.findall(nodes.section) for name in section["ids"]}
    for anchor, words in asked.items():
        if anchor and anchor not in sections:
            _LOG.warning("search_words.toml leads to '%s', which %s.md lacks", anchor, page)
        entries = [("single", word, anchor, "main", None) for word in words]
        tree.append(addnodes.index(entries=entries))
    # The page is found as well where such a word stands in a sentence.
    single = sorted({one for words in asked.values() for word in words for one in word.split()})
    if single:
        tree.append(nodes.meta(name="keywords", content=", ".join(single)))


def _words_of(tree: nodes.document) -> Counter[str]:
    """Return how often a page has each word."""
    unread = (nodes.comment, nodes.raw)
    texts = (text for text in tree.findall(nodes.Text) if not isinstance(text.parent, unread))
    return Counter(stem for text in texts for stem in stems_of(text))


def _headings_of(
    tree: nodes.document, page: str, asked: Iterable[Iterable[str]]
) -> dict[str, float]:
    """Return the most that a heading gives each of its words. A file's name is a title, too."""
    headings = [(1, re.sub(r"\W|_", " ", page.rpartition("/")[2]))]
    headings += [(2, word) for words in asked for word in words]
    headings += [(_depth_of(title), title.astext()) for title in tree.findall(nodes.title)]
    found: dict[str, float] = {}
    for depth, text in headings:
        for stem in stems_of(text):
            found[stem] = max(found.get(stem, 0.0), _OF_HEADING.get(depth, 0.0))
    return found


def _depth_of(title: nodes.title) -> int:
    """Return how many sections a heading lies in."""
    depth, node = 0, title.parent
    while isinstance(node, nodes.section):
        depth, node = depth + 1, node.parent
    return depth
