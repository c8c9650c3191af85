# SPDX-License-Identifier: Apache-2.0
"""A session of 600 s: 34 images and 340 detections a second, meter at 100 ms, three consoles.

The contestant has eight connections. Each image is due at its time, fetched, and answered by one
post of ten boxes. The meter is emulated, the live scorer runs, and Chromium shows three consoles.
`TEN_MINUTES_BENCH_S` shortens the session.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from selenium import webdriver

from referee.programs.hosting import Host, claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.service.observation.processes import processes_under
from referee.service.setup.config import ContestSection, ImagesSection, ServerSection
from referee.service.setup.lane_config import MeterSection
from referee.store.answers import count_answers
from referee.store.notices import notices_of
from referee.store.readings import energy_of, readings_of
from referee.store.requests import count_fetched_images
from referee.store.scores import newest_scoring_run
from tests.bench.paced import Outcome, paced_session
from tests.bench.pictures import make_image
from tests.support.browsing import chromium
from tests.support.running import eventually, request

LENGTH_S = int(os.environ.get("TEN_MINUTES_BENCH_S", "600"))
IMAGES = 20_120
SEED = 7
IMAGES_PER_S = 34.0
BOXES_AN_IMAGE = 10
CONSOLES = 3
UPDATE_S = 0.1
LOOK_S = 10.0
WARM_S = 60.0
"""Memory counts as grown from here on: by then each program has done each of its tasks once."""


@dataclass
class Memory:
    """What each program held, in bytes, at each look; `times_s` are seconds of the session."""

    times_s: list[float] = field(default_factory=list)
    held: list[Counter[str]] = field(default_factory=list)


def run() -> None:
    """Run the session, and print memory, latencies, errors and readings."""
    with tempfile.TemporaryDirectory() as name, claimed(Path(name) / "data"):
        folder = Path(name)
        _make_contest(folder)
        config = practice_config(
            data=folder / "data",
            contest=ContestSection(mode="practice", seconds=LENGTH_S, shuffle=False),
            images=ImagesSection(folder / "images", folder / "truth.csv", classes=200),
            server=ServerSection("127.0.0.1:0", "127.0.0.1:0"),
            meter=MeterSection(
                voltage_range_v=150.0, current_range_a=0.5, update_interval_s=UPDATE_S
            ),
        )
        with hosted(config) as host, chromium() as browser:
            _open_consoles(browser, host.supervisor.console_url)
            _measure(host, browser, _answers(folder / "truth.csv"))


def _measure(host: Host, browser: webdriver.Chrome, answer: Callable[[int], str]) -> None:
    url = host.supervisor.contest_url
    _, token = request(f"{url}/login", b"username=me&password=practice", {})
    with _watched() as memory:
        port = int(url.rpartition(":")[2])
        count = min(IMAGES, int(IMAGES_PER_S * LENGTH_S * 0.95))
        outcome = paced_session(port, token.decode(), count, IMAGES_PER_S, answer)
    request(f"{url}/logout", b"", {"Authorization": f"Bearer {token.decode()}"})
    ended_s = time.monotonic()
    connection = host.database.connection
    eventually(lambda: newest_scoring_run(connection, 1), "the score")
    print(f"score {time.monotonic() - ended_s:.1f} s after the logout")
    _tell_requests(outcome)
    _tell_stored(host)
    _tell_readings([elapsed_s for elapsed_s, _ in readings_of(connection, 1)])
    _tell_memory(memory)
    _tell_consoles(browser)


def _open_consoles(browser: webdriver.Chrome, url: str) -> None:
    browser.get(url)
    for _ in range(CONSOLES - 1):
        browser.switch_to.new_window("window")
        browser.get(url)


def _answers(truth: Path) -> Callable[[int], str]:
    """Return the maker of an image's answer: one true box among nine elsewhere."""
    true = {}
    for line in truth.read_text().splitlines():
        image, *rest = line.split(",")
        true[int(image)] = rest

    def answer(image: int) -> str:
        rows = []
        for number in range(BOXES_AN_IMAGE):
            x, y = (37 * image + 13 * number) % 300, (17 * image + 29 * number) % 200
            box = [str(1 + (image + number) % 200), str(x), str(y), str(x + 60), str(y + 50)]
            klass, xmin, ymin, xmax, ymax = box if number else true[image]
            rows.append(
                f"image_name={image}&CLASS_ID={klass}&confidence={(image % 97 + number) / 110:.4f}"
                f"&xmin={xmin}&ymin={ymin}&xmax={xmax}&ymax={ymax}"
            )
        return "&".join(rows)

    return answer


def _tell_requests(outcome: Outcome) -> None:
    for what, found in (("images", outcome.images_ms), ("answers", outcome.answers_ms)):
        ordered = sorted(found)
        print(
            f"{what:8} {len(ordered)}, median {statistics.median(ordered):.1f} ms, "
            f"p99 {ordered[int(0.99 * (len(ordered) - 1))]:.1f} ms, longest {ordered[-1]:.0f} ms"
        )
    print(f"other answers than 200: {dict(outcome.refused) or 'none'}")


def _tell_stored(host: Host) -> None:
    connection = host.database.connection
    counts, energy = count_answers(connection, 1), energy_of(connection, 1)
    run = newest_scoring_run(connection, 1)
    alarms = [x.text for x in notices_of(connection, 1) if x.level == "alarm"]
    assert energy is not None and run is not None
    print(
        f"stored: {count_fetched_images(connection, 1)} images, {counts.answers} answers, "
        f"{counts.detections} detections, {counts.late_answers} late; {energy.verdict}, "
        f"mAP {run.accuracy}; alarms: {alarms or 'none'}"
    )


def _tell_readings(times_s: Sequence[float]) -> None:
    gaps = [b - a for a, b in zip(times_s, times_s[1:], strict=False)]
    late = sum(gap > 1.5 * UPDATE_S for gap in gaps)
    due = (times_s[-1] - times_s[0]) / UPDATE_S + 1
    print(
        f"readings {len(times_s)} of {due:.0f}; {late} gaps above {1500 * UPDATE_S:.0f} ms, "
        f"the longest {1000 * max(gaps):.0f} ms"
    )


def _tell_memory(memory: Memory) -> None:
    warm = next((i for i, at in enumerate(memory.times_s) if at >= WARM_S), 0)
    print(f"memory, MiB   after {memory.times_s[warm]:.0f} s   at the end   growth   most")
    for program in sorted(memory.held[-1]):
        series = [held[program] / 2**20 for held in memory.held]
        print(
            f"{program:12} {series[warm]:12.1f} {series[-1]:12.1f} {series[-1] - series[warm]:8.1f}"
            f" {max(series):6.1f}"
        )


def _tell_consoles(browser: webdriver.Chrome) -> None:
    wrong = [x["message"] for x in browser.get_log("browser") if x["level"] == "SEVERE"]
    print(f"errors in the consoles: {wrong or 'none'}")


@contextmanager
def _watched() -> Iterator[Memory]:
    """Note the memory of the referee's programs until the block ends."""
    memory, over, begun = Memory(), threading.Event(), time.monotonic()

    def look() -> None:
        while True:
            held: Counter[str] = Counter()
            for process in processes_under(os.getpid()):
                if process.program.startswith(("contest", "desk", "scorer", "power")):
                    held[process.program] += process.memory_bytes
            memory.times_s.append(time.monotonic() - begun)
            memory.held.append(held)
            if over.wait(LOOK_S):
                return

    thread = threading.Thread(target=look, name="memory")
    thread.start()
    try:
        yield memory
    finally:
        over.set()
        thread.join()


def _make_contest(folder: Path) -> None:
    """Link one image under every number, and write ground truth of a few boxes an image."""
    (folder / "images").mkdir()
    first = folder / "images" / "1.jpg"
    make_image(first)
    for number in range(2, IMAGES + 1):
        os.link(first, folder / "images" / f"{number}.jpg")
    random = np.random.default_rng(SEED)
    lines = []
    for image in range(1, IMAGES + 1):
        for _ in range(int(random.integers(1, 5))):
            x, y = random.integers(0, 200, 2).tolist()
            width, height = random.integers(10, 100, 2).tolist()
            klass = int(random.integers(1, 201))
            lines.append(f"{image},{klass},{x},{y},{x + width},{y + height}")
    (folder / "truth.csv").write_text("\n".join(lines) + "\n")
