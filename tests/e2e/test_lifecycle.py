# SPDX-License-Identifier: Apache-2.0
"""Programs are killed and interrupted: no acknowledged answer is lost, no process is left."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import Material, Rehearse
from tests.support.running import (
    PATIENCE_S,
    Program,
    alive,
    client,
    descendants,
    eventually,
    get,
    kill_all,
    referee,
    request,
    running_as,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_users_start")]

# The desk may miss half of a session's readings: it starts slowly on a busy machine.
SECONDS = 20
MEASURED = ("--seconds", str(SECONDS), "--load", "6", "--update-interval", "0.25")
UNMEASURED = ("--seconds", "600", "--meter", "none")
TRIES = 5


def kill(program: Program, name: str) -> None:
    """Kill every process of one of the referee's programs at once, as a crash would."""
    victims = running_as(name, program.child.pid)
    assert victims
    kill_all(victims)


def login(program: Program) -> str:
    """Log in and return the token."""
    status, body = request(f"{program.contest}/login", b"username=me&password=practice", {})
    assert status == 200, body
    return body.decode()


def post(program: Program, token: str, image: int) -> int | None:
    """Post one box, and return the status, or None when the server was away."""
    body = f"token={token}&image_name={image}&CLASS_ID=1&xmin=1&ymin=1&xmax=9&ymax=9".encode()
    try:
        return request(f"{program.contest}/result", body, {})[0]
    except OSError:
        return None


def test_killed_programs_are_replaced_and_the_session_goes_on(
    standing: Rehearse, material: Material
) -> None:
    """kill -9 of each program during a session costs no answer, no energy and no deadline."""
    running = standing(*MEASURED)
    expected = len(json.loads(material.answers.read_text()))
    # A busy machine may be too slow to start them again within a session. Then the next one counts.
    for _ in range(TRIES):
        client(running.contest, "--answers", str(material.answers), "--no-logout")
        number = running.newest()
        for name in ("contest", "scorer"):
            kill(running, name)
            token = login(running)
        kill(running, "desk")
        row = running.scored(number)
        if token.startswith(f"{number}."):
            break
    current = running.lane()["current"]
    assert (number, expected) == (current["id"], current["detections"])
    assert row["energy_wh"] == pytest.approx(6 * SECONDS / 3600, rel=0.002)
    assert (row["verdict"], row["end_cause"]) == ("VALID", "deadline"), row["reasons"]
    assert {"start", "restart", "recover"} <= own_acts(running)


def own_acts(running: Program) -> set[str]:
    """Return what the referee itself has done, as the audit log tells."""
    rows = json.loads(get(f"{running.console}/audit/now")[1])["rows"]
    return {row["action"] for row in rows if (row["who"], row["role"]) == ("referee", "referee")}


def test_no_acknowledged_answer_is_lost_when_the_contest_server_is_killed(
    standing: Rehearse,
) -> None:
    """Every answer with a 200 is stored, even when the server is killed between posts."""
    referee_ = standing(*UNMEASURED)
    token = login(referee_)
    acknowledged = 0
    for number in range(60):
        if number == 30:
            kill(referee_, "contest")
        acknowledged += post(referee_, token, number + 1) == 200
    assert acknowledged >= 50
    stored = referee_.lane()["current"]["answers"]
    assert acknowledged <= stored <= 60


@pytest.fixture
def ignores_ctrl_c() -> Iterator[None]:
    """Let new programs ignore Ctrl-C at first, as a script's background programs do."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ignores_ctrl_c")
def test_ctrl_c_stops_everything_that_was_started(rehearse: Rehearse) -> None:
    """After SIGINT no process is left and the ports are free, even where a script started it.

    A login right after the ready line gets its token.
    """
    referee_ = rehearse("--seconds", "600", "--update-interval", "5")
    assert login(referee_).startswith("1.")
    started = [pid for pid, _ in descendants(referee_.child.pid)]
    assert len(started) >= 6
    referee_.child.send_signal(signal.SIGINT)
    assert referee_.child.wait(PATIENCE_S) == 0
    eventually(lambda: not any(alive(pid) for pid in started), "all processes to end")
    port = int(referee_.contest.rpartition(":")[2])
    with closing(socket.socket()) as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_in_use_is_said_before_anything_starts(material: Material, tmp_path: Path) -> None:
    """A taken port gives exit code 2 and one sentence that names the port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = referee(
            *("practice", "--images", str(material.images), "--meter", "none"),
            *("--ground-truth", str(material.ground_truth), "--data", str(tmp_path / "d")),
            *("--contest", f"127.0.0.1:{port}", "--console", "127.0.0.1:0"),
        )
    assert done.returncode == 2
    assert f"The contest server cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "--contest" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_secret_stands_in_data_or_logs(standing: Rehearse) -> None:
    """No log and no file holds a session's token or password."""
    referee_ = standing(*UNMEASURED)
    token = login(referee_)
    assert get(f"{referee_.contest}/status?token={token}")[0] == 200
    data = Path(referee_.data)
    secret = token.partition(".")[2].encode()
    with closing(sqlite3.connect(data / "referee.db")) as database:
        text = "\n".join(database.iterdump()).encode()
    for path in data.rglob("*"):
        if path.is_file():
            text += path.read_bytes()
    assert secret not in text


def test_interrupted_demo_stops_everything(tmp_path: Path) -> None:
    """Ctrl-C during the demo's session leaves no process behind."""
    child = subprocess.Popen(
        [sys.executable, "-m", "referee", "demo", "--seconds", "60", "--out", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    )

    def device_runs() -> list[int]:
        found = descendants(child.pid)
        busy = any("referee.demo.device" in args for _, args in found)
        return [pid for pid, _ in found] if busy else []

    eventually((tmp_path / "device.log").exists, "the demo's session")
    started = eventually(device_runs, "the demo's contestant to start")
    child.send_signal(signal.SIGINT)
    assert child.wait(PATIENCE_S) == 1
    eventually(lambda: not any(alive(pid) for pid in started), "all processes to end")


def test_a_folder_that_is_in_use_is_left_alone(standing: Rehearse, material: Material) -> None:
    """A second referee on the same folder is refused before it writes anything."""
    running = standing(*UNMEASURED)
    token = login(running)
    data = running.data
    done = referee(
        *("practice", "--images", str(material.images), "--meter", "none", "--data", data),
        *("--ground-truth", str(material.ground_truth), "--seconds", "5"),
        *("--contest", "127.0.0.1:0", "--console", "127.0.0.1:0"),
    )
    assert done.returncode == 2
    assert f"is in use by process {running.child.pid}" in done.stderr
    assert "seconds = 600" in (Path(data) / "contest.toml").read_text()
    assert login(running) == token


def test_logins_go_on_when_the_desk_is_killed_with_a_page_open(standing: Rehearse) -> None:
    """A new desk serves logins while the killed one is still closing its pages."""
    running = standing(*UNMEASURED)
    token = login(running)
    host, _, port = running.console.removeprefix("http://").partition(":")
    with closing(socket.create_connection((host, int(port)), 30)) as page:
        page.sendall(f"GET /events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        assert page.recv(4096).startswith(b"HTTP/1.1 200")
        desks = running_as("desk", running.child.pid)
        os.kill(min(desks), signal.SIGKILL)
        eventually(lambda: not any(alive(pid) for pid in desks), "the old desk to be gone")

    def logs_in() -> bool:
        body = b"username=me&password=practice"
        return request(f"{running.contest}/login", body, {}) == (200, token.encode())

    assert eventually(logs_in, "the new desk to answer")
    notices = [notice["text"] for notice in running.board()["notices"]]
    assert any(text.startswith("The control desk ended") for text in notices)


def test_a_killed_emulator_is_started_again(standing: Rehearse, material: Material) -> None:
    """kill -9 of the emulated meter costs the running session its energy, and no later session."""
    referee_ = standing(*MEASURED)
    for _ in range(TRIES):
        token = login(referee_)
        victims = running_as("power emulate", referee_.child.pid)
        kill_all(victims)
        if login(referee_) == token:
            break  # The session still runs: the machine is fast enough.
    assert victims
    number = referee_.newest()
    referee_.stop_session()
    first = referee_.scored(number)
    assert (first["verdict"], first["energy_wh"]) == ("INVALID", None)
    eventually(lambda: referee_.lane()["meter"]["link"] == "ok", "the meter to answer again")
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    second = referee_.scored()
    assert second["energy_wh"] == pytest.approx(6 * SECONDS / 3600, rel=0.002)
    assert second["verdict"] == "VALID"
    assert number + 1 == second["id"]
    told = [notice["text"] for notice in referee_.board()["notices"]]
    assert any("The emulated meter ended" in text for text in told)


def test_nothing_that_is_kept_can_be_read_by_others(standing: Rehearse) -> None:
    """Database, configuration, wire log and logs have mode 600, in folders of mode 700."""
    referee_ = standing(*MEASURED)
    login(referee_)
    data = Path(referee_.data)
    assert (data / "meter.jsonl").exists()
    open_to_others = [p for p in [data, *data.rglob("*")] if p.lstat().st_mode & 0o077]
    assert open_to_others == []


def test_a_copied_folder_is_self_contained(standing: Rehearse) -> None:
    """A copy of a rehearsal's folder does not name the folder that it was copied from."""
    text = (Path(standing(*UNMEASURED).data) / "contest.toml").read_text()
    (folder,) = [line for line in text.split("[storage]")[1].splitlines() if "folder =" in line]
    assert folder == 'folder = "."'


def test_without_its_meter_a_rehearsal_is_not_ready(material: Material, tmp_path: Path) -> None:
    """A rehearsal without its meter names the console and its wait, and prints no ready line."""
    arguments = ["practice", "--images", str(material.images), "--data", str(tmp_path / "d")]
    arguments += ["--ground-truth", str(material.ground_truth), "--contest", "127.0.0.1:0"]
    arguments += ["--console", "127.0.0.1:0", "--meter", "TCPIP::127.0.0.1,9::inst0::INSTR"]
    errors = tmp_path / "stderr.txt"
    with errors.open("w") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "referee", *arguments],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
    try:
        eventually(lambda: "Not ready yet." in errors.read_text(), "the line that says why")
    finally:
        child.send_signal(signal.SIGINT)
        printed, _ = child.communicate(timeout=PATIENCE_S)
    assert printed == ""
    assert "The power meter does not answer yet." in errors.read_text()
    assert "The console is http://127.0.0.1:" in errors.read_text()
