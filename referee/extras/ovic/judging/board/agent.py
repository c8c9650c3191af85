# SPDX-License-Identifier: Apache-2.0
"""The agent on a board: it keeps a model and images, and times them as this machine would.

`start.py` runs it. It speaks lines of JSON over standard input and output. It ends, and its worker
with it, when the link ends or falls silent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from referee.errors import RefereeError, Unavailable
from referee.extras.ovic.judging.benchmark import measure_here
from referee.extras.ovic.judging.board.inbox import Inbox, LinkEnded
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.jobs import ModelFault
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.judging.wire import message

_STDIN, _STDOUT = 0, 1
# Each message wakes the board's SSH server, which must not disturb the runs.
_PROGRESS_EVERY_S = 0.5


def main(folder: str) -> None:
    """Serve until the link ends."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _end)
    try:
        Agent(Path(folder), Inbox(_STDIN)).serve()
    # Nobody is left to tell; what the agent has stored goes with it.
    except (LinkEnded, BrokenPipeError):
        pass


def _end(number: int, frame: FrameType | None) -> None:
    """Unwind the stack once, so that the worker is killed and the folder is emptied."""
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(1)


class Agent:
    """What the agent keeps between messages: the files of a model and of images."""

    def __init__(self, folder: Path, inbox: Inbox) -> None:
        self._folder = folder / "files"
        self._inbox = inbox
        self._model: Path | None = None
        self._images: list[Path] = []

    def serve(self) -> None:
        """Answer messages, in their order, until the link ends."""
        self._folder.mkdir()
        _say("ready")
        while True:
            request = self._inbox.line()
            kind = request.get("event")
            try:
                if kind == "model":
                    self._model = self._store(request, Path(str(request["name"])).name)
                elif kind == "image":
                    # Each has a folder of its own, so that messages have the image's own name.
                    name = f"{len(self._images)}/{Path(str(request['name'])).name}"
                    self._images.append(self._store(request, name))
                elif kind == "measure":
                    self._measure(request)
            except OSError as error:
                _say("failed", kind="board", text=f"a file cannot be stored there: {error}")
                return

    def _store(self, request: dict[str, Any], name: str) -> Path:
        """Write the bytes that follow a message to a file of their own."""
        path = self._folder / str(request["event"]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._inbox.content(int(request["bytes"])))
        return path

    def _measure(self, request: dict[str, Any]) -> None:
        if self._model is None:
            raise LinkEnded
        plan, limits = Plan(**request["plan"]), Limits(**request["limits"])
        with _watched(self._inbox):
            try:
                runs = measure_here(self._model, self._images, plan, limits, _Progress())
            except ModelFault as fault:
                _say("failed", kind="model", text=str(fault), failure=vars(fault.failure))
            except Unavailable as error:
                _say("failed", kind="board", text=str(error))
            except RefereeError as error:
                _say("failed", kind="model", text=str(error))
            else:
                _say("runs", rows=runs.rows, ago_s=runs.span_ago_s, machine=runs.machine)


class _Progress:
    """Tells how far the runs are, now and then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due_s = 0.0

    def __call__(self, done: int, total: int) -> None:
        if self._clock() >= self._due_s:
            self._due_s = self._clock() + _PROGRESS_EVERY_S
            _say("progress", done=done, total=total)


@contextlib.contextmanager
def _watched(inbox: Inbox) -> Iterator[None]:
    """End this process if the link ends meanwhile: a thread keeps reading what comes."""
    done, finish = os.pipe()
    watch = threading.Thread(target=_watch, args=(inbox, done), name="link")
    watch.start()
    try:
        yield
    finally:
        os.close(finish)
        watch.join()
        os.close(done)


def _watch(inbox: Inbox, done: int) -> None:
    try:
        while inbox.take(wake=done):
            pass
    except LinkEnded:
        os.kill(os.getpid(), signal.SIGTERM)


def _say(event: str, **fields: Any) -> None:
    text = message(event, **fields)
    while text:
        text = text[os.write(_STDOUT, text) :]
