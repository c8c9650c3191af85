# SPDX-License-Identifier: Apache-2.0
"""An event in a hall: a real `referee serve`, a meter on the table, and a disk of its own."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from power.emulator.profile import energy_wh, parse_steps
from referee.core.actors import Actor
from referee.demo.scenes import generate
from referee.errors import RefereeError
from referee.extras.drill.play.host import DrillHost
from referee.extras.drill.play.meters import free_port
from referee.programs.child import Child
from referee.programs.emulator import EmulatedMeter, emulator
from referee.service.setup.clock import real_elapsed_s
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.private_files import private_from_the_start
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import new_passwords
from referee.store.teams import Registration
from tests.bench.killing.plan import Target
from tests.e2e.conftest import Material, make_event
from tests.support.mortal_disk import Disk, mortal_disk

IMAGES = 12
_DISK_MIB = 4096
_ORGANISER = Actor("the bench", "organiser")
_ANSWER_S = 5.0
_OFF_S = 0.5
_TRIES = 3
_UPDATE_S = 0.25
_PAUSE = threading.Event()


class TableMeter:
    """The emulated meter on the table; its load is known and begins anew with each integration."""

    def __init__(self, made: EmulatedMeter, control: int, steps: str) -> None:
        self.resource = made.resource
        self._child: Child = made.child
        self._control = control
        self._profile = parse_steps(steps)

    def true_wh(self, seconds: float) -> float:
        """Return the energy of the load in the first seconds after START."""
        return energy_wh(self._profile, 0.0, seconds)

    def kill(self) -> None:
        """Kill the meter, and switch another on in its place."""
        if self._child.pid is not None:
            os.kill(self._child.pid, signal.SIGKILL)
        self._child.wait(_ANSWER_S)
        _PAUSE.wait(_OFF_S)
        self._child.start()

    def unplug(self, seconds: float) -> None:
        """Break the link for some seconds; the meter integrates on."""
        with (
            socket.create_connection(("127.0.0.1", self._control), timeout=_ANSWER_S) as link,
            link.makefile("rw", encoding="utf-8") as stream,
        ):
            stream.write(f"unplug seconds={seconds:g}\n")
            stream.flush()
            answer = stream.readline().strip()
        if answer != "ok":
            raise OSError(f"the emulated meter said {answer!r}")


class Hall:
    """An event that can be hit; `passwords` are those of its teams.

    `cuts_s` are the moments just before the disk lost its power, in seconds of the boot.
    """

    def __init__(
        self, config: Config, meter: TableMeter, disk: Disk | None, passwords: dict[str, str]
    ) -> None:
        self.config, self.meter, self.disk, self.passwords = config, meter, disk, passwords
        self.host = DrillHost(config)
        self.refused_starts: list[str] = []
        self.cuts_s: list[float] = []

    def hit(self, target: Target, chance: random.Random) -> None:
        """Kill a target. Somebody starts the referee again if nothing is left that would."""
        if target is Target.LINK:
            with suppress(ConnectionRefusedError):  # A meter that was just killed has no link.
                self.meter.unplug(chance.uniform(0.2, 3.0))
        elif target is Target.METER:
            self.meter.kill()
        elif target is Target.SUPERVISOR:
            self._kill([pid for pid, _, _ in self._family()][:1])
            self._start_again(chance)
        elif target is Target.EVERYTHING:
            self.host.cut_power()
            self._start_again(chance)
        elif target is Target.POWER:
            assert self.disk is not None
            self.cuts_s.append(real_elapsed_s())
            self.disk.lose_power()
            self.host.cut_power()
            self.disk.start_again()
            self._start_again(chance)
        else:
            victims = self._victims(target)
            if target is Target.DESK:  # Its arbiter, its worker, or both.
                victims = chance.choice([victims[:1], victims[1:] or victims, victims])
            self._kill(victims)

    def start(self) -> None:
        """Start the referee if it does not run, and wait until it is ready.

        An operator tries again; `refused_starts` has what was said.
        """
        for _ in range(_TRIES):
            self.host.start()
            try:
                self.host.wait_until_ready(lambda: bool(_PAUSE.wait(0.05)))
                return
            except RefereeError as error:
                self.refused_starts.append(str(error))
        raise TimeoutError(f"the referee does not start: {self.refused_starts[-1]}")

    def _start_again(self, chance: random.Random) -> None:
        # The killed process must be known as dead before another one is started.
        while self.host.is_up:
            _PAUSE.wait(0.01)
        _PAUSE.wait(chance.uniform(0.1, 1.0))
        self.host.start()

    def _victims(self, target: Target) -> list[int]:
        """Return the processes of a program; a restarted one may have none for a moment."""
        for _ in range(200):
            found = self._named(target)
            if found:
                return found
            self.host.start()
            _PAUSE.wait(0.05)
        raise AssertionError(f"there is no {target.value}")

    def _named(self, target: Target) -> list[int]:
        family = self._family()
        if target in (Target.DESK, Target.SCORER):
            word = "desk" if target is Target.DESK else "scorer"
            return [pid for pid, _, program in family if program == word]
        masters = [
            pid
            for pid, parent, program in family[1:]
            if program == "contest" and parent == family[0][0]
        ]
        if target is Target.MASTER:
            return masters
        return [pid for pid, parent, _ in family if parent in masters]

    def _family(self) -> list[tuple[int, int, str]]:
        """Return id, parent and program of the referee's processes, the supervisor first."""
        found = []
        for pid, program in self.host.processes():
            with suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text()
                found.append((pid, int(stat.rpartition(")")[2].split()[1]), program))
        return found

    @staticmethod
    def _kill(pids: Sequence[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def open_hall(folder: Path, length_s: int, teams: int, seed: int) -> Iterator[Hall]:
    """Make an event of sessions of this length, and serve it until the block ends."""
    with private_from_the_start(), ExitStack() as stack:
        pictures = generate(folder / "pictures", count=IMAGES, seed=7)
        material = Material(pictures.images, pictures.ground_truth, folder)
        disk = stack.enter_context(mortal_disk(folder, _DISK_MIB))
        meter = stack.enter_context(_meter(folder, seed))
        path = make_event(folder / "disk", material)
        _change(path, length_s, meter.resource)
        config = load_config(path)
        database, _ = prepare_contest(config)
        database.close()
        with opened_contest(config) as contest:
            for number in range(teams):
                add_team(contest, f"team{number}", Registration("bench"), _ORGANISER)
            passwords = new_passwords(contest, [], _ORGANISER)
        os.sync()
        hall = Hall(config, meter, disk, passwords)
        stack.callback(hall.host.stop)
        hall.start()
        yield hall


@contextmanager
def _meter(folder: Path, seed: int) -> Iterator[TableMeter]:
    chance, control = random.Random(f"load {seed}"), free_port()
    steps = ",".join(f"{0.7 * k:.1f}:{chance.uniform(3.0, 9.0):.3f}" for k in range(60))
    options = ["--steps", steps, "--control", str(control), "--seed", str(seed)]
    with emulator("meter", options, folder / "meter.log") as made:
        yield TableMeter(made, control, steps)


def _change(path: Path, length_s: int, resource: str) -> None:
    """Give an event its length, its meter, and ports that a restarted referee keeps."""
    text = path.read_text()
    for before, after in (
        ("seconds = 5\n", f"seconds = {length_s}\n"),
        ('resource = "emulated"', f'resource = "{resource}"'),
        ("shuffle = false", "shuffle = true"),
        ('\ncontest = "127.0.0.1:0"', f'\ncontest = "127.0.0.1:{free_port()}"'),
        ('\nconsole = "127.0.0.1:0"', f'\nconsole = "127.0.0.1:{free_port()}"'),
    ):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path.write_text(text)
