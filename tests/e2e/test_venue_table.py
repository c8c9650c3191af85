# SPDX-License-Identifier: Apache-2.0
"""What happens at a venue, made to happen to a rehearsal's real programs and its meter.

One rehearsal serves all of it, on a strange machine, with a meter on the table that is a process of
its own. Nobody reads the rehearsal's terminal: its pipe is closed from the beginning.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import socket
import struct
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from referee.programs.child import Child
from referee.programs.emulator import emulator
from tests.e2e.conftest import Material
from tests.support.ports import free_port
from tests.support.programs import C_COMPILER
from tests.support.running import (
    PATIENCE_S,
    Program,
    eventually,
    kill_all,
    program,
    request,
    running_as,
)
from tests.support.strange_machine import StrangeMachine

pytestmark = [pytest.mark.slow, pytest.mark.needs(C_COMPILER)]

SECONDS = 600
LOAD_W = 6.0
BOX = b"1,1,0.5,1,2,30,40\n"
JUNK = b"9999,1,1,1,2,3,4\n1,999,1,1,2,3,4\n1,1,1,4,3,2,1\n1,1,nan,1,2,3,4\n"
LOGIN = b"username=me&password=practice"
UPDATE_S = 0.25
# Two looks at one deadline agree to this; each look takes as long as its request.
TOGETHER_S = 0.01


@dataclass
class Table:
    """The referee's table: the programs, the machine they run on, the meter and the images."""

    running: Program
    machine: StrangeMachine
    meter: Child
    control: int
    zone: Path
    images: Path
    truth: Path

    def fault(self, line: str) -> None:
        """Let a fault begin at the meter."""
        with socket.create_connection(("127.0.0.1", self.control)) as link, link.makefile() as told:
            link.sendall(f"{line}\n".encode())
            assert "ok\n" == told.readline()

    def replace_meter(self, *options: str) -> None:
        """Put a meter with these options in the place of the one that is there."""
        plain, self.meter.command = self.meter.command, [*self.meter.command, *options]
        self.meter.terminate()
        self.meter.wait(PATIENCE_S)
        self.meter.start()
        self.meter.command = plain

    def alarm(self) -> str:
        """Return the red bar's text, '' without one."""
        alarm = self.running.board()["alarm"]
        return "" if alarm is None else str(alarm["text"])

    def has_alarm(self, text: str) -> None:
        """Wait until the red bar has a text in it."""
        eventually(lambda: text in self.alarm(), f"the alarm '{text}'; there is {self.alarm()!r}")

    def is_told(self, text: str) -> None:
        """Wait until a notice has a text in it."""

        def look() -> bool:
            return any(text in notice["text"] for notice in self.running.board()["notices"])

        eventually(look, f"the notice '{text}'")

    def read_for(self, seconds: float) -> None:
        """Wait until the meter has been read for so long, by the clock of the readings."""
        begun = eventually(self._read_s, "a reading")
        eventually(lambda: (self._read_s() or 0.0) > begun + seconds, "readings")

    def _read_s(self) -> float | None:
        meter = self.running.lane()["meter"]
        reading = meter["reading"]
        return None if reading is None or meter["link"] != "ok" else float(reading["monotonic_s"])


class Team:
    """A team in its session."""

    def __init__(self, table: Table) -> None:
        status, token = request(f"{table.running.contest}/login", LOGIN, {})
        assert 200 == status, token
        self._contest = table.running.contest
        self._token = {"Authorization": f"Bearer {token.decode()}"}
        self.token = token
        self.number = int(token.split(b".")[0])
        self.acknowledged = 0

    def get(self, path: str) -> tuple[int, bytes]:
        """GET a path and return status and body."""
        return request(f"{self._contest}/{path}", None, self._token)

    def post(self, image: int = 1) -> tuple[int, str]:
        """Post a box, count it if it is acknowledged, and return the answer."""
        return self.send(BOX.replace(b"1", b"%d" % image, 1))

    def send(self, rows: bytes) -> tuple[int, str]:
        """Post rows, count them if they are acknowledged, and return the answer."""
        headers = self._token | {"Content-Type": "text/csv"}
        status, body = request(f"{self._contest}/result", rows, headers)
        self.acknowledged += status == 200
        return status, body.decode()

    def connection(self, address: str = "127.0.0.1") -> socket.socket:
        """Connect from an address."""
        host, _, port = self._contest.removeprefix("http://").partition(":")
        return socket.create_connection((host, int(port)), PATIENCE_S, (address, 0))

    def head(self, length: int) -> bytes:
        """Return the head of a post of so many bytes."""
        lines = ("POST /result HTTP/1.1", "Host: referee", f"Content-Length: {length}")
        token = f"Authorization: {self._token['Authorization']}"
        return "\r\n".join((*lines, "Content-Type: text/csv", token, "", "")).encode()

    def deadline_s(self) -> tuple[float, float]:
        """Return between which moments of the tests' own clock the deadline lies."""
        before_s = time.monotonic()
        left_s = json.loads(self.get("status")[1])["remaining_seconds"]
        return before_s + left_s, time.monotonic() + left_s


def is_same(one: tuple[float, float], other: tuple[float, float], moved_s: float = 0.0) -> bool:
    """Tell whether two looks saw the same deadline, or one that `moved_s` separates."""
    begin, end = other[0] - moved_s - TOGETHER_S, other[1] - moved_s + TOGETHER_S
    return one[0] <= end and begin <= one[1]


@contextmanager
def laid(folder: Path, material: Material) -> Iterator[Table]:
    """Lay a table below a folder."""
    images, zone, control = folder / "images", folder / "zone", free_port()
    shutil.copytree(material.images, images)
    write_zone(zone, 0)
    machine = StrangeMachine(folder, folder / "data")
    options = ["--watts", str(LOAD_W), "--control", str(control)]
    arguments = ["practice", "--contest", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    arguments += ["--images", str(images), "--ground-truth", str(material.ground_truth)]
    arguments += ["--data", str(folder / "data"), "--seconds", str(SECONDS)]
    arguments += ["--update-interval", str(UPDATE_S)]
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in (machine.environment | {"TZ": f":{zone}"}).items():
            environment.setenv(name, value)
        made = stack.enter_context(emulator("meter", options, folder / "meter.log"))
        running = stack.enter_context(program([*arguments, "--meter", made.resource], folder))
        environment.undo()
        assert running.child.stdout is not None
        running.child.stdout.close()
        running.child.stdout = None
        yield Table(running, machine, made.child, control, zone, images, material.ground_truth)


def write_zone(path: Path, offset_s: int) -> None:
    """Write a time zone so far east, as tzfile(5) says."""
    counts = struct.pack(">6l", 0, 0, 0, 0, 1, 4)
    path.write_bytes(b"TZif" + bytes(16) + counts + struct.pack(">lBB", offset_s, 0, 0) + b"ODD\0")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, material: Material) -> Iterator[Table]:
    """Return the table that the tests share."""
    with laid(tmp_path_factory.mktemp("venue"), material) as made:
        yield made


@pytest.fixture
def team(table: Table) -> Iterator[Team]:
    """Return a team whose session runs, and end it."""
    yield Team(table)
    table.running.stop_session()


@pytest.fixture
def measured(table: Table, team: Team) -> Team:
    """Return a team whose session runs and was read at the meter."""
    table.read_for(2 * UPDATE_S)
    return team


def result(table: Table, team: Team) -> tuple[dict[str, Any], str]:
    """End the session; return its row of the board, and the reasons of its verdict."""
    table.running.stop_session()
    row = table.running.scored(team.number)
    return row, "\n".join(row["reasons"])


def test_a_clock_that_is_set_and_a_laptop_that_sleeps(
    table: Table, measured: Team, tmp_path: Path
) -> None:
    """Neither moves the deadline or the order of the records; each is in notices and verdict.

    The clock is set on and back, the desk starts in another time zone, the laptop sleeps for 5 s
    and then past the deadline. The evidence of such a session is verified.
    """
    deadline = measured.deadline_s()
    assert 200 == measured.post(1)[0]
    table.machine.set_clock(3600)
    table.is_told("The clock jumped by +3600")
    assert is_same(deadline, measured.deadline_s())
    assert 200 == measured.post(2)[0]
    table.read_for(3 * UPDATE_S)
    write_zone(table.zone, 5 * 3600)
    kill_all(running_as("desk", table.running.child.pid))
    table.is_told("The control desk ended")
    assert is_same(deadline, measured.deadline_s())
    table.read_for(3 * UPDATE_S)
    table.machine.set_clock(-7200)
    table.is_told("The clock jumped by -7200")
    assert is_same(deadline, measured.deadline_s())
    assert 200 == measured.post(3)[0]
    table.read_for(3 * UPDATE_S)
    table.machine.sleep(5)
    table.is_told("The laptop slept 5 s")
    assert is_same(deadline, measured.deadline_s(), moved_s=-5)
    assert 200 == measured.post(4)[0]
    table.machine.sleep(SECONDS)
    row = table.running.scored(measured.number)
    told = "\n".join(row["reasons"])
    assert ("deadline", "SUSPECT") == (row["end_cause"], row["verdict"])
    assert "set during the run, by +3600.0 s, -7200.0 s" in told
    assert "The computer slept for " in told
    assert row["energy_wh"] == pytest.approx(LOAD_W * SECONDS / 3600, rel=1e-3)
    bundle = tmp_path / "bundle.zip"
    data = ["--data", table.running.data]
    assert 0 == main(["export", str(measured.number), *data, "--out", str(bundle)])
    assert 0 == main(["verify", str(bundle), "--ground-truth", str(table.truth)])
    in_order(bundle)


def in_order(bundle: Path) -> None:
    """Check that a bundle's session has its length, and that its records are in their order."""
    with zipfile.ZipFile(bundle) as members:
        moments = json.loads(members.read("session.json"))["moments"]
        rows = [json.loads(line) for line in members.read("facts.jsonl").splitlines()]
    # To a microsecond: a clock's seconds since the boot have so many digits.
    lasted_s = moments["ended"]["monotonic_s"] - moments["started"]["monotonic_s"]
    assert lasted_s == pytest.approx(SECONDS, abs=1e-6)
    for name in ("readings", "answers"):
        times = [row["row"]["elapsed_s"] for row in rows if row["table"] == name]
        # The result of the run is read while scheduled readings go on.
        times = [at_s for at_s in times if at_s < SECONDS]
        assert len(times) > 3
        assert all(earlier < later for earlier, later in itertools.pairwise(times)), name


def test_a_meter_whose_cable_is_pulled_and_that_talks_nonsense(
    table: Table, measured: Team
) -> None:
    """Images and answers go on, the bar says what is wrong, and the meter's own energy counts."""
    table.fault("unplug seconds=3600")
    table.has_alarm("power meter is lost, but the session goes on")
    assert 200 == measured.get("image/1")[0] == measured.post()[0]
    table.fault("unplug seconds=0")
    eventually(lambda: table.alarm() == "", "the end of the alarm")
    table.fault("garbage count=2")
    table.read_for(4 * UPDATE_S)
    row, told = result(table, measured)
    # A rehearsal with a meter of one's own is SUSPECT, because it measures on auto-range. On a busy
    # machine the link is away for more than half of so short a session.
    assert row["verdict"] == "SUSPECT", told
    assert "Gaps between readings" in told
    allowed = ("Gaps between", "The run was made on auto-range", "There are no readings for")
    assert all(reason.startswith(allowed) for reason in row["reasons"]), told
    assert row["energy_wh"] > 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("power seconds=0.5", "its power failed"),
        ("replaced", "Another meter answers at the end than at the start: WT310E C9ZZ00000X"),
    ],
)
def test_a_meter_that_loses_its_power_or_is_replaced(
    table: Table, measured: Team, fault: str, reason: str
) -> None:
    """The energy is gone, and a red bar says so; images go on, and the next session is measured."""
    if fault == "replaced":
        table.replace_meter("--identity", "YOKOGAWA,WT310E,C9ZZ00000X,F1.04")
    else:
        table.fault(fault)
    table.has_alarm("no longer integrates")
    assert 200 == measured.get("image/1")[0] == measured.post()[0]
    row, told = result(table, measured)
    assert ("INVALID", None) == (row["verdict"], row["energy_wh"])
    assert reason in told


def test_a_meter_that_is_over_its_range(table: Table, measured: Team) -> None:
    """The meter's line on the board says so, and the energy is INVALID."""
    table.fault("over updates=8")
    eventually(lambda: "over range" in table.running.lane()["meter"]["flags_text"], "the flag")
    row, told = result(table, measured)
    assert ("INVALID", True) == (row["verdict"], "A value was over its range" in told)


def test_a_device_that_the_meter_does_not_see(table: Table, measured: Team) -> None:
    """About 0 W while images are fetched is an alarm that can be marked as seen, and INVALID."""
    table.fault("load watts=0")
    numbers = itertools.cycle(range(1, 11))

    def fetches_in_vain() -> bool:
        assert 200 == measured.get(f"image/{next(numbers)}")[0]
        return "draws about 0 W" in table.alarm()

    eventually(fetches_in_vain, "the alarm")
    alarm = table.running.board()["alarm"]
    shown = [{"lane": alarm["lane"], "text": alarm["text"]}]
    table.running.act("alarms/seen", alarms=shown, operator="Kim")
    assert "Kim" == table.running.board()["alarm"]["seen"]
    table.fault(f"load watts={LOAD_W}")
    eventually(lambda: table.alarm() == "", "the end of the alarm")
    row, told = result(table, measured)
    assert ("INVALID", None) == (row["verdict"], row["energy_wh"])
    assert "while its requests arrived" in told


def test_a_disk_that_takes_nothing(table: Table, team: Team) -> None:
    """On a full and on a read-only disk no answer is acknowledged; images go on, the bar tells.

    Writing resumes by itself.
    """
    for refusal in (errno.ENOSPC, errno.EROFS):
        with table.machine.refusing(refusal):
            status, said = team.post(2)
            assert (500, True) == (status, "could not be written" in said), said
            assert 200 == team.get("image/2")[0]
            table.has_alarm("The disk refuses the desk's records")
            assert 200 == team.get("image/3")[0]
        eventually(lambda: team.post(3)[0] == 200, "room on the disk")
        eventually(lambda: table.alarm() == "", "the end of the alarm")
    table.is_told("The disk takes the desk's records again")
    assert team.acknowledged == json.loads(team.get("status")[1])["answers"]


def test_a_disk_that_stalls(table: Table, team: Team) -> None:
    """While nothing reaches the disk no answer is acknowledged, and images go on; then it is."""
    with ThreadPoolExecutor(1) as posting:
        with table.machine.stalled():
            posted = posting.submit(team.post)
            assert [200] * 5 == [team.get(f"image/{number}")[0] for number in range(1, 6)]
            assert not posted.done()
        assert 200 == posted.result()[0]
    assert 1 == json.loads(team.get("status")[1])["answers"]


@pytest.mark.usefixtures("measured")
def test_images_that_are_deleted_or_exchanged(table: Table, team: Team) -> None:
    """Such an image is refused alone, the bar names it, and the verdict has its id."""
    gone, other = table.images / "3.jpg", table.images / "4.jpg"
    kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (gone, other)}
    gone.unlink()
    other.write_bytes(kept[other][0][::-1])
    assert (500, b"Image not found\n") == team.get("image?image_name=3")
    table.has_alarm("Image 3: ")
    assert (500, b"Image not found\n") == team.get("image?image_name=4")
    table.has_alarm("Image 4: ")
    assert 200 == team.get("image/5")[0]
    assert 500 == team.get("zipimages?image_name=1")[0]
    for path, (content, _) in kept.items():
        path.write_bytes(content)
    assert (200, kept[other][0]) == team.get("image/4")
    row, told = result(table, team)
    assert ("SUSPECT", True) == (row["verdict"], "by their ids: 3, 4." in told)
    status, said = request(f"{table.running.contest}/login", LOGIN, {})
    assert (400, True) == (status, b"2 images are missing or have changed" in said)
    for path, (_, modified_ns) in kept.items():
        os.utime(path, ns=(modified_ns, modified_ns))


def test_a_client_that_loses_its_network(table: Table, team: Team) -> None:
    """A broken post leaves nothing; the team is back from another address, as if nothing was.

    Junk beside it is counted, and the live scorer goes on.
    """
    deadline = team.deadline_s()
    with team.connection() as link:
        link.sendall(team.head(1000) + BOX)
    with team.connection("127.0.0.2") as link:
        link.sendall(
            b"POST /login HTTP/1.0\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(LOGIN), LOGIN)
        )
        answer = b"".join(iter(lambda: link.recv(4096), b""))
    assert answer.endswith(team.token), answer
    assert is_same(deadline, team.deadline_s())
    assert [200, 200] == [team.send(rows)[0] for rows in (BOX, JUNK)]
    assert 2 == json.loads(team.get("status")[1])["answers"]
    eventually(lambda: table.running.lane()["current"]["mean_ap"] is not None, "a live score")
    assert 4 == table.running.lane()["current"]["flagged"]


def test_nobody_reads_the_terminal(table: Table, team: Team) -> None:
    """The referee outlives the pipe of its terminal, and what it would have printed."""
    result(table, team)
    assert table.running.child.poll() is None
