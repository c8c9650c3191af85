# SPDX-License-Identifier: Apache-2.0
"""What is wrong in a page's HTML: its grammar by html5lib, and rules that it does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib
from html5lib.constants import E

_HTML = "{http://www.w3.org/1999/xhtml}"
# They name other elements of the page by their ids.
_NAMING = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "headers", "list")


def markup_faults(page: str) -> list[str]:
    """Return what a validator would find in a whole page; nothing in a valid one."""
    parser = html5lib.HTMLParser()
    tree = parser.parse(page)
    grammar = [f"line {place[0]}: {E[code] % found}" for place, code, found in parser.errors]
    return grammar + list(_broken_rules(tree))


def _broken_rules(tree: Element) -> Iterator[str]:
    ids = Counter(one.get("id") for one in tree.iter() if one.get("id") is not None)
    yield from (f"two elements have the id {own}" for own, times in ids.items() if times > 1)
    for one in tree.iter():
        name = str(one.tag).removeprefix(_HTML)
        if name == "img" and not (one.get("src") and one.get("alt") is not None):
            yield f"an img without src or alt: {one.attrib}"
        if name == "tr" and not one.findall(f"{_HTML}th") + one.findall(f"{_HTML}td"):
            yield f"a row without a cell: {one.attrib}"
        if name in ("p", "span", "div") and one.get("aria-label") and not one.get("role"):
            yield f"a name on what has no role: {one.attrib}"
        for naming in _NAMING:
            wanted = (one.get(naming) or "").split()
            yield from (f"{naming} names no id: {own}" for own in wanted if own not in ids)
