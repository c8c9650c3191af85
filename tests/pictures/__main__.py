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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from selenium import webdriver

from power.logs.journal import JOURNAL_VARIABLE
from referee.demo.imperfect_answers import write_answers
from referee.demo.scenes import generate
from tests.e2e.conftest import Material
from tests.pictures.album import Album
from tests.pictures.alone import camera_frame, recording, rehearsal, season
from tests.pictures.console import ceremony, joint_board, one_lane, published, two_lanes
from tests.pictures.model import model_check
from tests.pictures.session import DRAWN, picture
from tests.pictures.station import IMAGES, Station, meter_on_the_table
from tests.support.browsing import be_screen, chromium

# Names as teams have them: one is Japanese, one Arabic, and one as long as a laboratory's.
TOKYO = (
    "Night Owls",
    "東京低消費電力画像認識研究室",
    "فريق الرؤية منخفضة الطاقة",
    "Embedded Vision Laboratory of the University of Technology",
)
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
        acting, watching, third = (stack.enter_context(chromium(whole=True)) for _ in range(3))
        # The records name who gave a command, and the meters' journal is this event's own.
        os.environ |= {"LOGNAME": "Kim", JOURNAL_VARIABLE: str(folder / "runs.jsonl")}
        for browser in (acting, watching, third):
            be_screen(browser, 1366, 768)
        scenes = generate(folder / "scenes", count=IMAGES, seed=7)
        answers = folder / "answers.json"
        write_answers(scenes.ground_truth, answers, seed=7)
        material = Material(scenes.images, scenes.ground_truth, answers)
        _event(album, folder, material, (acting, watching, third))
    album.require_whole()


def _event(
    album: Album,
    folder: Path,
    material: Material,
    browsers: tuple[webdriver.Chrome, webdriver.Chrome, webdriver.Chrome],
) -> None:
    """Play the event's two stations, and what needs no event beside the first; rank them together.

    Both halves wait for clocks most of the time.
    """
    acting, watching, third = browsers
    with ExitStack() as stack:
        meters = [stack.enter_context(meter_on_the_table(folder, n)) for n in (1, 2, 3)]
        tokyo = Station(folder / "Tokyo", material, TOKYO, meters[:1])
        paris = Station(folder / "Paris", material, PARIS, meters[1:])
        stack.enter_context(tokyo.serve())
        second = stack.enter_context(ExitStack())
        second.enter_context(paris.serve())
        beside = stack.enter_context(ThreadPoolExecutor(1, "beside"))
        alone = beside.submit(_alone, album, folder, material, third)
        lanes = beside.submit(two_lanes, album, paris, third)
        one_lane(album, tokyo, acting, watching)
        ceremony(album, tokyo, acting)
        published(album, tokyo, acting)
        for half in (alone, lanes):
            half.result()
        joint_board(album, (tokyo, paris), watching, second.close)


def _alone(album: Album, folder: Path, material: Material, browser: webdriver.Chrome) -> None:
    """Take the pictures that need no event."""
    camera_frame(album, folder, material)
    rehearsal(album, folder, material, browser)
    be_screen(browser, 1100, 820)
    recording(album, folder, browser)
    season(album, folder, browser)
    model_check(album, folder, material, browser)
    be_screen(browser, 1366, 768)


if __name__ == "__main__":
    main()
