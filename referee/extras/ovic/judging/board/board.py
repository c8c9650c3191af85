# SPDX-License-Identifier: Apache-2.0
"""Measure a model on a board: the code, the model and the images go there once, the runs come back.

The operator's own OpenSSH client makes the connection, so keys, agents, jump hosts and aliases work
as they do by hand. The board runs these very modules: the timed code is the same as on this
machine, and nothing on the board can be of another version of the referee.
"""

from __future__ import annotations

import base64
import inspect
import io
import shlex
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import cast

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging.benchmark import PARTS, Measure, Progress, TimedRuns, unpack_span
from referee.extras.ovic.judging.board import needs, start
from referee.extras.ovic.judging.board.address import BoardAddress, why_ended
from referee.extras.ovic.judging.board.link import Link
from referee.extras.ovic.judging.board.start import MARK
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.jobs import ModelFault
from referee.extras.ovic.judging.machine import JudgingMachine
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.judging.wire import WireError, message, unpack_numbers
from referee.extras.ovic.rules.model_rules import Failure

# Longer than the client's own time-outs, so that it says what is wrong.
_LOGIN_S = 45.0
# A small board imports numpy from a slow card.
_START_S = 60.0
# Beyond the worker's own limit: loading the worker, and the way back.
_GRACE_S = 60.0

MODULES = (
    "__init__",
    "core/__init__",
    "core/bounds",
    "errors",
    "extras/__init__",
    "extras/ovic/__init__",
    "extras/ovic/judging/__init__",
    "extras/ovic/judging/benchmark",
    "extras/ovic/judging/board/__init__",
    "extras/ovic/judging/board/agent",
    "extras/ovic/judging/board/inbox",
    "extras/ovic/judging/board/needs",
    "extras/ovic/judging/confined",
    "extras/ovic/judging/jobs",
    "extras/ovic/judging/machine",
    "extras/ovic/judging/model",
    "extras/ovic/judging/plan",
    "extras/ovic/judging/wire",
    "extras/ovic/judging/worker",
    "extras/ovic/rules/__init__",
    "extras/ovic/rules/latency",
    "extras/ovic/rules/model_rules",
    "extras/ovic/rules/pace",
    "extras/ovic/rules/preprocessing",
    "formats/__init__",
    "formats/image_file",
    "service/__init__",
    "service/setup/__init__",
    "service/setup/program",
)
"""The referee's modules that the agent and the worker import; a test holds this list."""


@contextmanager
def on_board(
    address: BoardAddress, note: Callable[[str], None] = lambda text: None
) -> Iterator[Measure]:
    """Connect, and yield the function that measures on the board.

    `note` gets a sentence about libraries of other versions than here. Raises InputError for an
    unusable address, and Unavailable with a sentence if the board cannot be reached or used.
    """
    ssh = shutil.which("ssh")
    if ssh is None:
        raise InputError("a board needs OpenSSH's client: install the package openssh-client")
    if address.identity is not None and not address.identity.is_file():
        raise InputError(f"{address.identity} is no file: name a private key")
    if address.known_hosts is not None and not address.known_hosts.is_file():
        raise InputError(f"{address.known_hosts} is no file: name a file of host keys")
    command = address.command(ssh, start_command(address.python))
    with closing(Link(command, str(address), partial(why_ended, address))) as link:
        session = BoardSession(address, link)
        session.start(note)
        yield session.measure


class BoardSession:
    """A connection to an agent, which keeps the model and the images between measurements."""

    def __init__(self, address: BoardAddress, link: Link) -> None:
        self._address = address
        self._link = link
        self._sent: tuple[Path, tuple[Path, ...]] | None = None

    def start(self, note: Callable[[str], None]) -> None:
        """Wait for the board, and give it the agent's code."""
        self._link.greet(MARK, "logging in", _LOGIN_S)
        code = agent_zip()
        self._link.send(f"{len(code)}\n".encode() + code, "sending the agent's code")
        libraries = self._expect("libraries", "starting the agent", _START_S).get("libraries")
        self._expect("ready", "starting the agent", _START_S)
        if isinstance(libraries, dict):
            _compare(libraries, note)

    def measure(
        self,
        model: Path,
        images: Sequence[Path],
        plan: Plan,
        limits: Limits,
        progress: Progress,
    ) -> TimedRuns:
        """Let the agent time a model; send model and images the first time.

        Raises InputError for a model that fails, as `measure_here` does.
        """
        sent = (model, tuple(images))
        if self._sent is None:
            self._send_files(model, images, progress)
            self._sent = sent
        elif self._sent != sent:
            raise ValueError("a connection to a board measures one model on one set of images")
        request = message("measure", plan=asdict(plan), limits=asdict(limits))
        self._link.send(request, "measuring")
        answer = self._expect("runs", "measuring", limits.longest_s + _GRACE_S, progress)
        try:
            rows = unpack_numbers(answer.get("rows"), len(PARTS) + 1)
            span = unpack_span(answer.get("ago_s"))
        except WireError as error:
            raise Unavailable(f"{self._address}: {error}") from None
        return TimedRuns(rows, span, self._machine(answer.get("machine")))

    def _machine(self, value: object) -> JudgingMachine:
        """Return what the agent says of its machine, with the address of the board."""
        facts: dict[str, object] = dict(value) if isinstance(value, dict) else {}
        return cast(JudgingMachine, facts | {"board": str(self._address)})

    def _send_files(self, model: Path, images: Sequence[Path], progress: Progress) -> None:
        files = [("model", model), *(("image", image) for image in images)]
        for done, (kind, path) in enumerate(files):
            progress(done, len(files))
            try:
                content = path.read_bytes()
            except OSError as error:
                raise InputError(f"{path} cannot be read: {error.strerror}") from None
            head = message(kind, name=path.name, bytes=len(content))
            self._link.send(head + content, "sending the model and the images")

    def _expect(
        self,
        event: str,
        doing: str,
        wait_s: float,
        progress: Progress = lambda done, total: None,
    ) -> dict[str, object]:
        """Return the next message of a kind; raise what the agent says in its place."""
        while True:
            message = self._link.receive(doing, wait_s)
            if message["event"] == event:
                return message
            if message["event"] == "progress":
                progress(*(_count(message.get(name)) for name in ("done", "total")))
            elif message["event"] == "failed":
                text = f"{self._address}: {message.get('text')}"
                raise _failure(text, message)
            else:
                raise Unavailable(f"{self._address}: the agent sent {message['event']!r:.100}")


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _failure(text: str, answer: dict[str, object]) -> Exception:
    """Return what the agent's message says: a model's fault, another wrong input, or a board's."""
    failure = answer.get("failure")
    if isinstance(failure, dict):
        named = {key: str(failure.get(key)) for key in ("rule", "expected", "found")}
        return ModelFault(text, Failure(**named))
    return InputError(text) if answer.get("kind") == "model" else Unavailable(text)


def _compare(versions: dict[str, object], note: Callable[[str], None]) -> None:
    """Tell which libraries have another version on the board than here."""
    ours = needs.versions()
    for name, version in versions.items():
        if ours.get(name) not in (None, version):
            note(
                f"the board has {name} {version}, this machine {ours[name]}: a model may behave"
                " differently where it is measured and where it is validated"
            )


def agent_zip() -> bytes:
    """Return the modules as a zip that Python imports from."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name in MODULES:
            source = files("referee").joinpath(f"{name}.py").read_bytes()
            # A fixed date: the same code gives the same bytes.
            file.writestr(zipfile.ZipInfo(f"referee/{name}.py"), source, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def start_command(python: str) -> str:
    """Return the line for the board's shell that runs `start.py` with a Python.

    The text has letters, digits and a few signs that mean the same in every shell.
    """
    packed = base64.b64encode(zlib.compress(inspect.getsource(start).encode(), 9)).decode()
    code = f'import base64,zlib;exec(zlib.decompress(base64.b64decode("{packed}")))'
    return f"{shlex.quote(python)} -c '{code}'"
