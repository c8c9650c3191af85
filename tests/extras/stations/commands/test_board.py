# SPDX-License-Identifier: Apache-2.0
"""A real board of three stations: whatever happened to them, it ends as a new board begins."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from referee.cli import main
from referee.service.evidence.bundle import write_bundle
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.running import PATIENCE_S, eventually, get, referee
from tests.support.stations import ServedEvent

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]


class Hall:
    """A hall: an event with its folder, and the scoreboard that serves it."""

    def __init__(self, folder, stack):
        self.folder, self._stack = folder, stack
        self.served = None
        folder.mkdir()
        self._host(make_contest(folder, FakeClock(), images=8, mode="event", seconds=600))
        self.served = ServedEvent(self.event.contest)

    def _host(self, contest):
        """Run a desk; at the end nobody serves any more when desk and database close."""
        meter = FakeMeter(contest.clock)
        self._stack.callback(contest.database.close)
        desk = self._stack.enter_context(running_desk(contest, meter))
        self._stack.callback(lambda: self.served.unplug())
        self.event = Event(contest, desk, meter)

    def copy_database(self):
        """Copy the database, as a backup of the laptop does."""
        with (
            sqlite3.connect(self.event.contest.config.database) as database,
            sqlite3.connect(self.folder / "backup.db") as backup,
        ):
            database.backup(backup)
        database.close()
        backup.close()

    def restore(self):
        """Go on with the copy, in the place of what has happened since."""
        self.served.unplug()
        clock = self.event.contest.clock
        database = self.event.contest.config.database
        restored = self.folder / "restored"
        restored.mkdir()
        for name in ("contest.toml", "signing.pub"):
            (restored / name).write_bytes((self.folder / name).read_bytes())
        (restored / "data").mkdir(mode=0o700)
        (self.folder / "backup.db").rename(restored / "data" / database.name)
        for name in ("images", "truth.json"):
            (restored / name).symlink_to(self.folder / name)
        self._host(open_contest(load_config(restored / "contest.toml"), clock))
        self.served.plug(self.event.contest)


@pytest.fixture
def halls(tmp_path):
    """Return three halls, in each of which a team has played."""
    with ExitStack() as stack:
        found = [Hall(tmp_path / name, stack) for name in ("a", "b", "c")]
        for number, hall in enumerate(found, 1):
            hall.event.register("ants", f"team {number}")
            hall.event.play("ants", found=number)
        yield found


@pytest.fixture
def boards(tmp_path):
    """Return a function that starts a board that follows until the test ends, and stops it."""
    running = []

    def start(*arguments):
        errors = (tmp_path / "board.log").open("a")
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "referee", "board", *arguments],
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        )
        errors.close()
        ready = running[-1].stdout.readline()
        assert ready.startswith("ready: board http"), (tmp_path / "board.log").read_text()
        return running[-1], ready.split()[2]

    yield start
    for one in running:
        one.send_signal(signal.SIGINT)
        one.communicate(timeout=PATIENCE_S)


def shown(url, path="view"):
    """Return a document of a board."""
    return json.loads(get(f"{url}/{path}")[1])


def rows(url):
    """Return the sessions that a board ranks, by station and team."""
    entries = shown(url)["view"]["entries"]
    return {(it["station"], it["team"]): it["session"] for it in entries if it["rank"]}


def standing(url, name):
    """Return what a board says of a station."""
    return next(it["text"] for it in shown(url, "live")["stations"] if it["name"] == name)


def test_a_board_ends_as_a_new_one_begins(halls, boards, tmp_path):
    """A station was unplugged, one restored from a backup, and the board killed meanwhile."""
    a, b, c = halls
    stations = [f"--follow={it.folder.name}={it.served.url}" for it in halls]
    serving = [*stations, "--listen=127.0.0.1:0", "--every=0.5", f"--data={tmp_path / 'old'}"]
    first, url = boards(*serving)
    eventually(lambda: len(rows(url)) == 3, "three stations on the board")
    c.copy_database()
    b.served.unplug()
    eventually(lambda: "nothing listens" in standing(url, "b"), "the board to notice")
    b.event.play("team 2", found=7)
    b.event.desk.steps_of(1).void(1, "Kim", "wrong images")
    c.event.play("team 3", found=8)
    eventually(lambda: ("c", "team 3") in rows(url), "what the backup lacks")
    assert 1 == rows(url)["b", "ants"]
    first.kill()
    first.wait()
    c.restore()
    c.event.play("ants", found=6)
    a.event.desk.steps_of(1).void(1, "Kim", "wrong images")
    _, url = boards(*serving)
    b.served.plug(b.event.contest)
    wanted = {("b", "team 2"): 2, ("c", "ants"): 2}
    eventually(lambda: rows(url) == wanted, "the board to hold what the stations hold")
    eventually(lambda: standing(url, "b") == "live", "the station to be heard again")
    fresh = referee("board", *stations, "--data", str(tmp_path / "new"), "--json")
    assert 0 == fresh.returncode, fresh.stderr
    old, new = (tmp_path / name / "view.json" for name in ("old", "new"))
    assert old.read_bytes() == new.read_bytes()
    assert shown(url)["view"] == json.loads(fresh.stdout)["view"]
    asked = [one for hall in halls for one in hall.served.asked]
    assert {("GET", "/feed")} == {(method, path.partition("?")[0]) for method, path in asked}
    assert any("since_token" in path for _, path in b.served.asked)
    assert "c: its records have another history now" in (tmp_path / "board.log").read_text()
    for path in ("/", "/charts/energy.svg", "/static/scoreboard/scoreboard.js"):
        assert 200 == get(url + path)[0]
    assert {404} == {get(url + path)[0] for path in ("/feed", "/team/ants", "/sessions/1/misses")}


def test_copied_bundles_alone_make_a_board(halls, tmp_path, capsys):
    """Without a network the board ranks what was copied, in the terminal and as JSON."""
    sticks = tmp_path / "sticks"
    for hall in halls:
        folder = sticks / hall.folder.name.upper()
        folder.mkdir(parents=True)
        write_bundle(hall.event.contest, 1, folder / "session1.zip")
    data = ["board", "--data", str(tmp_path / "data")]
    assert 0 == main([*data, "--bundles", str(sticks)])
    printed = capsys.readouterr().out
    ranked = [line.split()[:4] for line in printed.splitlines()[3:6]]
    assert [[str(n), "ants", hall, "1"] for n, hall in enumerate("CBA", 1)] == ranked
    assert 0 == main(data)
    assert printed == capsys.readouterr().out


def test_a_board_that_hears_nobody_says_so(tmp_path, capsys):
    """The exit code is 1, the reason is told, and what is known is printed."""
    assert 1 == main(["board", "--follow=Hall A=http://127.0.0.1:1", f"--data={tmp_path}"])
    out, err = capsys.readouterr()
    assert "Hall A: nothing listens at its address." in err
    assert "never heard" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--follow", "hall-a:8002"], "give http://HOST:PORT"),
        (["--data", "nowhere"], "has no board"),
        (["--follow", "http://x", "--every", "0.1"], "0.5 to 3600"),
    ],
)
def test_a_wrong_wish_is_refused_with_what_to_do(arguments, told, tmp_path, capsys, monkeypatch):
    """The message names the option or the folder."""
    monkeypatch.chdir(tmp_path)
    assert 2 == main(["board", *arguments])
    assert told in capsys.readouterr().err
