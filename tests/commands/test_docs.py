# SPDX-License-Identifier: Apache-2.0
"""`referee docs` opens the page that somebody names, or says where the pages are."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from referee.cli import main
from referee.commands import docs


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an installation's pages; the browser of this machine is not used."""
    package = tmp_path / "referee"
    monkeypatch.setattr(docs, "__file__", str(package / "commands/docs.py"))
    for name in ("README", "index", "docs/power", "client_sample/README"):
        page = package / "site" / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(name)
    return package / "site"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of what the browser opens."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not found.append(address))
    return found


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ([], "README.html"),
        (["power"], "docs/power.html"),
        (["docs/power.md"], "docs/power.html"),
        (["docs/power.md#trouble"], "docs/power.html#trouble"),
        (["client_sample/README.md"], "client_sample/README.html"),
    ],
)
def test_a_page_opens_by_the_name_that_a_message_gives_it(site, opened, capsys, named, address):
    """The browser gets the file of the page, with its heading."""
    assert 0 == main(["docs", *named])
    assert [f"{site.as_uri()}/{address}"] == opened
    assert capsys.readouterr().out == f"{site.as_uri()}/{address}\n"


def test_an_address_is_printed_for_another_browser(site, opened, capsys):
    """`--print` opens nothing."""
    assert 0 == main(["docs", "power", "--print"])
    assert ([], f"{site.as_uri()}/docs/power.html\n") == (opened, capsys.readouterr().out)


def test_without_a_browser_the_address_is_left(site, monkeypatch, capsys):
    """On a machine without a browser the command fails, and says what to do."""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert 1 == main(["docs"])
    told = capsys.readouterr()
    assert told.out.endswith("README.html\n")
    assert "Open this address in one." in told.err


def test_an_unknown_page_is_answered_with_those_that_there_are(site, opened, capsys):
    """A typo gets the page that was meant."""
    assert 2 == main(["docs", "powr"])
    assert "no page 'powr'; did you mean 'power'? The pages: power." in capsys.readouterr().err
    assert [] == opened


def test_all_pages_go_to_another_folder(site, tmp_path, opened, capsys):
    """`--out` copies the site, and keeps a folder that is there."""
    out = tmp_path / "manual"
    assert 0 == main(["docs", "--out", str(out)])
    assert "docs/power" == (out / "docs/power.html").read_text()
    assert f"Open {out}/index.html\n" == capsys.readouterr().out
    assert 2 == main(["docs", "--out", str(out)])
    assert "already exists" in capsys.readouterr().err


def test_an_installation_without_pages_says_how_to_get_them(tmp_path, monkeypatch, opened, capsys):
    """A package that was built without the site names the command that makes it."""
    monkeypatch.setattr(docs, "__file__", str(tmp_path / "referee/commands/docs.py"))
    assert 2 == main(["docs"])
    assert "'make docs'" in capsys.readouterr().err
    assert [] == opened
