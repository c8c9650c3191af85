# SPDX-License-Identifier: Apache-2.0
"""The pictures of what stands alone: a rehearsal, a recording, a season, a frame of the camera."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.core.ground_truth import GroundTruth
from tests.e2e.conftest import Material
from tests.pictures.album import Album
from tests.pictures.station import SECONDS, device, meter_on_the_table
from tests.support.browsing import text_of, wait_text
from tests.support.operators import wait
from tests.support.ports import free_address
from tests.support.running import PATIENCE_S, eventually, get, program, referee
from tests.support.season_bundles import members_of, shaken, small_truth, write, write_truth


def rehearsal(album: Album, folder: Path, material: Material, browser: webdriver.Chrome) -> None:
    """Rehearse as a contestant does, with the console open, and look at the coach's report."""
    command = ["practice", "--contest", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    command += ["--images", str(material.images), "--ground-truth", str(material.ground_truth)]
    command += ["--data", str(folder / "practice"), "--seconds", str(SECONDS)]
    command += ["--load", str(folder / "load1.csv"), "--update-interval", "0.25"]
    with program(command, folder) as running:
        browser.get(running.console)
        wait_text(browser, "connection", "live")
        player = device(running.contest, "me", "practice", material.answers)
        wait_text(browser, "state", "SCORED")
        wait_text(browser, "verdict", "VALID")
        assert 0 == player.wait(PATIENCE_S)
        album.take("practice", browser)
        report = f"{running.console}/coach/1"
        eventually(lambda: get(report)[0] == 200, "the coach's report")
        browser.get(report)
        album.take("coach", browser)


def recording(album: Album, folder: Path, browser: webdriver.Chrome) -> None:
    """Record the energy of a device, with the meter's cable out for some seconds."""
    address = free_address()
    with meter_on_the_table(folder, 4) as meter:
        command = [sys.executable, "-m", "power", "record", meter.resource, "--seconds", "60"]
        command += ["--volts", "150", "--amps", "0.1", "--update", "0.1"]
        command += [
            "--out",
            str(folder / "run.csv"),
            "--quiet",
            "--live",
            "--live-address",
            address,
        ]
        with subprocess.Popen(command, cwd=Path(__file__).parents[2]) as recorder:
            eventually(lambda: _answers(address), "the recording's page")
            browser.get(f"http://{address}/")
            _integrated(browser, 12)
            meter.pull_cable()
            wait_text(browser, "noticed", "look at its cable")
            meter.put_cable_back()
            wait_text(browser, "noticed", "the meter answers again")
            _integrated(browser, 40)
            album.take("live", browser)
            assert 0 == recorder.wait(PATIENCE_S)


def season(album: Album, folder: Path, browser: webdriver.Chrome) -> None:
    """Score an event again under two sets of rules, and print what the documents quote.

    Its bundles are generated, with small objects and teams that are close: real ones seldom turn.
    """
    few = small_truth(images=150, classes=6)
    chance = np.random.default_rng(1)
    corner = chance.integers(0, 200, (len(few.box), 2)).astype(float)
    truth = GroundTruth.from_arrays(
        image_id=few.box_image_id,
        class_id=few.box_class_id,
        box=np.hstack([corner, corner + chance.integers(8, 40, corner.shape)]),
        classes=range(1, 7),
    )
    write_truth(folder / "season.csv", truth)
    bundles = folder / "season"
    bundles.mkdir()
    for number, team in enumerate(("ants", "bees", "flies", "moths", "wasps"), 1):
        detections = shaken(truth, np.random.default_rng(10 + number), 900)
        told = members_of(truth, detections, session=number, team=team, energy_wh=1.0)
        write(bundles / f"{team}.zip", told)
    rows, page = folder / "season.jsonl", folder / "season.html"
    command = ["rescore", str(bundles), "--ground-truth", str(folder / "season.csv")]
    command += ["--out", str(rows), "--rules", "devkit", "--rules", "voc"]
    assert 0 == referee(*command).returncode
    assert 0 == referee("season", "report", str(rows), "--html", str(page)).returncode
    print(referee("season", "report", str(rows)).stdout)
    browser.get(page.as_uri())
    ranks = "img[alt='Ranks under old and new rules']"
    album.take("season", browser.find_element(By.CSS_SELECTOR, ranks))


def camera_frame(album: Album, folder: Path, material: Material) -> None:
    """Compose the camera track's frame of one of the event's images."""
    out = folder / "frame.png"
    image = min(material.images.iterdir())
    command = ["camera", "frame", "--image", str(image), "--id", "724853"]
    assert 0 == referee(*command, "--screen", "960x540", "--out", str(out)).returncode
    album.keep("camera-frame", out.read_bytes())


def _answers(address: str) -> bool:
    try:
        return get(f"http://{address}/")[0] == 200
    except OSError:
        return False


def _integrated(browser: webdriver.Chrome, seconds: int) -> None:
    """Wait until the meter has integrated for so long."""

    def long_enough() -> bool:
        minutes, _, rest = text_of(browser, "time").partition(" ")[0].partition(":")
        return bool(rest) and 60 * int(minutes) + int(rest) >= seconds

    wait(browser, long_enough, f"{seconds} s of integration")
