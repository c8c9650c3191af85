# SPDX-License-Identifier: Apache-2.0
"""The folder of a rehearsal, with a configuration that the program writes."""

from __future__ import annotations

from pathlib import Path

from referee.service.setup.config import (
    Config,
    ContestSection,
    ImagesSection,
    MeterSection,
    ServerSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config, load_config


def practice_config(
    *,
    data: Path,
    contest: ContestSection,
    images: ImagesSection,
    server: ServerSection,
    meter: MeterSection,
) -> Config:
    """Write the configuration of a rehearsal into its folder; return it as read from there."""
    data.mkdir(parents=True, exist_ok=True)
    path = data.resolve() / "contest.toml"
    # The empty path means "the folder of this file", so a copy of the folder names itself.
    config = Config(path, contest, images, server, meter, StorageSection(Path()))
    path.write_text(dump_config(config), encoding="utf-8")
    return load_config(path)
