# SPDX-License-Identifier: Apache-2.0
"""Set up an event: write a commented configuration and the secrets into a new folder.

Then edit the configuration, register the teams, check, and serve:

  referee init event
  referee team add 'Team Rocket' --config event/contest.toml
  referee check --config event/contest.toml
  referee serve --config event/contest.toml
"""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.errors import InputError
from referee.service.setup.config import (
    Config,
    ContestSection,
    ImagesSection,
    MeterSection,
    ServerSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config
from referee.service.setup.private_files import private_from_the_start
from referee.service.setup.secrets_file import load_secrets
from referee.service.setup.signing_key import PRIVATE, ensure_signing_key


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder to make")


def run(args: argparse.Namespace) -> int:
    """Write the files; refuse to change an event that exists already."""
    folder: Path = args.folder
    path = folder / "contest.toml"
    if path.exists():
        raise InputError(f"{path} exists already. Give another folder, or edit that file.")
    config = Config(
        path=path,
        contest=ContestSection(),
        images=ImagesSection(Path("images"), Path("ground_truth.json")),
        server=ServerSection(),
        meter=MeterSection(voltage_range_v=300.0, current_range_a=1.0),
        storage=StorageSection(),
    )
    data = folder / config.storage.folder
    with private_from_the_start():
        data.mkdir(parents=True, exist_ok=True)
        path.write_text(dump_config(config), encoding="utf-8")
        load_secrets(data)
        public = ensure_signing_key(data, path)
    print(f"Wrote {path}, {data / 'secrets.json'} and {data / PRIVATE}.")
    print(f"Give {public} to everybody: it proves who signed the evidence.")
    print(f"Next: edit {path}, register teams with 'referee team add', and run 'referee check'.")
    return 0
