# SPDX-License-Identifier: Apache-2.0
"""Every link of the documents, and every page that a message names, leads to a file and heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pictures.album import PICTURES
from tests.pictures.session import DRAWN

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("client_sample/**/*.md")]
)

STARTS = [
    ROOT / link
    for link in re.findall(
        r"^\| an? \w+ \| \[[^]]*\]\((docs/\w+\.md)\)",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
]
"""The page on which each role begins, as the README's table has them."""

NAMED = re.compile(r"\bdocs/[\w-]+\.md(?:#[\w-]+)?")


def prose(page: Path) -> str:
    """Return a page without its blocks of code, whose comments look like headings."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the usual viewers of Markdown make them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", it.strip().lower()).replace(" ", "-") for it in plain}


def broken(page: Path) -> Iterator[str]:
    """Yield the links of a page to what this project has not."""
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def test_there_are_pages_and_anchors() -> None:
    """The pages have links to headings of other pages."""
    assert len(PAGES) > 20
    assert len(STARTS) == 6
    assert sum(len(re.findall(r"\.md#", prose(page))) for page in PAGES) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Each link leads to a file, and where it names a heading, the file has it."""
    assert [] == list(broken(page))


def test_every_page_is_reached_from_the_readme() -> None:
    """Whoever follows links from the README comes to each page of the documents."""
    reached, ahead = set[Path](), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            links = re.findall(r"\]\(([^)\s#]+\.md)", prose(page))
            ahead += [(page.parent / link).resolve() for link in links if ":" not in link]
    assert set() == set(ROOT.glob("docs/*.md")) - reached


def test_every_page_that_the_code_names_is_there() -> None:
    """A message, a help or a page of the console names pages and headings that there are."""
    named = {
        (match, path.relative_to(ROOT).as_posix())
        for top in ("referee", "power", "client_sample", "static")
        for path in (ROOT / top).rglob("*.*")
        if path.suffix in (".py", ".js", ".html", ".txt", ".toml", ".c")
        for match in NAMED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    wrong = []
    for name, source in named:
        page, _, anchor = name.partition("#")
        there = (ROOT / page).is_file()
        if not there or (anchor and anchor not in anchors(ROOT / page)):
            wrong.append((source, name))
    assert [] == wrong


@pytest.mark.parametrize("page", STARTS, ids=lambda page: page.stem)
def test_a_start_is_read_in_ten_minutes(page: Path) -> None:
    """The page on which a role begins has 2,500 words at most, with its tables and code."""
    assert len(page.read_text(encoding="utf-8").split()) <= 2500


def test_the_documents_together_are_no_book() -> None:
    """The pages and the README have fewer than 60,500 words, so a new page makes room."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) < 60_500


def test_one_command_takes_every_picture_and_a_page_shows_it() -> None:
    """The documents have the pictures that `make pictures` takes, and no other ones."""
    taken = {f"{name}.png" for name in PICTURES} | {DRAWN}
    shown = {
        Path(link).name
        for page in PAGES
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", prose(page))
    }
    kept = {path.name for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".svg")}
    assert (taken, taken) == (shown, kept)
