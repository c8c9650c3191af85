# SPDX-License-Identifier: Apache-2.0
"""The referee uses a new or an empty folder, or one of its own, and changes no other."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from referee.cli import main
from referee.errors import InputError
from referee.service.setup.config_file import load_config
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.opened import opened_contest
from referee.service.setup.own_folder import Owner, owner_of, require_own, why_not_made
from referee.service.setup.preparation import prepare_contest
from tests.support.contests import make_contest, put_empty_database, write_config, write_images

KEYS = f'{{"token_key": "{"ab" * 32}", "console_key": "{"cd" * 32}"}}'


def stranger_database(path: Path) -> None:
    """Write a database of another program."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table goals (minute integer)")


@pytest.mark.parametrize(
    ("files", "whose"),
    [
        ({}, Owner.EMPTY),
        ({".DS_Store": "x", "Thumbs.db": "x"}, Owner.EMPTY),
        ({"secrets.json": KEYS, "notes.txt": ""}, Owner.REFEREE),
        ({"contest.lock": "4711", "notes.txt": ""}, Owner.REFEREE),
        ({"board.lock": "", "notes.txt": ""}, Owner.REFEREE),
        ({"signing.key": "x"}, Owner.REFEREE),
        ({"contest.toml": "", "signing.key": "", "teams.csv": "", "rehearsals": ""}, Owner.REFEREE),
        ({"signing.key": "x", "photo.jpg": "x"}, Owner.STRANGER),
        ({"photo.jpg": "x"}, Owner.STRANGER),
        ({"logs": "", "models": ""}, Owner.STRANGER),
        ({"teams.csv": ""}, Owner.STRANGER),
        ({"secrets.json": '{"token_key": "ab"}', "app.py": ""}, Owner.STRANGER),
        ({"secrets.json": "x" * 5000, "app.py": ""}, Owner.STRANGER),
        ({"contest.lock": "open 9 to 5", "app.py": ""}, Owner.STRANGER),
        ({"referee.db": "Smith, Jones", "league.csv": ""}, Owner.STRANGER),
    ],
)
def test_marks_and_names_tell_whose_a_folder_is(
    tmp_path: Path, files: dict[str, str], whose: Owner
) -> None:
    """One mark is enough; without a mark no name of somebody else may be there."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644)
    assert whose is owner_of(tmp_path)
    assert {0o644} >= {(tmp_path / name).stat().st_mode & 0o777 for name in files}


def test_a_database_with_our_tables_is_a_mark(tmp_path: Path) -> None:
    """A database of the same name with other tables is none; looking makes no file beside it."""
    (tmp_path / "photo.jpg").touch()
    stranger_database(tmp_path / "referee.db")
    assert Owner.STRANGER is owner_of(tmp_path)
    (tmp_path / "referee.db").unlink()
    put_empty_database(tmp_path / "referee.db")
    assert Owner.REFEREE is owner_of(tmp_path)
    assert {"photo.jpg", "referee.db"} == set(os.listdir(tmp_path))


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    """A pipe with the name of a mark keeps nobody waiting."""
    for name in ("contest.lock", "secrets.json", "referee.db"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "photo.jpg").touch()
    assert Owner.STRANGER is owner_of(tmp_path)


def test_what_is_not_there_can_be_made_or_not(tmp_path: Path) -> None:
    """A folder below a file cannot be made; a look says so and makes nothing."""
    (tmp_path / "file").touch()
    assert Owner.NOBODY is owner_of(tmp_path / "new/folder")
    assert "" == why_not_made(tmp_path / "new/folder")
    assert f"{tmp_path / 'file'} is no folder" == why_not_made(tmp_path / "file/folder")
    assert ["file"] == os.listdir(tmp_path)


def test_the_top_of_a_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lost+found is nobody's file, but the folder is not for the referee alone."""
    (tmp_path / "lost+found").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: path == tmp_path)
    with pytest.raises(InputError, match="holds lost.found.* such as .*/referee"):
        require_own(tmp_path)


def lock(folder: Path) -> None:
    """Take a lock in the folder."""
    with lock_folder(folder, "contest"):
        pass


def opening(folder: Path) -> None:
    """Open the contest of this folder, as most commands do."""
    with opened_contest(load_config(folder.parent / "event/contest.toml")):
        pass


def preparing(folder: Path) -> None:
    """Prepare the contest of this folder, as the servers do."""
    prepare_contest(load_config(folder.parent / "event/contest.toml"))


@pytest.mark.parametrize("use", [require_own, lock, opening, preparing])
def test_a_folder_of_somebody_else_stays_as_it_is(
    tmp_path: Path, use: Callable[[Path], None]
) -> None:
    """Each way into it names the folder and what it holds, and changes neither files nor modes."""
    home = tmp_path / "event"
    home.mkdir()
    text = write_config(home).read_text()
    (home / "contest.toml").write_text(f'{text}[storage]\nfolder = "../photos"\n')
    photos = tmp_path / "photos"
    photos.mkdir(mode=0o755)
    photos.chmod(0o755)
    for number in range(5):
        (photos / f"{number}.jpg").touch()
    with pytest.raises(InputError, match="photos: is no folder .*0.jpg, 1.jpg, 2.jpg and 2 more"):
        use(photos)
    assert 0o755 == photos.stat().st_mode & 0o777
    assert {f"{number}.jpg" for number in range(5)} == set(os.listdir(photos))


def test_what_init_leaves_is_taken(tmp_path: Path) -> None:
    """The folder of a fresh event, and one from which all but the key is lost, are an event's."""
    assert 0 == main(["init", str(tmp_path / "event")])
    data = tmp_path / "event/data"
    assert Owner.REFEREE is owner_of(data)
    (data / "secrets.json").unlink()
    require_own(data)


def test_an_event_of_before_is_taken_whatever_lies_in_it(tmp_path: Path) -> None:
    """Its database alone tells it, beside images that lie in the same folder."""
    contest = make_contest(tmp_path)
    contest.database.close()
    data = contest.config.storage.folder
    for path in data.iterdir():
        if path.name != "referee.db":
            path.unlink()
    write_images(data, ["7.jpg"])
    require_own(data)
    with opened_contest(contest.config) as again:
        assert 4 == again.image_count
