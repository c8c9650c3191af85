# SPDX-License-Identifier: Apache-2.0
"""Open the documents in the browser: the start page, or a page by the name that a message gives.

  referee docs
  referee docs power
  referee docs 'docs/console.md#the-red-bar'
  referee docs --out manual

The pages need no network. Some browsers may not read a hidden folder such as .venv: copy the pages
with --out, and open its index.html. In the project's folder 'make docs' makes the pages.
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import webbrowser
from pathlib import Path

from referee.errors import InputError
from referee.programs.terminal import tell_on_terminal

_FIRST = "README"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the page, and what else can be done with the pages."""
    parser.add_argument(
        "page", nargs="?", default=_FIRST, metavar="PAGE", help="page, by its name (default: start)"
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--print", action="store_true", help="print the address, and open nothing")
    other.add_argument(
        "--out", type=Path, metavar="DIR", help="copy all pages into this folder, which must be new"
    )


def run(args: argparse.Namespace) -> int:
    """Open, print or copy; return 1 if no browser opened."""
    # A link's own path: browsers treat what lies behind it as another folder.
    site = (Path(__file__).parents[1] / "site").resolve()
    if not (site / f"{_FIRST}.html").is_file():
        raise InputError(
            "This installation has no pages: they are made by 'make docs' in the project's folder, "
            "before the installation. There the same pages are text, in docs/ and README.md."
        )
    if args.out is not None:
        _copy(site, args.out)
        return 0
    address = address_of(site, args.page)
    print(address)
    if args.print or webbrowser.open(address):
        return 0
    tell_on_terminal("referee docs: no browser opened. Open this address in one.")
    return 1


def address_of(site: Path, named: str) -> str:
    """Return the address of a page, named as `power`, `docs/power.md` or `docs/power.md#trouble`.

    An unknown page is an InputError.
    """
    path, sign, heading = named.partition("#")
    path = path.removesuffix(".md")
    for name in (path, f"docs/{path}"):
        if (site / f"{name}.html").is_file():
            return (site / f"{name}.html").as_uri() + sign + heading
    pages = sorted(page.stem for page in site.glob("docs/*.html"))
    close = difflib.get_close_matches(path, pages, 1)
    guess = f"; did you mean '{close[0]}'?" if close else "."
    raise InputError(f"There is no page '{path}'{guess} The pages: {', '.join(pages)}.")


def _copy(site: Path, out: Path) -> None:
    try:
        shutil.copytree(site, out)
    except FileExistsError as error:
        raise InputError(f"{out} already exists. Name a new folder.") from error
    except OSError as error:
        raise InputError(f"The pages cannot be copied to {out}: {error}") from error
    print(f"Open {out / 'index.html'}")
