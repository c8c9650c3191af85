# SPDX-License-Identifier: Apache-2.0
"""The contest server's `/image` and `/result` against a bare Flask view under the same gunicorn.

One worker with 16 threads each, one image of 110 kB, kept-alive connections. `/image` checks the
token and the session, and has its row on the disk before it answers; `/result` has 5 boxes.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image

from referee.commands.practice import practice_config
from referee.hosting import hosted
from referee.service.config import ContestSection, ImagesSection, MeterSection, ServerSection
from tests.bench.load import Figures, measure
from tests.e2e.running import eventually, get, request

THREADS = 16
IMAGE_BYTES = 110_000
REQUESTS = 1500
ROUNDS = 3


def run() -> None:
    """Measure in turns and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _make_contest(folder)
        with _bare_view(folder) as bare, _referee(folder) as (ours, token):
            for connections in (1, 8, 32):
                _compare(bare, ours, token, connections)


def _compare(bare: int, ours: int, token: str, connections: int) -> None:
    authorised = f"Authorization: Bearer {token}\r\n"
    box = {"CLASS_ID": 1, "confidence": 0.5, "xmin": 10.5, "ymin": 20.25, "xmax": 99, "ymax": 80}
    fields = [("token", token)] + [("image_name", 1), *box.items()] * 5
    body = urlencode(fields).encode()
    post = (
        f"POST /result HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    ).encode() + body
    plain = b"GET /image HTTP/1.1\r\nHost: x\r\n\r\n"
    asked = f"GET /image/1 HTTP/1.1\r\nHost: x\r\n{authorised}\r\n".encode()
    rows: dict[str, list[Figures]] = {"bare view": [], "/image": [], "/result": []}
    for _ in range(ROUNDS):
        for what, port, message in (
            ("bare view", bare, plain),
            ("/image", ours, asked),
            ("/result", ours, post),
        ):
            figures = measure(
                port, lambda number, m=message: m, connections=connections, requests=REQUESTS
            )
            rows[what].append(figures)
    print(f"{connections} connections        requests/s   median ms      p99 ms   median / bare")
    reference = _middle([figures.median_ms for figures in rows["bare view"]])
    for what, runs in rows.items():
        median = _middle([figures.median_ms for figures in runs])
        print(
            f"  {what:16} {_middle([f.rate for f in runs]):12.0f} {median:11.2f}"
            f" {_middle([f.p99_ms for f in runs]):11.2f} {median / reference:15.2f}"
        )


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _make_contest(folder: Path) -> None:
    """Write one image of about 110 kB and its ground truth."""
    (folder / "images").mkdir()
    noise = np.random.default_rng(1).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    path = folder / "images" / "1.jpg"
    quality = 95
    Image.fromarray(noise).save(path, quality=quality)
    while path.stat().st_size > IMAGE_BYTES:
        quality -= 1
        Image.fromarray(noise).save(path, quality=quality)
    truth = {
        "images": [{"id": 1, "file_name": "1.jpg", "width": 400, "height": 300}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 20, 90, 60]}],
        "categories": [{"id": 1, "name": "thing"}],
    }
    truth["annotations"][0] |= {"iscrowd": 0, "area": 5400}
    (folder / "truth.json").write_text(json.dumps(truth))


@contextmanager
def _bare_view(folder: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        port = listener.getsockname()[1]
        descriptor = listener.fileno()
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.bare_view", str(descriptor)]
            + [str(folder / "images" / "1.jpg"), str(THREADS)],
            pass_fds=[descriptor],
            stderr=subprocess.DEVNULL,
        )
        try:
            eventually(lambda: get(f"http://127.0.0.1:{port}/image")[0] == 200, "the bare view")
            yield port
        finally:
            child.terminate()
            child.wait()


@contextmanager
def _referee(folder: Path) -> Iterator[tuple[int, str]]:
    config = practice_config(
        data=folder / "data",
        contest=ContestSection(mode="practice", seconds=3600, shuffle=False),
        images=ImagesSection(folder / "images", folder / "truth.json"),
        server=ServerSection("127.0.0.1:0", "127.0.0.1:0", workers=1, threads=THREADS),
        meter=MeterSection(resource="none"),
    )
    with hosted(config) as host:
        url = host.supervisor.contest_url
        _, token = request(f"{url}/login", b"username=bench&password=practice", {})
        yield int(url.rpartition(":")[2]), token.decode()
