# SPDX-License-Identifier: Apache-2.0
"""The whole job: 20,120 images of 110 kB out, 49,013 boxes in, with meter and live scorer.

The organisers' sample answers are replayed by the pipelined client, image by image and then by
archives of a hundred. The contest asks for 20,000 images in 600 seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from referee.programs.hosting import Host, claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.service.setup.config import ContestSection, ImagesSection, MeterSection, ServerSection
from referee.store.answers import count_answers
from referee.store.requests import count_fetched_images
from referee.store.sessions import all_sessions
from tests.bench.pictures import make_image

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT.parent / "shared" / "data" / "lpirc" / "golden_output.csv"
IMAGES = 20_120
SEED = 7


def run() -> None:
    """Measure and print."""
    if not GOLDEN.exists():
        print(f"skipped: {GOLDEN.name} is not beside the project")
        return
    with tempfile.TemporaryDirectory() as name, claimed(Path(name) / "data"):
        folder = Path(name)
        make_full_contest(folder)
        config = practice_config(
            data=folder / "data",
            contest=ContestSection(mode="practice", seconds=600, shuffle=False),
            images=ImagesSection(folder / "images", folder / "truth.csv", classes=200),
            server=ServerSection("127.0.0.1:0", "127.0.0.1:0", workers=2, threads=16),
            meter=MeterSection(voltage_range_v=150.0, current_range_a=0.5, update_interval_s=1.0),
        )
        with hosted(config) as host:
            for how in ([], ["--zip"]):
                _measure(host, how)


def _measure(host: Host, how: list[str]) -> None:
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "client_sample.pipelined", "--user", "bench", *how]
        + ["--url", host.supervisor.contest_url, "--password", "practice"]
        + ["--answers", str(GOLDEN)],
        cwd=ROOT,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    took = time.monotonic() - begun
    connection = host.database.connection
    session = all_sessions(connection, 1)[0]
    counts = count_answers(connection, session.session_id)
    print(
        f"{'archives' if how else 'one by one':12} {took:6.1f} s  "
        f"{count_fetched_images(connection, session.session_id)} images  "
        f"{counts.detections} detections in {counts.answers} answers"
    )


def make_full_contest(folder: Path) -> None:
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
