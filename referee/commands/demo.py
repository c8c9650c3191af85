# SPDX-License-Identifier: Apache-2.0
"""Run a whole session on this machine: servers, an emulated WT310, a contestant, a score.

The demo needs no input. It generates the pictures and their ground truth. The servers, the emulated
meter and the contestant are separate processes with real sockets. On the network track the
contestant's imperfect answers are generated too. On the camera track Chromium shows the display
page, a simulated camera photographs it, and a small detector looks at the photographs.

  referee demo
  referee demo --seconds 1m --track camera --out camera-demo
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from power.commands.seconds import whole_seconds
from power.http_request import answered
from referee.demo.imperfect_answers import write_answers
from referee.errors import InputError, Unavailable
from referee.programs.emulator import range_for
from referee.programs.practice_folder import practice_config
from referee.programs.progress import StatusLine, progress_bar
from referee.service.setup.config import Config, ContestSection, ImagesSection, ServerSection
from referee.service.setup.contest import open_contest
from referee.service.setup.lane_config import MeterSection
from referee.service.setup.real_path import real_path
from referee.service.setup.whole_files import replace_file
from referee.store.database import Database
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import all_sessions

if TYPE_CHECKING:
    from referee.programs.hosting import Host
    from referee.service.board.shown import ShownBoard

_IMAGES = 200
# The demo's contestant is slow: it does not finish all images in time, like most real contestants.
_IMAGES_PER_SESSION = 160
_LOAD = "0:2.4,0.8:6.8,5:6.1,9:7.3,13:6.4,17:6.9"
_LOOK_S = 0.25
_SETTLE_S = 60.0
_END_S = 10.0
_SHOWN = 16  # pictures of the camera demo: its simulated camera sees one in a second or two
_TRAINING = 100
_CAMERA_DEVICE = "referee.demo.camera_device"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "--seconds",
        type=whole_seconds,
        default=20,
        metavar="DURATION",
        help="length of the session (default: 20)",
    )
    add(
        "--out",
        type=Path,
        default=Path("demo"),
        metavar="DIR",
        help="folder for everything that the demo makes (default: demo)",
    )
    add(
        "--track", choices=("network", "camera"), default="network", help="rules (default: network)"
    )
    add("--json", action="store_true", help="print one JSON object at the end")


def run(args: argparse.Namespace) -> int:
    """Run the demo and print its score."""
    from referee.demo.screen import missing_for_camera
    from referee.programs.forked import forked_for
    from referee.programs.hosting import claimed, hosted

    if args.seconds < 2:
        raise InputError("A session takes at least 2 seconds: give a larger --seconds.")
    lacking = missing_for_camera() if args.track == "camera" else ""
    if lacking:
        raise InputError(lacking)
    out = real_path(args.out)
    with claimed(out / "data"):
        played = _network(out, args) if args.track == "network" else _camera(out, args)
        scenes = played.scenes
        config = practice_config(
            data=out / "data",
            contest=ContestSection(
                name="Demo",
                mode="practice",
                track=args.track,
                seconds=args.seconds,
                shuffle=False,
            ),
            images=ImagesSection(scenes / "images", scenes / "ground_truth.json"),
            server=ServerSection(contest="127.0.0.1:0", console="127.0.0.1:0"),
            meter=MeterSection(
                update_interval_s=0.25,
                voltage_range_v=150.0,
                current_range_a=range_for(_LOAD),
                emulated_load=_LOAD,
            ),
        )
        _say(f"Starting the servers and an emulated WT310 for a session of {args.seconds} s.")
        with forked_for(config) as forked, hosted(config, forked=forked) as host:
            _say(f"Contestants reach {host.supervisor.contest_url}; operators look at")
            _say(f"{host.supervisor.console_url} while it runs.")
            scored_before = len(all_sessions(host.database.connection))
            with _device(host, played.device, out / "device.log") as device:
                scoring_run = _watch(host, device, scored_before, args.seconds)
                if played.as_files is not None:
                    device.wait(_SETTLE_S)
            made = _keep(config, host.database, scoring_run, played, out)
    _tell(scoring_run, made, played, as_json=args.json)
    return 0


@dataclass(frozen=True)
class _Played:
    """What a track plays: its pictures, its contestant's command, and a comparison.

    `as_files` is where the contestant writes what its detector finds in the images as files.
    """

    scenes: Path
    device: list[str]
    as_files: Path | None = None


def _network(out: Path, args: argparse.Namespace) -> _Played:
    scenes, answers = _generate(out)
    pace_s = args.seconds / _IMAGES_PER_SESSION
    device = ["referee.demo.device", "--answers", str(answers), "--seconds-per-image", str(pace_s)]
    return _Played(scenes, device)


def _camera(out: Path, args: argparse.Namespace) -> _Played:
    from referee.demo.scenes import generate
    from referee.demo.signs import SIGNS

    scenes, training = out / "camera_scenes", out / "camera_training"
    for folder, count, seed in ((scenes, _SHOWN, 2015), (training, _TRAINING, 2016)):
        if not (folder / "ground_truth.json").exists():
            _say(f"Drawing {count} pictures with signs in them into {folder}.")
            with progress_bar("pictures") as progress:
                generate(folder, count=count, seed=seed, subject=SIGNS, progress=progress)
    as_files = out / "camera_as_files.json"
    as_files.unlink(missing_ok=True)
    device = [_CAMERA_DEVICE, "--training", str(training)]
    device += ["--images", str(scenes / "images"), "--as-files", str(as_files)]
    return _Played(scenes, device, as_files)


def _generate(out: Path) -> tuple[Path, Path]:
    from referee.demo.scenes import generate

    scenes = out / "scenes"
    answers = scenes / "answers.json"
    if not answers.exists():
        _say(f"Drawing {_IMAGES} pictures with objects in them into {scenes}.")
        with progress_bar("pictures") as progress:
            made = generate(scenes, count=_IMAGES, progress=progress)
        write_answers(made.ground_truth, answers)
    return scenes, answers


@contextmanager
def _device(host: Host, program: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the contestant's device in its own process; its output goes into the log."""
    command = [sys.executable, "-m", *program, "--url", host.supervisor.contest_url]
    command += ["--user", "demo", "--password", "practice"]
    if program[0] == _CAMERA_DEVICE:
        command += ["--console", host.supervisor.console_url]
    with log.open("wb") as said:
        child = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
        try:
            child.wait(_END_S)
        finally:
            # Whatever the contestant has started is in its group: a browser, for example.
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _watch(host: Host, device: subprocess.Popen[bytes], before: int, seconds: int) -> ScoringRun:
    """Show the session's progress until it is scored."""
    connection = host.database.connection
    status = StatusLine(every_s=seconds / 10)
    deadline = time.monotonic() + seconds + _SETTLE_S
    while time.monotonic() < deadline:
        if device.poll() not in (None, 0):
            raise Unavailable("The contestant's device failed; its device.log says why.")
        sessions = all_sessions(connection)
        if len(sessions) > before:
            scoring_run = newest_scoring_run(connection, sessions[0].session_id)
            if scoring_run is not None:
                status.clear()
                return scoring_run
        text = _progress(_board(host.supervisor.console_url))
        if text:
            status.show(text)
        time.sleep(_LOOK_S)
    raise Unavailable("The session was not scored in time; see the logs in data/logs.")


def _board(console_url: str) -> ShownBoard:
    # It knows the track's types, and so loads numpy.
    from referee.service.board.shown import ShownBoard

    with answered(f"{console_url}/board", timeout_s=10) as answer:
        return msgspec.json.decode(answer.read(), type=ShownBoard)


def _progress(board: ShownBoard) -> str:
    """Return the board as one line of text, or '' before the contestant has logged in."""
    (lane,) = board.lanes
    current, reading = lane.current, lane.meter.reading
    if current is None or reading is None:
        return ""
    power = "  -  " if reading["power_w"] is None else f"{reading['power_w']:5.2f}"
    mean_ap = "  -  " if current.mean_ap is None else f"{current.mean_ap:.3f}"
    energy = "   -   " if current.energy_wh is None else f"{current.energy_wh:.5f}"
    return (
        f"{current.state:7}  {current.remaining_s:5.1f} s left  "
        f"{current.images_fetched:4} of {board.images} images  "
        f"{current.detections:5} detections  {power} W  {energy} Wh  mAP {mean_ap}"
    )


@dataclass(frozen=True)
class _Made:
    """What the demo leaves: the session's bundle, a page of its result, and what to try next."""

    bundle: Path
    page: Path
    next: tuple[str, ...]


def _keep(config: Config, database: Database, run: ScoringRun, played: _Played, out: Path) -> _Made:
    """Write the bundle of the session and the page of its result."""
    # The library of charts is slow to import, and the servers shall not wait for it.
    from referee.programs.demo_page import demo_page
    from referee.service.evidence.bundle import write_bundle
    from referee.service.evidence.kept_bundle import free_path

    session_id = all_sessions(database.connection)[0].session_id
    contest = open_contest(config)
    try:
        bundle = free_path(contest, session_id, out)
        commands = _next_commands(session_id, bundle, played, out)
        made = _Made(bundle, out / "result.html", commands)
        write_bundle(contest, session_id, made.bundle)
        page = demo_page(contest, session_id, run, made.next)
        replace_file(made.page, page.encode("utf-8"), 0o644)
    finally:
        contest.database.close()
    return made


def _next_commands(session_id: int, made: Path, played: _Played, out: Path) -> tuple[str, ...]:
    """Return three commands to go on with, as they work in this terminal."""
    scenes = played.scenes
    track = ["--track", "camera"] if played.as_files is not None else []
    truth, bundle = _short(scenes / "ground_truth.json"), _short(made)
    data, images = _short(out / "data"), _short(scenes / "images")
    return tuple(
        shlex.join([_program(), *words])
        for words in (
            ["verify", bundle, "--ground-truth", truth],
            ["explain", str(session_id), "--data", data, "--out", _short(out / "explained")],
            ["practice", *track, "--images", images, "--ground-truth", truth],
        )
    )


def _program() -> str:
    """Return how this terminal starts the referee; outside its environment by its whole path."""
    script = Path(sys.executable).parent / "referee"
    if not script.exists():
        return "referee"
    installed = shutil.which("referee")
    return (
        "referee" if installed is not None and Path(installed).samefile(script) else _short(script)
    )


def _short(path: Path) -> str:
    """Return a path from the working folder, if it lies there."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _tell(scoring_run: ScoringRun, made: _Made, played: _Played, *, as_json: bool) -> None:
    from referee.service.results.result_text import result_text
    from referee.tracks.network import TRACK

    as_files = _mean_ap_of_files(played)
    if as_json:
        more = {"evidence": str(made.bundle), "page": str(made.page)}
        compared = {} if as_files is None else {"mean_ap_as_files": as_files}
        print(json.dumps(dict(scoring_run.detail) | more | compared))
        return
    print(result_text(scoring_run, TRACK))
    if as_files is not None:
        print(f"  as files    mAP {as_files:.6f}: the same detector on the same images, no camera")
    print(f"  evidence    {made.bundle}")
    print(f"  pictures    {played.scenes / 'images'}")
    print(f"  page        {made.page}: open it in a browser")
    print("Next:")
    for command in made.next:
        print(f"  {command}")


def _mean_ap_of_files(played: _Played) -> float | None:
    """Return the mAP of the detector on the images as files; None on the network track."""
    from referee.formats.answer_formats import JSON
    from referee.formats.ground_truth import read_ground_truth
    from referee.tracks.network import TRACK

    if played.as_files is None:
        return None
    if not played.as_files.exists():
        raise Unavailable("The contestant's device has not finished; its device.log says why.")
    scorer = TRACK.scorer(read_ground_truth(played.scenes / "ground_truth.json").truth)
    scorer.add(TRACK.parse(JSON, played.as_files.read_bytes()))
    return scorer.outcome().accuracy


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
