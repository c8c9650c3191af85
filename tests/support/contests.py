# SPDX-License-Identifier: Apache-2.0
"""Small contests for tests: grey images, their ground truth and a configuration."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections import namedtuple
from dataclasses import replace
from functools import cache
from pathlib import Path

from PIL import Image

from referee.service.preflight import disk
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.private_files import (
    close_to_others,
    make_private,
    private_from_the_start,
)
from referee.service.setup.secrets_file import load_secrets
from referee.service.setup.signing_key import ensure_signing_key
from referee.store.database import Database

RESOURCE = "TCPIP::192.0.2.7::inst0::INSTR"
"""The meter's resource in the configurations of tests; tests put a fake in its place."""


def no_room(monkeypatch) -> None:
    """Let every contest's disk be too small, with free bytes that no other program changes.

    The number stands in the finding's text, and an override holds for one text.
    """
    full = (2**40, 2**40 - 2**20, 2**20)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda folder: _DiskUsage(*full))


_DiskUsage = namedtuple("_DiskUsage", ("total", "used", "free"))

# Each image has its own file time: the referee recognises a file by its size and time.
_WRITTEN_NS = 1_700_000_000_000_000_000


def write_images(folder: Path, names, size=(32, 24)) -> None:
    """Write a small JPEG of a different grey under each name."""
    folder.mkdir(exist_ok=True)
    for shade, name in enumerate(names):
        path = folder / name
        path.write_bytes(_grey(shade % 256, size, path.suffix.lower()))
        os.utime(path, ns=(_WRITTEN_NS + shade, _WRITTEN_NS + shade))


@cache
def _grey(shade: int, size, suffix: str) -> bytes:
    """Return an image file; it is drawn once and serves hundreds of contests."""
    file = io.BytesIO()
    Image.new("RGB", size, (shade, 90, 200)).save(file, Image.registered_extensions()[suffix])
    return file.getvalue()


def write_truth(path: Path, images, size=(32, 24)) -> None:
    """Write COCO ground truth with a box of class 1 in each image, given as (id, file name)."""
    document = {
        "images": [
            {"id": own, "file_name": name, "width": size[0], "height": size[1]}
            for own, name in images
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": n, "image_id": own, "category_id": 1, "bbox": [n, 2, 10, 10], "iscrowd": 0}
            | {"area": 100}
            for n, (own, _) in enumerate(images, 1)
        ],
    }
    path.write_text(json.dumps(document))


def write_config(folder: Path, **contest) -> Path:
    """Write a configuration of a real meter, with images and truth in the same folder."""
    lines = ["[contest]", *(f"{key} = {json.dumps(value)}" for key, value in contest.items())]
    lines += ["[images]", 'folder = "images"', 'ground_truth = "truth.json"']
    lines += ["[meter]", f'resource = "{RESOURCE}"']
    path = folder / "contest.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def put_empty_database(path: Path) -> None:
    """Write a database with its schema and no rows, unless there is one."""
    if not path.exists():
        path.touch(0o600)
        path.write_bytes(_empty_database())


@cache
def _empty_database() -> bytes:
    """Return a database's file; it is made once and serves hundreds of tests."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "referee.db")
        database.migrate()
        database.close()
        return database.path.read_bytes()


def make_contest(
    folder: Path, clock=None, *, images: int = 4, linked: Path | None = None, **contest
):
    """Prepare a contest of a few images and open it.

    `linked` holds images that are linked in place of written: no test may write into one of them.
    """
    names = [f"{number}.jpg" for number in range(1, images + 1)]
    if linked is None:
        write_images(folder / "images", names)
    else:
        (folder / "images").mkdir()
        for name in names:
            os.link(linked / name, folder / "images" / name)
    write_truth(folder / "truth.json", list(enumerate(names, 1)))
    config = load_config(write_config(folder, **({"shuffle": False} | contest)))
    made_alike = (images, config.path.read_text())
    config.storage.folder.mkdir(parents=True, exist_ok=True)
    if config.database.exists():
        prepare_contest(config)[0].close()
    elif made_alike in _PREPARED:
        _put_moved(config, folder, *_PREPARED[made_alike])
    else:
        put_empty_database(config.database)
        prepare_contest(config)[0].close()
        _PREPARED[made_alike] = (folder, config.database.read_bytes())
    return open_contest(config, clock)


# The folder and the database of the first contest of each kind, just prepared.
_PREPARED: dict[tuple[int, str], tuple[Path, bytes]] = {}


def _put_moved(config, folder: Path, other: Path, content: bytes) -> None:
    """Put the database of an equal contest in another folder, as if that had been moved here.

    Preparing it again would change nothing. Its secrets and its key are its own.
    """
    make_private(config.storage.folder)
    close_to_others(config.path)
    with private_from_the_start():
        load_secrets(config.storage.folder)
        ensure_signing_key(config.storage.folder, config.path)
    config.database.touch(0o600)
    config.database.write_bytes(content)
    database = Database(config.database)
    with database.write() as connection:
        for table in ("images", "inputs"):
            connection.execute(
                f"update {table} set path = :new || substr(path, :old)",
                {"new": str(folder.resolve()), "old": len(str(other.resolve())) + 1},
            )
    database.close()


def with_blacklist(contest, text: str, name: str = "blacklist.csv"):
    """Prepare a contest again with a blacklist beside its configuration; return it."""
    path = contest.config.path.with_name(name)
    path.write_text(text)
    images = replace(contest.config.images, blacklist=path)
    contest = replace(contest, config=replace(contest.config, images=images))
    prepare_contest(contest.config)[0].close()
    return contest
