# SPDX-License-Identifier: Apache-2.0
"""Packages that are installed beside the referee while a test runs, without pip."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path

import pytest

from power import plugins
from power.plugins import brought_by
from referee import plugins as referee_plugins
from referee.formats.answer_formats import installed_formats
from referee.service.setup.extra import installed_extras, own_extras
from referee.tracks.loading import trusted_tracks
from referee.web.desk.roles import all_routes

PLUGINS = Path(__file__).parents[1] / "plugins"
"""The packages that the tests install, one folder each."""


def own_names(group: str) -> list[str]:
    """Return the names of the house's own plugins of a group."""
    return [one.name for one in brought_by("lpirc-referee") if one.group == group]


_REMEMBERED = (installed_formats, installed_extras, own_extras, trusted_tracks, all_routes)


def put_metadata(
    place: Path, name: str, version: str, points: Mapping[str, Mapping[str, str]]
) -> Path:
    """Write what an installation leaves of a package, and return the folder with it."""
    folder = place / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, named in points.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in named.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def declared(package: Path) -> tuple[str, str, dict[str, dict[str, str]]]:
    """Return name, version and entry points of a package, from pyproject.toml or setup.cfg."""
    project = tomllib.loads((package / "pyproject.toml").read_text()).get("project")
    if project is not None:
        return project["name"], project["version"], project["entry-points"]
    parser = ConfigParser(delimiters=("=",))
    parser.read(package / "setup.cfg")
    points = {
        group: dict(line.split(" = ") for line in text.strip().splitlines())
        for group, text in parser["options.entry_points"].items()
    }
    return parser["metadata"]["name"], parser["metadata"]["version"], points


@contextmanager
def installed(monkeypatch: pytest.MonkeyPatch, place: Path, *packages: str) -> Iterator[None]:
    """Install packages of `PLUGINS`, and what `place` has already, until the block ends."""
    before = {*sys.modules}
    for name in packages:
        put_metadata(place, *declared(PLUGINS / name))
        monkeypatch.syspath_prepend(PLUGINS / name)
    monkeypatch.syspath_prepend(place)
    forget()
    try:
        yield
    finally:
        for module in {*sys.modules} - before:
            if not module.startswith(("referee", "power", "tests", "client_sample")):
                if module.partition(".")[0] in _tops(packages, place):
                    del sys.modules[module]
        monkeypatch.undo()
        forget()


def forget() -> None:
    """Let the referee look again at what is installed."""
    plugins.forget()
    referee_plugins.own.cache_clear()
    for remembered in _REMEMBERED:
        remembered.cache_clear()


def _tops(packages: tuple[str, ...], place: Path) -> set[str]:
    folders = [*(PLUGINS / name for name in packages), place]
    return {path.stem for folder in folders for path in folder.iterdir()}
