# SPDX-License-Identifier: Apache-2.0
"""A board over SSH: a real server on loopback, with its own keys and port."""

from __future__ import annotations

import ast
import configparser
import io
import json
import os
import re
import select
import signal
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from referee.cli import main
from referee.errors import InputError, Unavailable
from referee.extras.ovic.commands.ovic import model_options
from referee.extras.ovic.judging.board import address as address_module
from referee.extras.ovic.judging.board import needs
from referee.extras.ovic.judging.board.address import BoardAddress
from referee.extras.ovic.judging.board.board import MODULES, agent_zip, on_board, start_command
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.plan import Plan
from tests.support.programs import SSH
from tests.support.sshd import Server, dying_line, know, make_key, ssh_server

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = [pytest.mark.slow, pytest.mark.needs(SSH)]

PLAN = Plan(warm_up=1, runs=50)
ENDLESS = Plan(warm_up=1, runs=10_000_000)
LIMITS = Limits(seconds=100)

ROOT = Path(__file__).parents[5]
AGENT = "referee.extras.ovic.judging.board.agent"
WORKER = "referee.extras.ovic.judging.worker"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    """Run a server for all tests of this file."""
    with ssh_server(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def files(tmp_path) -> Path:
    """Write a classifier and two images."""
    from tests.support import tflite_models

    (tmp_path / "model.tflite").write_bytes(tflite_models.classifier())
    (tmp_path / "images").mkdir()
    for name in "ab":
        Image.new("RGB", (30, 20), (255, 0, 0)).save(tmp_path / f"images/{name}.png")
    return tmp_path


def measure(address: BoardAddress, files: Path, plan: Plan = PLAN, progress=lambda a, b: None):
    """Connect to a board and measure there."""
    images = sorted((files / "images").iterdir())
    with on_board(address) as timed:
        return timed(files / "model.tflite", images, plan, LIMITS, progress)


@pytest.fixture
def configured(server, monkeypatch) -> None:
    """Name the server's keys, as ~/.ssh/config would: ssh reads that of the real user alone."""
    keys = {"identity": server.address.identity, "known_hosts": server.address.known_hosts}
    monkeypatch.setattr(model_options, "BoardAddress", partial(BoardAddress, **keys))


def options(address: BoardAddress) -> list[str]:
    """Return the address as options of the command."""
    return ["--board", str(address), "--board-python", address.python]


@pytest.mark.usefixtures("configured")
def test_the_command_measures_on_the_board(server, files, capsys):
    """The result has the board's address, machine and versions, and is scored like any other."""
    out = files / "result.json"
    command = ["ovic", "benchmark", str(files / "model.tflite"), "--images", str(files / "images")]
    rules = ["--runs", "50", "--tolerance", "1000", "--out", str(out)]
    assert 0 == main([*command, *options(server.address), *rules])
    assert f"{server.address}: " in capsys.readouterr().out
    written = json.loads(out.read_text())
    machine = written["machine"]
    assert (str(server.address), os.cpu_count()) == (machine["board"], machine["cores"])
    assert {"ai-edge-litert", "numpy", "pillow"} == machine["libraries"].keys()
    assert machine["core"] in os.sched_getaffinity(0)
    score = ["ovic", "score", "--task", "detection", "--accuracy", "25", "--benchmark", str(out)]
    assert 0 == main([*score, "--json"])
    assert written["latency_ms"]["mean"] == json.loads(capsys.readouterr().out)["latency_ms"]


@pytest.mark.usefixtures("configured")
def test_run_takes_the_latency_from_the_board(server, files, capsys):
    """`run` validates and answers here, and its benchmark is the board's."""
    (files / "labels.csv").write_text("a.png,1\nb.png,3\n")
    paths = ["--images", str(files / "images"), "--ground-truth", str(files / "labels.csv")]
    rules = ["--runs", "50", "--tolerance", "1000", "--slower", "1e6", "--json"]
    command = ["ovic", "run", str(files / "model.tflite"), "--task", "classification", *paths]
    assert 0 == main([*command, *options(server.address), *rules])
    report = json.loads(capsys.readouterr().out)
    assert (50.0, True) == (report["accuracy"], report["valid"])
    assert str(server.address) == report["benchmark"]["machine"]["board"]


def test_a_board_that_fails_is_told_before_the_accuracy(files, capsys, monkeypatch):
    """`run` says that the board cannot be reached before it answers thousands of images."""
    answered: list[object] = []
    monkeypatch.setattr("referee.extras.ovic.judging.entry.accuracy_of", answered.append)
    (files / "labels.csv").write_text("a.png,1\nb.png,3\n")
    paths = ["--images", str(files / "images"), "--ground-truth", str(files / "labels.csv")]
    command = ["ovic", "run", str(files / "model.tflite"), "--task", "classification", *paths]
    assert 1 == main([*command, "--board", "127.0.0.1:1", "--slower", "1e6"])
    assert "no SSH server listens there" in capsys.readouterr().err
    assert [] == answered


def test_a_board_needs_no_option_but_its_name(files, capsys):
    """Options that belong to a board are refused without one, and an odd name is refused."""
    command = ["ovic", "benchmark", str(files / "model.tflite"), "--images", str(files / "images")]
    assert 2 == main([*command, "--board-python", "x"])
    assert "--board-python needs a board: add --board HOST" in capsys.readouterr().err
    assert 2 == main([*command, "--board=-oProxyCommand=x"])
    assert "[USER@]HOST[:PORT]" in capsys.readouterr().err


def test_an_unknown_host_key_is_refused(server, files):
    """A board whose key nobody has accepted is not logged in to."""
    unknown = files / "known_hosts"
    unknown.touch()
    with pytest.raises(Unavailable, match="host key is not known: connect once by hand"):
        measure(replace(server.address, known_hosts=unknown), files)


def test_a_changed_host_key_is_refused(server, files):
    """Another key than the known one may be another machine in the board's place."""
    make_key(files / "other")
    know(files / "known_hosts", server.address.port, files / "other")
    with pytest.raises(Unavailable, match="host key is not the one that is known"):
        measure(replace(server.address, known_hosts=files / "known_hosts"), files)


def test_a_key_that_the_board_does_not_accept_is_refused(server, files):
    """Nobody is asked for a password: the sentence says how to set up a key."""
    make_key(files / "stranger")
    with pytest.raises(Unavailable, match="does not accept the login.*ssh-copy-id"):
        measure(replace(server.address, identity=files / "stranger"), files)


def test_files_that_are_not_there_are_named(server, files):
    """A missing key or file of host keys is named before anything is tried."""
    with pytest.raises(InputError, match="nowhere is no file: name a private key"):
        measure(replace(server.address, identity=Path("nowhere")), files)
    with pytest.raises(InputError, match="nowhere is no file: name a file of host keys"):
        measure(replace(server.address, known_hosts=Path("nowhere")), files)


def test_a_board_without_that_python_is_told_so(server, files):
    """The shell's answer becomes a sentence about the option."""
    with pytest.raises(Unavailable, match="cannot run '/no/python'.*--board-python"):
        measure(replace(server.address, python="/no/python"), files)


def test_a_port_where_nobody_listens_is_told(files):
    """A board without an SSH server is told from one that refuses."""
    with pytest.raises(Unavailable, match="no SSH server listens there"):
        measure(BoardAddress("127.0.0.1", port=1), files)


def session_of(server: Server) -> int:
    """Return the server's process that serves the one connection."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return int(children[0])


def family(pid: int) -> list[int]:
    """Return a process, its children, and theirs."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in family(int(child)))]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_a_board_that_goes_away_is_told_and_keeps_no_orphan(server, files):
    """The server's end of the connection dies: a sentence here, and no process there."""
    watched: list[int] = []

    def kill(done: int, total: int) -> None:
        if total == ENDLESS.runs and not watched:
            session, *rest = family(session_of(server))
            watched.extend(map(os.pidfd_open, rest))
            os.kill(session, signal.SIGKILL)

    with pytest.raises(Unavailable, match="the link was lost while measuring"):
        measure(server.address, files, ENDLESS, kill)
    assert len(watched) >= 2
    await_ends(watched)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_an_interruption_ends_the_board_too(server, files):
    """Ctrl-C in the middle leaves no process on the board, and another measurement can start."""
    watched: list[int] = []

    def interrupt(done: int, total: int) -> None:
        if total == ENDLESS.runs:
            watched.extend(map(os.pidfd_open, family(session_of(server))))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(server.address, files, ENDLESS, interrupt)
    await_ends(watched)
    assert 50 == len(measure(server.address, files).rows)


def test_a_cable_that_is_pulled_is_noticed(server, files, monkeypatch):
    """A link that carries nothing any more, and says nothing about it, has an end too."""
    # The server must answer in this time until the line dies, on a busy machine too.
    monkeypatch.setattr(address_module, "KEEP_ALIVE_S", 5)
    monkeypatch.setattr(address_module, "KEEP_ALIVES", 2)
    with dying_line(server.address.port) as (port, die):
        known = files / "known_hosts"
        know(known, port, server.folder / "host")

        def pull(done: int, total: int) -> None:
            if total == ENDLESS.runs:
                die()

        with pytest.raises(Unavailable, match="lost while measuring: Timeout, server"):
            measure(replace(server.address, port=port, known_hosts=known), files, ENDLESS, pull)


def await_ends(watched: list[int]) -> None:
    """Wait until these processes have ended, 180 s at most for each."""
    try:
        for descriptor in watched:
            assert select.select([descriptor], [], [], 180)[0], "a process lives on"
    finally:
        for descriptor in watched:
            with suppress(OSError):
                os.close(descriptor)


def file_of(module: str) -> Path | None:
    """Return the file of one of the project's modules, or None for a name inside a module."""
    base = ROOT.joinpath(*module.split("."))
    found = [it for it in (base.with_suffix(".py"), base / "__init__.py") if it.is_file()]
    return found[0] if found else None


def imported(path: Path) -> set[str]:
    """Return every module of the referee that a file imports when it runs, with its packages."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not is_for_type_checkers(node)]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.partition(".")[0] == "referee"}


def is_for_type_checkers(node: ast.stmt) -> bool:
    """Tell whether a statement never runs: `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def needed(*modules: str) -> set[str]:
    """Return the paths, without suffix, of all that these modules import, through and through."""
    found: set[Path] = set()
    waiting = set(modules)
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            path = file_of(".".join(parts[:depth]))
            if path is not None and path not in found:
                found.add(path)
                waiting |= imported(path)
    return {path.relative_to(ROOT / "referee").with_suffix("").as_posix() for path in found}


def test_the_zip_has_what_the_agent_and_the_worker_import():
    """The list of modules is exactly what a walk through the imports finds."""
    assert needed(AGENT, WORKER, "referee.extras.ovic.judging.board.needs") == set(MODULES)


def test_the_zip_has_the_files_of_this_machine():
    """Each file in the zip is the project's own, byte for byte; the zip is the same each time."""
    with zipfile.ZipFile(io.BytesIO(agent_zip())) as file:
        assert len(file.namelist()) > 3
        for name in file.namelist():
            assert (ROOT / name).read_bytes() == file.read(name)
    assert agent_zip() == agent_zip()
    assert len(agent_zip()) < 100_000


def test_an_old_python_can_read_the_first_lines():
    """The file that tells an old Python to be newer has no newer grammar."""
    source = (ROOT / "referee/extras/ovic/judging/board/start.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 4))
    assert "__future__" not in source


def test_the_command_means_the_same_in_every_shell():
    """Between its single quotes the command has no sign that any shell would change."""
    command = start_command("venv/bin/python3")
    python, quoted, end = re.fullmatch(r"([\w/]+) -c '([^']*)'()", command).groups()
    assert ("venv/bin/python3", "") == (python, end)
    assert re.fullmatch(r'[A-Za-z0-9+/=,;(). "_]+', quoted)
    assert start_command("my python; ls").startswith("'my python; ls' -c ")


def test_the_libraries_are_those_of_the_package():
    """The oldest versions on a board are the lower bounds of the installed package."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    text = setup["options"]["install_requires"] + setup["options.extras_require"]["litert"]
    bounds = dict(re.findall(r"^([\w-]+)>=([\d.]+)$", text, re.MULTILINE))
    ours = {name: ".".join(map(str, oldest)) for name, oldest in needs.OLDEST.items()}
    assert ours == {name: bounds[name] for name in ours}


def test_a_missing_or_old_library_is_named_with_the_command():
    """The sentence has each library with the version that is needed and the one found."""
    found = {"ai-edge-litert": None, "numpy": "1.26.4", "pillow": "13.0"}
    text = needs.what_lacks(found)
    assert "ai-edge-litert>=2.0.2 (found: none), numpy>=2.1 (found: 1.26.4)." in text
    assert text.endswith("-m pip install 'ai-edge-litert>=2.0.2' 'numpy>=2.1'")
    assert "pillow>=13.0 (found: 12.3)" in needs.what_lacks(found | {"pillow": "12.3"})
    assert needs.what_lacks({"ai-edge-litert": "2.1rc1", "numpy": "2.4.6", "pillow": "13"}) is None
