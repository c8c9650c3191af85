# SPDX-License-Identifier: Apache-2.0
"""What a program of a contest is: a process that the supervisor starts and looks after."""

from __future__ import annotations

import ctypes
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.service.setup.config import Config

_PR_SET_PDEATHSIG = 1  # prctl(2)


@dataclass(frozen=True)
class Launch:
    """What the supervisor tells a program: its socket, its lane, and the lanes' meters and ports.

    A program without a socket gets the descriptor -1. `parent` is the supervisor's process.
    """

    descriptor: int = -1
    lane: int = 1
    meters: Sequence[str] = ()
    contests: Sequence[str] = ()
    parent: int = 0


@dataclass(frozen=True)
class Later:
    """The function `module:name`, whose module is imported when it is first called.

    So each process imports its own program alone: it starts fast and takes less memory.
    """

    name: str

    def __call__(self, *args: Any) -> Any:
        return self.load()(*args)

    def load(self) -> Callable[..., Any]:
        """Return the function itself."""
        loaded: Callable[..., Any] = pkgutil.resolve_name(self.name)
        return loaded


@dataclass(frozen=True)
class Program:
    """A program: its name as `referee process` knows it, its title in messages, and what it runs.

    `run` takes the configuration and a `Launch`, and returns at SIGTERM. `when` tells whether the
    supervisor starts it for a contest. `listens` returns the address and the purpose of each of its
    sockets; a program `of_lanes` has a process for each lane, with one socket. A program with a
    `niceness` stands back behind the others.
    """

    name: str
    title: str
    run: Later
    when: Callable[[Config], bool] = lambda config: True
    listens: Callable[[Config], Sequence[tuple[str, str]]] = lambda config: ()
    of_lanes: bool = False
    niceness: int = 0


def command_of(program: str, config: Config, *options: str) -> list[str]:
    """Return the command line that runs a program for this process."""
    words = [sys.executable, "-m", "referee", "process", program, *options]
    return [*words, "--config", str(config.path), "--parent", str(os.getpid())]


def stop_with_parent(parent_pid: int, by: int = signal.SIGTERM) -> None:
    """Ask the kernel to stop this process by a signal when its parent dies, even by SIGKILL.

    Only Linux does this. Everywhere a parent that is gone already ends this process at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
    if os.getppid() != parent_pid:
        raise SystemExit("the program that started this one is gone already")
