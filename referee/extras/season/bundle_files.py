# SPDX-License-Identifier: Apache-2.0
"""The bundles below folders, by names that say no more than folder and file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError


@dataclass(frozen=True)
class BundleFile:
    """A zip file: its absolute path, its name in the season's file, and its size in bytes."""

    path: Path
    name: str
    size: int


def find_bundles(places: Iterable[Path]) -> list[BundleFile]:
    """Return the files `*.zip` in folders and below, and the files named, the largest first.

    The name of a bundle is the folder's own name and the path below it. Raises `InputError` for a
    place that is not there or has no bundle, and if two files would have one name.
    """
    bundles: dict[str, BundleFile] = {}
    for place in places:
        if not place.exists():
            raise InputError(f"{place} does not exist: name a folder of bundles, or a bundle")
        some = False
        for bundle in _below(Path(os.path.abspath(place))):
            some = True
            other = bundles.setdefault(bundle.name, bundle)
            if other.path != bundle.path:
                raise InputError(
                    f"{other.path} and {bundle.path} would both be called {bundle.name}: give the"
                    " folder above both"
                )
        if not some:
            raise InputError(f"{place} has no file that ends in .zip: 'referee export' writes them")
    return sorted(bundles.values(), key=lambda bundle: (-bundle.size, bundle.name))


def _below(place: Path) -> Iterator[BundleFile]:
    if not place.is_dir():
        yield BundleFile(place, f"{place.parent.name}/{place.name}", place.stat().st_size)
        return
    for path in place.rglob("*.zip"):
        name = (Path(place.name) / path.relative_to(place)).as_posix()
        # A folder of such a name, or a link to nothing, becomes a row that says so.
        yield BundleFile(path, name, path.stat().st_size if path.is_file() else 0)
