# SPDX-License-Identifier: Apache-2.0
"""The agent measures as this machine does, serves one at a time, and leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PIL import Image

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging.benchmark import benchmark
from referee.extras.ovic.judging.board import needs
from referee.extras.ovic.judging.board.address import BoardAddress
from referee.extras.ovic.judging.board.board import BoardSession, start_command
from referee.extras.ovic.judging.board.inbox import Inbox, LinkEnded
from referee.extras.ovic.judging.board.link import Link
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.plan import Plan

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = pytest.mark.slow

PLAN = Plan(warm_up=1, runs=50)
ENDLESS = Plan(warm_up=1, runs=10_000_000)
LIMITS = Limits(seconds=100)
START = start_command(sys.executable)


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """Write a classifier and two images, and let the board's temporary folder be here."""
    from tests.support import tflite_models

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "model.tflite").write_bytes(tflite_models.classifier())
    for name in "ab":
        Image.new("RGB", (30, 20), (255, 0, 0)).save(tmp_path / f"{name}.png")
    return tmp_path


@contextmanager
def session(command: str = START) -> Iterator[BoardSession]:
    """Yield a session with an agent that a shell on this machine runs, without SSH."""

    def explain(code: int, errors: str, doing: str) -> str:
        return f"{doing}: {code} {errors.strip()}"

    with closing(Link(["sh", "-c", command], "pi", explain)) as link:
        found = BoardSession(BoardAddress("pi"), link)
        found.start(lambda text: None)
        yield found


def images(files: Path) -> list[Path]:
    """Return the images."""
    return [files / "a.png", files / "b.png"]


def own_folder(files: Path) -> Path:
    """Return the agent's folder."""
    return files / f"referee-board-{os.getuid()}"


def test_a_model_is_measured_twice_over_one_connection(files):
    """Model and images go to the agent once; nothing but the lock stays there."""
    seen = []
    with session() as board:
        for _ in range(2):
            found = benchmark(
                files / "model.tflite",
                images(files),
                PLAN,
                LIMITS,
                lambda done, total: seen.append((done, total)),
                board.measure,
            )
            assert (50, 2) == (found.latency.runs, found.images)
        stored = sorted(path.name for path in own_folder(files).rglob("*") if path.is_file())
    assert ["a.png", "agent.zip", "b.png", "lock", "model.tflite"] == stored
    assert ["lock"] == os.listdir(own_folder(files))
    # Three files are sent once, and each measurement tells how far it is.
    assert [(0, 3), (1, 3), (2, 3)] == seen[:3]
    assert {50} == {total for _, total in seen[3:]} and len(seen) >= 5
    assert {"pi"} == {found.machine["board"]}
    assert {"ai-edge-litert", "numpy", "pillow"} == found.machine["libraries"].keys()


def test_a_model_that_fails_there_is_refused_as_here(files):
    """A broken model is the model's fault, by its own name, and the agent goes on."""
    (files / "broken.tflite").write_bytes(b"1234TFL3")
    with session() as board:
        with pytest.raises(InputError, match="pi: broken.tflite cannot be measured: load"):
            board.measure(
                files / "broken.tflite", images(files), PLAN, LIMITS, lambda done, total: None
            )


def test_an_image_that_cannot_be_read_has_its_own_name(files):
    """Whoever repairs it knows nothing of the copy in the board's temporary folder."""
    (files / "b.png").write_bytes(b"no picture")
    with session() as board, pytest.raises(InputError, match=r"the image b\.png cannot be") as told:
        board.measure(files / "model.tflite", images(files), PLAN, LIMITS, lambda done, total: None)
    assert str(own_folder(files)) not in str(told.value)


def test_a_core_that_is_not_there_is_named(files):
    """The board's own cores count."""
    plan = Plan(runs=50, core=4095)
    with session() as board, pytest.raises(InputError, match="core 4095 is not available"):
        board.measure(files / "model.tflite", images(files), plan, LIMITS, lambda done, total: None)


def test_another_model_needs_another_connection(files):
    """A connection measures what it was given first."""
    with session() as board:
        board.measure(files / "model.tflite", images(files), PLAN, LIMITS, lambda done, total: None)
        with pytest.raises(ValueError, match="one model"):
            board.measure(files / "x.tflite", images(files), PLAN, LIMITS, lambda a, b: None)


def test_one_measurement_runs_at_a_time(files):
    """A second agent of the same user is told to wait, and disturbs nothing."""
    with session() as board:
        with pytest.raises(Unavailable, match="another measurement runs on it"), session():
            pass
        board.measure(files / "model.tflite", images(files), PLAN, LIMITS, lambda done, total: None)


def test_what_a_killed_agent_left_is_removed(files):
    """The next agent empties the folder."""
    left = own_folder(files) / "files/image"
    left.mkdir(parents=True)
    own_folder(files).chmod(0o700)
    (left / "7").write_bytes(b"left")
    with session():
        assert not (left / "7").exists()


def test_a_folder_that_others_may_enter_is_not_used(files):
    """Nobody can put code in the agent's way."""
    own_folder(files).mkdir()
    own_folder(files).chmod(0o755)
    with pytest.raises(Unavailable, match="others may enter it"), session():
        pass


def test_a_copy_of_the_project_in_the_home_folder_is_not_used(files, monkeypatch):
    """The board runs the code that it was sent, whatever lies in its working folder."""
    (files / "referee").mkdir()
    (files / "referee/__init__.py").write_text("raise SystemExit('the wrong code')")
    monkeypatch.chdir(files)
    with session() as board:
        board.measure(files / "model.tflite", images(files), PLAN, LIMITS, lambda done, total: None)


def test_an_old_python_is_told_its_age(files):
    """A Python that is too old is refused in its own first lines."""
    from referee.extras.ovic.judging.board import start

    source = Path(start.__file__).read_text().replace("OLDEST = (3, 11)", "OLDEST = (9, 9)")
    (files / "start.py").write_text(source)
    with pytest.raises(Unavailable, match="older than 9.9"):
        with session(f"{sys.executable} {files / 'start.py'}"):
            pass


def test_missing_libraries_are_named(files):
    """A Python without the libraries is told which, and how to install them."""
    with pytest.raises(Unavailable, match=r"ai-edge-litert>=2.0.2 \(found: none\).*pip install"):
        with session(START.replace(" -c ", " -S -c ", 1)):
            pass


def test_other_versions_than_here_are_told(files, monkeypatch):
    """A library of another version on the board is a note, and no fault."""
    notes: list[str] = []
    here = needs.versions()
    monkeypatch.setattr(needs, "versions", lambda: here | {"numpy": "1.0", "pillow": None})
    with closing(Link(["sh", "-c", START], "pi", lambda code, errors, doing: doing)) as link:
        BoardSession(BoardAddress("pi"), link).start(notes.append)
    (note,) = notes
    assert f"the board has numpy {here['numpy']}, this machine 1.0" in note


def test_a_full_disk_is_told(files):
    """A board that cannot store a file says so."""
    (files / "model.tflite").write_bytes(bytes(2_000_000))
    with session(f"ulimit -f 1000; {START}") as board:
        with pytest.raises(Unavailable, match="cannot be stored there"):
            board.measure(files / "model.tflite", images(files), PLAN, LIMITS, lambda a, b: None)


def family(pid: int) -> list[int]:
    """Return a process, its children, and theirs."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in family(int(child)))]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGHUP"])
def test_the_worker_ends_with_the_link(files, how):
    """In the middle of a measurement the link ends: agent and worker end, the folder is empty."""
    watched: list[int] = []

    def stop(done: int, total: int) -> None:
        if total != ENDLESS.runs or watched:
            return
        pids = family(board._link._process.pid)
        watched.extend(map(os.pidfd_open, pids))
        agent = pids[-2]
        if how == "end of input":
            board._link._stdin.close()
            raise KeyboardInterrupt
        os.kill(agent, getattr(signal, how))

    with pytest.raises((KeyboardInterrupt, Unavailable)), session() as board:
        board.measure(files / "model.tflite", images(files), ENDLESS, LIMITS, stop)
    try:
        assert len(watched) >= 2
        ready: set[int] = set()
        while len(ready) < len(watched):
            ended = select.select(list(set(watched) - ready), [], [], 180)[0]
            assert ended, "the agent or its worker lives on"
            ready.update(ended)
    finally:
        for descriptor in watched:
            os.close(descriptor)
    assert ["lock"] == os.listdir(own_folder(files))


def test_a_silent_link_is_a_dead_one():
    """An open link on which nothing comes is given up."""
    near, far = os.pipe()
    try:
        with pytest.raises(LinkEnded):
            Inbox(near, silence_s=0.05).line()
    finally:
        os.close(near)
        os.close(far)


@pytest.mark.parametrize("content", [b"", b"{", b"noise\n", b"[1]\n", b"\xff\n", b"x" * 200_000])
def test_what_no_referee_writes_ends_the_link(content):
    """A line that is no message, or has no end, is the end."""
    near, far = os.pipe()
    if os.fork() == 0:
        try:
            os.close(near)
            os.write(far, content)
        finally:
            os._exit(0)
    os.close(far)
    try:
        with pytest.raises(LinkEnded):
            Inbox(near, silence_s=180).line()
    finally:
        os.close(near)
        os.wait()


def test_bytes_after_a_line_belong_to_the_file():
    """A line and the bytes behind it come apart at the right place, however they arrive."""
    near, far = os.pipe()
    os.write(far, b'{"event": "model"}\n\n{\x00{"event": "alive"}\n')
    inbox = Inbox(near, silence_s=180)
    assert {"event": "model"} == inbox.line()
    assert b"\n{\x00" == inbox.content(3)
    assert {"event": "alive"} == inbox.line()
    os.close(far)
    os.close(near)
