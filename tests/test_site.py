# SPDX-License-Identifier: Apache-2.0
"""The site of the documents: each page, nothing loaded, no link to nowhere, a search that finds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
import sphinx  # noqa: F401  # Without the extra, the tests of the site are skipped.
from selenium import webdriver

from tests.support.barriers import barriers
from tests.support.browsing import be_screen
from tests.support.focus import unreachable
from tests.support.running import eventually
from tests.support.themes import THEMES, be_theme, forget_theme
from tests.test_links import PAGES

# Sphinx writes all pages in five seconds.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MADE = (ROOT / "Makefile").read_text(encoding="utf-8")
LOADED = re.compile(r"<(?:script|img|iframe)[^>]* src=\"([^\"]+)|<link[^>]* href=\"([^\"]+)")

FOUND = {
    "score": "docs/scoring.html",
    "mAP": "docs/scoring.html#the-rules",
    "jupyter": "docs/library.html",
    "yolo": "docs/scoring.html#yolo-labels",
    "websocket": "docs/feed.html",
    "docker": "docs/machines.html#a-container",
    "meter": "docs/power.html",
    "contestant": "docs/contestants.html",
    "install": "README.html#install",
    "slips": "docs/organisers.html#teams",
    "lottery": "docs/organisers.html#running-order",
    "ceremony": "docs/results.html#ceremony",
    "suspect": "docs/power.html#energy-and-verdict",
    "bundle": "docs/evidence.html",
    "shelly": "docs/meters.html",
    "nginx": "docs/proxies.html",
    "prometheus": "docs/monitoring.html",
    "password": "docs/console.html#names-and-logins",
    "https": "docs/settings.html#tls-for-the-contestants",
    "backup": "docs/machines.html#a-backup-and-another-laptop",
    "tflite": "docs/ovic-models.html",
    "lanes": "docs/settings.html#several-lanes",
    "season": "docs/season.html",
    "confidence interval": "docs/scoring.html#how-sure-it-is",
    "golden client": "docs/console.html",
    # A heading as it is, a word within a sentence, and a number, which the index itself leaves out.
    "Is this what was signed?": "docs/evidence.html#is-this-what-was-signed",
    "export to excel": "docs/results.html",
    "8000": "docs/settings.html#network",
}
"""What people search for, and the place that the search must name first."""

SHOWN = """
    const found = [...document.querySelectorAll("#search-results li a")].map((a) => a.href);
    return document.querySelector("#search-results h2")?.innerText === "Search Results" && found;
"""


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a folder as `make docs` does."""
    options = re.search(r"-m sphinx (.*) -c docs/site -d build/doctrees \. build/site", MADE)
    assert options is not None
    command = [sys.executable, "-m", "sphinx", *options[1].split(), "-c", str(ROOT / "docs/site")]
    command += ["-d", str(out / "doctrees"), str(source), str(out / "site")]
    return subprocess.run(command, capture_output=True, text=True, timeout=180)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of the documents."""
    out = tmp_path_factory.mktemp("docs")
    done = build(ROOT, out)
    assert (0, "") == (done.returncode, done.stderr)
    return out / "site"


def texts(site: Path) -> dict[str, str]:
    """Return each page of the site by its path."""
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    return {name: path.read_text(encoding="utf-8") for name, path in found.items()}


def test_the_site_has_every_page(site: Path) -> None:
    """Each page of Markdown has its page, but that of an index, and the start lists it."""
    pages = set(PAGES) - {ROOT / "DESCRIPTION.md"}
    names = {page.relative_to(ROOT).with_suffix(".html").as_posix() for page in pages}
    assert names <= texts(site).keys()
    start = texts(site)["README.html"]
    assert set() == {name for name in names - {"README.html"} if f'href="{name}"' not in start}


def test_no_page_loads_anything_from_a_network(site: Path) -> None:
    """Scripts, styles, fonts and pictures lie in the site."""
    loaded = {
        (name, address)
        for name, text in texts(site).items()
        for pair in LOADED.findall(text)
        for address in pair
        if re.match(r"(\w+:)?//", address)
    }
    assert set() == loaded
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", path.read_text("utf-8")), path


def test_pictures_open(site: Path) -> None:
    """Each picture leads to its own file."""
    for name, text in texts(site).items():
        shown = re.findall(r"(<a href=\"([^\"]+)\">)?<img [^>]*src=\"([^\"]+)\"", text)
        assert all(link == picture for _, link, picture in shown), name
        assert all((site / name).parent.joinpath(picture).is_file() for _, _, picture in shown)
    assert "<img " in texts(site)["docs/console.html"]


@pytest.mark.browser
@pytest.mark.parametrize("page", ["README", "docs/console", "docs/scoring", "search"])
def test_a_page_of_the_site_keeps_nobody_out(
    site: Path, browser: webdriver.Chrome, page: str
) -> None:
    """Nothing is worse than minor in any theme, and keys reach and scroll everything."""
    be_screen(browser, 1024, 768)
    browser.get((site / f"{page}.html").as_uri())
    found = {}
    for theme in THEMES:
        be_theme(browser, theme)
        found[theme] = barriers(browser, only_colours=bool(found)) + unreachable(browser)
    forget_theme(browser)
    assert {} == {theme: told for theme, told in found.items() if told}


def test_the_search_knows_the_words_of_the_pages(site: Path) -> None:
    """The index is a script, which a page that was opened as a file may load."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    assert "docs/power" in found["docnames"]
    assert {"crest", "lotteri"} <= found["terms"].keys()
    assert "searchindex.js" in texts(site)["search.html"]


@pytest.mark.browser
def test_the_search_finds_the_page_that_defines_a_word(
    site: Path, one_chromium: webdriver.Chrome
) -> None:
    """It works in a page that was opened as a file, and the changelog is the last to be named."""
    start, first, early = (site / "search.html").as_uri(), {}, set[str]()
    for query in FOUND:
        one_chromium.get(f"{start}?{urlencode({'q': query})}")
        found = eventually(lambda: one_chromium.execute_script(SHOWN), f"what '{query}' finds")
        places = [address.removeprefix(f"{site.as_uri()}/") for address in found]
        assert len(places) == len(set(places)), query
        first[query] = places[0]
        if "docs/changelog.html" in places[: len(places) // 2]:
            early.add(query)
    assert FOUND == first
    assert set() == early


def test_a_wheel_takes_the_site_along(site: Path) -> None:
    """The package has a link to the folder of `make docs`, and the site is small enough for it."""
    assert "../build/site" == (ROOT / "referee/site").readlink().as_posix()
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 5e6


@pytest.mark.parametrize("link", ["docs/two.md", "docs/one.md#nowhere"])
def test_a_link_to_nowhere_is_refused(tmp_path: Path, link: str) -> None:
    """`make docs` fails for a page or a heading that is not there, and names it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/one.md").write_text("# One\n\n## Here\n")
    (tmp_path / "README.md").write_text(f"# R\n\n## Start\n\n[a](docs/one.md#here) [b]({link})\n")
    done = build(tmp_path, tmp_path / "out")
    assert done.returncode != 0
    assert "README.md" in done.stderr and re.split(r"\W", link)[-1] in done.stderr
