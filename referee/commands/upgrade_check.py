# SPDX-License-Identifier: Apache-2.0
"""Say whether this version opens the folder of an event, and how to go back. It changes nothing.

  referee upgrade-check event
  referee upgrade-check event --json

It reads the configuration, and brings a private copy of the database up to date. So it finds a
fault before anything touches the event's own database. The first command that opens the event does
the same there, and copies the database first. The exit code is 1 if this version cannot open the
folder; then the line says which one can.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from referee import __version__
from referee.errors import ConfigError, InputError
from referee.programs.terminal import tell_on_terminal
from referee.service.setup.config_file import load_config
from referee.store.database import free_copy
from referee.store.health import rehearse_upgrade
from referee.store.schema import way_back


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("event", type=Path, metavar="DIR", help="the event's folder, which has its contest.toml")
    add("--json", action="store_true", help="print one JSON object: opens, lacking, text")


def run(args: argparse.Namespace) -> int:
    """Look, print, and return 0 if this version opens the folder."""
    path = args.event / "contest.toml"
    if not path.is_file():
        raise InputError(f"{args.event} has no contest.toml, so it is not an event's folder.")
    opens, names = True, []
    try:
        database = load_config(path).database
        if database.exists():
            names = rehearse_upgrade(database)
        text = _text(args.event, database, names)
    except ConfigError as error:
        opens = False
        text = (
            f"{error} A later version may know it: work with the version that wrote the file, or "
            "take out what this one does not know."
        )
    except InputError as error:
        opens, text = False, str(error)
    if args.json:
        print(json.dumps({"opens": opens, "lacking": names, "text": text}))
    elif opens:
        print(text)
    else:
        tell_on_terminal(f"referee upgrade-check: {text}")
    return 0 if opens else 1


def _text(event: Path, database: Path, names: list[str]) -> str:
    opens = f"This referee {__version__} opens {event}"
    if not names:
        return f"{opens} as it is. Nothing in it has to be changed, so there is nothing to undo."
    return (
        f"{opens}, and brings {database.name} up to date ({', '.join(names)}). It did so with a "
        f"copy, and every stored fact holds. The first command that opens the event copies the "
        f"database to {free_copy(database, names[0]).name} before: {way_back(database)}"
    )
