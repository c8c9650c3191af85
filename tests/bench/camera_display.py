# SPDX-License-Identifier: Apache-2.0
"""From the request for an image on the screen to the report of its paint, in a real browser.

It hosts a contest of photographs of some megapixels on the camera track, opens the display page in
headless Chromium at 1920x1080, and asks for image after image, first without a dwell, then with the
default one. It prints how long each part took, the frames a second, and how regularly the emulated
meter was read at its shortest update interval, with frames and without.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from referee.programs.hosting import Host, claimed, hosted
from referee.service.setup.config import (
    CameraSection,
    Config,
    ContestSection,
    ImagesSection,
    MeterSection,
    ServerSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config, load_config
from referee.store.readings import readings_of
from referee.store.shows import ShowRecord, shows_of
from tests.support.browsing import be_screen, chromium
from tests.support.contests import write_truth
from tests.support.running import eventually, get, request

SIZE = 2000, 1500
IMAGES = 8
FRAMES = 200
QUIET_S = 20


def run() -> None:
    """Measure, and print a table for each dwell."""
    for dwell_ms in (0, CameraSection().dwell_ms):
        with tempfile.TemporaryDirectory() as name, chromium() as browser:
            config = _config(Path(name), dwell_ms)
            be_screen(browser)
            with claimed(config.storage.folder), hosted(config) as host:
                browser.get(f"{host.supervisor.console_url}/display")
                eventually(lambda: b'"fault":""' in _board(host), "the display")  # noqa: B023
                _measure(host, dwell_ms)


def _board(host: Host) -> bytes:
    return get(f"{host.supervisor.console_url}/board")[1].replace(b": ", b":")


def _config(folder: Path, dwell_ms: int) -> Config:
    (folder / "images").mkdir()
    chance = np.random.default_rng(1)
    for number in range(1, IMAGES + 1):
        small = Image.fromarray(chance.integers(0, 256, (60, 80, 3), dtype=np.uint8))
        picture = small.resize(SIZE, Image.Resampling.BICUBIC)
        picture.save(folder / "images" / f"{number}.jpg", quality=90)
    write_truth(folder / "truth.json", [(n, f"{n}.jpg") for n in range(1, IMAGES + 1)], SIZE)
    path = folder / "contest.toml"
    config = Config(
        path,
        ContestSection(mode="practice", track="camera", seconds=600, shuffle=False),
        ImagesSection(folder / "images", folder / "truth.json"),
        ServerSection("127.0.0.1:0", "127.0.0.1:0"),
        MeterSection(voltage_range_v=150.0, current_range_a=0.5, update_interval_s=0.1),
        StorageSection(folder / "data"),
    )
    config = replace(config, camera=CameraSection(dwell_ms=dwell_ms))
    path.write_text(dump_config(config))
    return load_config(path)


def _measure(host: Host, dwell_ms: int) -> None:
    contest = host.supervisor.contest_url
    _, token = request(f"{contest}/login", b"username=bench&password=practice", {})
    headers = {"Authorization": f"Bearer {token.decode()}"}
    threading.Event().wait(QUIET_S)
    connection, begun = host.database.connection, time.monotonic()
    answered = []
    for frame in range(FRAMES):
        asked = time.monotonic()
        status, text = request(
            f"{contest}/image_camera?image_name={frame % IMAGES + 1}", None, headers
        )
        answered.append(1e3 * (time.monotonic() - asked))
        if status != 200:
            raise RuntimeError(f"frame {frame}: {text!r}")
    took_s = time.monotonic() - begun
    eventually(lambda: len(shows_of(connection, 1)) == FRAMES, "the records")
    shows = shows_of(connection, 1)
    print(f"dwell {dwell_ms} ms, {FRAMES} frames: {FRAMES / took_s:.1f} frames/s")
    for what, values in _parts(shows, answered):
        print(f"  {what:44} {_figures(values)}")
    first = shows[0].requested_s
    moments = [elapsed_s for elapsed_s, _ in readings_of(connection, 1)]
    for what, some in (
        ("meter's interval, no frames", [t for t in moments if t < first]),
        ("meter's interval, frames", [t for t in moments if t >= first]),
    ):
        gaps = [1e3 * (b - a) for a, b in zip(some, some[1:], strict=False)]
        print(f"  {what:44} {_figures(gaps)}, worst {max(gaps):6.0f} ms")
    print(flush=True)


def _parts(
    shows: Sequence[ShowRecord], answered: Sequence[float]
) -> list[tuple[str, Sequence[float]]]:
    """Return each part of a request's time in milliseconds."""

    def between(begin: str, end: str) -> list[float]:
        return [1e3 * (getattr(show, end) - getattr(show, begin)) for show in shows]

    painted = between("requested_s", "painted_s")
    rest = [whole - paint for whole, paint in zip(answered, painted, strict=True)]
    return [
        ("request to painted", painted),
        ("  server: way to the desk, compose, dwell", between("requested_s", "announced_s")),
        ("  network: event and pixels to the page", between("announced_s", "fetched_s")),
        ("  decode", between("fetched_s", "decoded_s")),
        ("  paint: two animation frames, report", between("decoded_s", "painted_s")),
        ("HTTP around it, both ways", rest),
    ]


def _figures(values: Sequence[float]) -> str:
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"median {statistics.median(ordered):6.0f} ms, p99 {high:6.0f} ms"
