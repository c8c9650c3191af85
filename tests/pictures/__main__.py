# SPDX-License-Identifier: Apache-2.0
"""Play an event of two stations, a rehearsal and a recording, and take the documents' pictures.

Everything is real but the meters and the devices, which are emulated: programs, clients, faults,
clocks and Chromium. So what the pictures say agrees. It takes some minutes. The picture of
a session in the design is drawn, and `--drawn` makes it alone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

from selenium import webdriver

from power.logs.journal import JOURNAL_VARIABLE
from referee.demo.imperfect_answers import write_answers
from referee.demo.scenes import generate
from tests.e2e.conftest import Material
from tests.pictures.album import Album
from tests.pictures.alone import camera_frame, recording, rehearsal, season
from tests.pictures.console import ceremony, joint_board, one_lane, two_lanes
from tests.pictures.session import DRAWN, picture
from tests.pictures.station import IMAGES, Station, meter_on_the_table
from tests.support.browsing import be_screen, chromium

TOKYO = ("Night Owls", "Red Kites", "Grey Herons", "Swifts")
PARIS = ("Larks", "Terns")


def main() -> None:
    """Take all pictures into the folder of the documents, or another one."""
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description=__doc__)
    docs = Path(__file__).parents[2] / "docs"
    parser.add_argument("--out", type=Path, default=docs, help="folder (default: docs)")
    parser.add_argument("--drawn", action="store_true", help="only what needs no event")
    args = parser.parse_args()
    (args.out / DRAWN).write_text(picture(), encoding="utf-8")
    if args.drawn:
        return
    album = Album(args.out)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        acting, watching = (stack.enter_context(chromium(whole=True)) for _ in range(2))
        # The records name who gave a command, and the meters' journal is this event's own.
        os.environ |= {"LOGNAME": "Kim", JOURNAL_VARIABLE: str(folder / "runs.jsonl")}
        for browser in (acting, watching):
            be_screen(browser, 1366, 768)
        scenes = generate(folder / "scenes", count=IMAGES, seed=7)
        answers = folder / "answers.json"
        write_answers(scenes.ground_truth, answers, seed=7)
        material = Material(scenes.images, scenes.ground_truth, answers)
        camera_frame(album, folder, material)
        _event(album, folder, material, acting, watching)
        rehearsal(album, folder, material, acting)
        recording(album, folder, watching)
        season(album, folder, watching)
    album.require_whole()


def _event(
    album: Album,
    folder: Path,
    material: Material,
    acting: webdriver.Chrome,
    watching: webdriver.Chrome,
) -> None:
    """Play the event's two stations, and rank them together."""
    with ExitStack() as stack:
        meters = [stack.enter_context(meter_on_the_table(folder, n)) for n in (1, 2, 3)]
        tokyo = Station(folder / "Tokyo", material, TOKYO, meters[:1])
        paris = Station(folder / "Paris", material, PARIS, meters[1:])
        stack.enter_context(tokyo.serve())
        one_lane(album, tokyo, acting, watching)
        ceremony(album, tokyo, acting)
        second = stack.enter_context(ExitStack())
        second.enter_context(paris.serve())
        two_lanes(album, paris, acting)
        joint_board(album, (tokyo, paris), watching, second.close)


if __name__ == "__main__":
    main()
