# SPDX-License-Identifier: Apache-2.0
"""The folder of a rehearsal, with a configuration that the program writes."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

from referee.errors import InputError
from referee.service.preflight.left_out import rehearsal_fault
from referee.service.setup.config import (
    Config,
    ContestSection,
    ImagesSection,
    PracticeSection,
    ServerSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config, load_config
from referee.service.setup.lane_config import MeterSection
from referee.service.setup.own_folder import Owner, owner_of
from referee.service.setup.real_path import real_path

_DATABASE = "referee.db"
_SHOWN = 3

PRACTICE_DATA = Path("practice-data")
"""The folder of a contestant's first rehearsals, below the working directory."""


def config_in(data: Path) -> Config:
    """Return the configuration in a rehearsal's folder, with the database of exactly that folder.

    The configuration of a folder that was copied names the folder from which it was copied. Raises
    `InputError` for a folder in which nobody has rehearsed, with those that lie beside it.
    """
    if not (data / "contest.toml").exists():
        what = "is no folder of rehearsals" if data.exists() else "is not there"
        raise InputError(f"{data}: {what}. Give the --data of the rehearsal{_beside(data)}.")
    return replace(load_config(data / "contest.toml"), storage=StorageSection(real_path(data)))


def _beside(data: Path) -> str:
    """Name the folders of rehearsals where this one was looked for."""
    try:
        folders = sorted(data.parent.iterdir())
        places = [
            path
            for path in folders
            if (path / _DATABASE).is_file() and (path / "contest.toml").is_file()
        ]
    except OSError:
        return ""
    if not places:
        return ": the line 'ready' of 'referee practice' names it"
    return f", such as {' or '.join(map(str, places[:_SHOWN]))}"


def folder_for(base: Path, images: ImagesSection, track: str) -> Path:
    """Return the folder of the rehearsals with these images: `base`, or `base-2`, `base-3`….

    Sessions with other images, another ground truth or another track lie in a folder of their own,
    because their scores belong to what they were shown.
    """
    for number in count(1):
        folder = base if number == 1 else base.with_name(f"{base.name}-{number}")
        path = folder / "contest.toml"
        if not path.exists():
            if owner_of(folder) is Owner.STRANGER:
                continue
            return folder
        try:
            known = load_config(path)
        except InputError:
            continue  # somebody else's folder
        if (known.images, known.contest.track) == (images, track):
            return folder
    raise AssertionError("count() has no end")


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
    path = real_path(data) / "contest.toml"
    # The empty path means "the folder of this file", so a copy of the folder names itself.
    config = Config(path, contest, images, server, meter, StorageSection(Path()))
    path.write_text(dump_config(config), encoding="utf-8")
    return load_config(path)


def rehearsal_config(event: Config) -> Config:
    """Write the configuration of an event's rehearsals into their folder; return it as read.

    It is the event's own, with the images of its section [practice]. Raises `InputError` if that
    section names no images, or those of the event.
    """
    images = _other_images(event)
    data = real_path(event.rehearsals)
    data.mkdir(parents=True, exist_ok=True)
    seconds = event.practice.seconds or event.contest.seconds
    name = f"{event.contest.name}: rehearsal"
    config = replace(
        event,
        path=data / "contest.toml",
        contest=replace(event.contest, name=name, mode="practice", seconds=seconds),
        images=images,
        # The audience sees the event alone.
        server=replace(event.server, scoreboard=None),
        storage=StorageSection(Path()),
        extras={},
        practice=PracticeSection(event=event.path),
    )
    config.path.write_text(dump_config(config), encoding="utf-8")
    return load_config(config.path)


def _other_images(event: Config) -> ImagesSection:
    section = event.practice
    fault = rehearsal_fault(event)
    if fault or section.images is None or section.ground_truth is None:
        raise InputError(f"{event.path}: {fault}")
    return ImagesSection(
        folder=section.images,
        ground_truth=section.ground_truth,
        sizes=section.sizes,
        blacklist=section.blacklist,
        classes=section.classes,
    )
