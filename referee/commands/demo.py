# SPDX-License-Identifier: Apache-2.0
"""Run a whole session on this machine: servers, an emulated WT310, a contestant, a score.

The demo needs no input. It generates the pictures, their ground truth and the contestant's
imperfect answers. The servers and the emulated meter are separate processes with real sockets.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from referee.demo.imperfect_answers import write_answers
from referee.demo.scenes import generate
from referee.errors import InputError, Unavailable
from referee.programs.hosting import Host, claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.programs.progress import StatusLine, progress_bar
from referee.service.evidence.bundle import write_bundle
from referee.service.results.result_text import result_text
from referee.service.setup.config import (
    Config,
    ContestSection,
    ImagesSection,
    MeterSection,
    ServerSection,
)
from referee.service.setup.contest import open_contest
from referee.store.database import Database
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import all_sessions
from referee.tracks.network import TRACK

_IMAGES = 200
# The demo's contestant is slow: it does not finish all images in time, like most real contestants.
_IMAGES_PER_SESSION = 160
_LOAD = "0:2.4,0.8:6.8,5:6.1,9:7.3,13:6.4,17:6.9"
_LOOK_S = 0.25
_SETTLE_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--seconds", type=int, default=20, help="length of the session (default: 20)")
    add(
        "--out",
        type=Path,
        default=Path("demo"),
        metavar="DIR",
        help="folder for everything that the demo makes (default: demo)",
    )
    add("--track", choices=("network",), default="network", help="rules (default: network)")
    add("--json", action="store_true", help="print one JSON object at the end")


def run(args: argparse.Namespace) -> int:
    """Run the demo and print its score."""
    if args.seconds < 2:
        raise InputError("A session takes at least 2 seconds: give a larger --seconds.")
    out = args.out.resolve()
    with claimed(out / "data"):
        scenes, answers = _generate(out)
        config = practice_config(
            data=out / "data",
            contest=ContestSection(
                name="Demo", mode="practice", seconds=args.seconds, shuffle=False
            ),
            images=ImagesSection(scenes / "images", scenes / "ground_truth.json"),
            server=ServerSection(contest="127.0.0.1:0", console="127.0.0.1:0"),
            meter=MeterSection(
                update_interval_s=0.25,
                voltage_range_v=150.0,
                current_range_a=0.1,
                emulated_load=_LOAD,
            ),
        )
        _say(f"Starting the servers and an emulated WT310 for a session of {args.seconds} s.")
        with hosted(config) as host:
            _say(f"Contestants reach {host.supervisor.contest_url}; operators look at")
            _say(f"{host.supervisor.console_url} while it runs.")
            scored_before = len(all_sessions(host.database.connection))
            pace_s = args.seconds / _IMAGES_PER_SESSION
            with _device(host, answers, pace_s, out / "device.log") as device:
                scoring_run = _watch(host, device, scored_before, args.seconds)
            bundle = _export(config, host.database, out)
    _tell(scoring_run, bundle, out, as_json=args.json)
    return 0


def _generate(out: Path) -> tuple[Path, Path]:
    scenes = out / "scenes"
    answers = scenes / "answers.json"
    if not answers.exists():
        _say(f"Drawing {_IMAGES} pictures with objects in them into {scenes}.")
        with progress_bar("pictures") as progress:
            made = generate(scenes, count=_IMAGES, progress=progress)
        write_answers(made.ground_truth, answers)
    return scenes, answers


@contextmanager
def _device(
    host: Host, answers: Path, seconds_per_image: float, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the contestant's device in its own process; its output goes into the log."""
    command = [sys.executable, "-m", "referee.demo.device"]
    command += ["--url", host.supervisor.contest_url, "--user", "demo", "--password", "practice"]
    command += ["--answers", str(answers), "--seconds-per-image", str(seconds_per_image)]
    with log.open("wb") as said:
        child = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
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


def _board(console_url: str) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{console_url}/board", timeout=10) as response:
        board: dict[str, Any] = json.load(response)
    return board


def _progress(board: dict[str, Any]) -> str:
    """Return the board as one line of text, or '' before the contestant has logged in."""
    current = board["current"]
    reading = board["meter"]["reading"]
    if current is None or reading is None:
        return ""
    power = "  -  " if reading["power_w"] is None else f"{reading['power_w']:5.2f}"
    mean_ap = "  -  " if current["mean_ap"] is None else f"{current['mean_ap']:.3f}"
    energy = "   -   " if current["energy_wh"] is None else f"{current['energy_wh']:.5f}"
    return (
        f"{current['state']:7}  {current['remaining_s']:5.1f} s left  "
        f"{current['images_fetched']:4} of {board['images']} images  "
        f"{current['detections']:5} detections  {power} W  {energy} Wh  mAP {mean_ap}"
    )


def _export(config: Config, database: Database, out: Path) -> Path:
    session_id = all_sessions(database.connection)[0].session_id
    bundle = out / f"session{session_id}.zip"
    contest = open_contest(config)
    try:
        write_bundle(contest, session_id, bundle)
    finally:
        contest.database.close()
    return bundle


def _tell(scoring_run: ScoringRun, bundle: Path, out: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(dict(scoring_run.detail) | {"evidence": str(bundle)}))
        return
    print(result_text(scoring_run, TRACK))
    print(f"  evidence    {bundle}")
    print(f"  pictures    {out / 'scenes' / 'images'}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
