# SPDX-License-Identifier: Apache-2.0
"""Contests of generated pictures, made once, and rehearsals and events of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee.demo.imperfect_answers import write_answers
from referee.demo.scenes import generate
from tests.support import started
from tests.support.running import Program, program, referee

IMAGES = 12

_DISK = "300m"  # A rehearsal needs 256 MiB of free space before a session.


@dataclass(frozen=True)
class Material:
    """The files of a generated contest, and of a contestant's answers to it."""

    images: Path
    ground_truth: Path
    answers: Path


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """Return a contest of a dozen generated pictures with answers to them."""
    folder = tmp_path_factory.mktemp("scenes")
    scenes = generate(folder, count=IMAGES, seed=7)
    answers = folder / "answers.json"
    write_answers(scenes.ground_truth, answers, seed=7)
    return Material(scenes.images, scenes.ground_truth, answers)


Rehearse = Callable[..., Program]
_Places = tuple[Path | None, Path | None]


def _practice(
    folder: Path, material: Material, options: tuple[str, ...], places: _Places
) -> AbstractContextManager[Program]:
    """Run `referee practice` on free ports, with its data below a folder."""
    images, truth = places
    arguments = ["practice", "--contest", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    arguments += ["--images", str(images or material.images)]
    arguments += ["--ground-truth", str(truth or material.ground_truth)]
    arguments += ["--data", str(folder / "data"), *options]
    return program(arguments, folder)


@pytest.fixture
def rehearse(tmp_path: Path, material: Material) -> Iterator[Rehearse]:
    """Return a function that starts `referee practice` on free ports, stopped after the test."""
    with ExitStack() as stack:

        def start(*options: str, images: Path | None = None, truth: Path | None = None) -> Program:
            running = _practice(tmp_path, material, options, (images, truth))
            return stack.enter_context(running)

        yield start


@pytest.fixture
def as_users_start() -> Iterator[None]:
    """Let programs load everything themselves: these tests are about their beginning and end."""
    with started.as_users_start():
        yield


@pytest.fixture(scope="module")
def _standing(tmp_path_factory: pytest.TempPathFactory, material: Material) -> Iterator[Rehearse]:
    with ExitStack() as stack:
        started: dict[object, Program] = {}

        def start(*options: str, images: Path | None = None, truth: Path | None = None) -> Program:
            key = (options, images, truth)
            if key not in started:
                folder = tmp_path_factory.mktemp("standing")
                running = _practice(folder, material, options, (images, truth))
                started[key] = stack.enter_context(running)
            return started[key]

        yield start


@pytest.fixture
def standing(_standing: Rehearse) -> Iterator[Rehearse]:
    """Return a function like `rehearse`, whose rehearsals the tests of a module share.

    A rehearsal takes seconds to start. A test finds it without a running session, and leaves it so.
    """
    used: list[Program] = []

    def start(*options: str, images: Path | None = None, truth: Path | None = None) -> Program:
        used.append(_standing(*options, images=images, truth=truth))
        return used[-1]

    yield start
    for running in used:
        running.stop_session()


@pytest.fixture
def event(tmp_path: Path, material: Material) -> Path:
    """Return the configuration of an event, made with the commands of an organiser."""
    return make_event(tmp_path, material)


def make_event(folder: Path, material: Material) -> Path:
    """Make an event in a folder and return its configuration."""
    assert referee("init", str(folder / "event")).returncode == 0
    path = folder / "event" / "contest.toml"
    text = path.read_text()
    for key, value in {
        "seconds": "5",
        "folder = .images.": f'folder = "{material.images}"',
        "ground_truth": f'"{material.ground_truth}"',
        "contest": '"127.0.0.1:0"',
        "console": '"127.0.0.1:0"',
        "update_interval_s": "0.25",
        "shuffle": "false",
    }.items():
        if "=" in key:
            text, count = re.subn(f"(?m)^{key}$", value, text)
        else:
            text, count = re.subn(f"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert count == 1, key
    path.write_text(text)
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a file system of its own; skip where none can be mounted."""
    folder = tmp_path / "data"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here: run the tests as root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
