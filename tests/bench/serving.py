# SPDX-License-Identifier: Apache-2.0
"""The contest server's `/image` and `/result` against a bare Flask view under the same gunicorn.

One worker with 64 threads each, one image of 110 kB, kept-alive connections. `/image` checks the
token and the session, and notes the request; `/result` is durable before it is answered, and is
compared with SQLite alone: one connection, one durable commit a row, on the same disk.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from referee.commands.practice import practice_config
from referee.hosting import hosted
from referee.service.config import ContestSection, ImagesSection, MeterSection, ServerSection
from tests.bench.load import Figures, measure
from tests.bench.pictures import make_image
from tests.e2e.running import eventually, get, request

THREADS = 64
REQUESTS = 1500
ROUNDS = 3


def run() -> None:
    """Measure in turns and print the tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_contest(folder)
        with _bare_view(folder) as bare, running_referee(folder) as (ours, token):
            for connections in (1, 8, 32):
                _compare(bare, ours, token, connections)
            _compare_commits(folder, ours, token)


def _compare(bare: int, ours: int, token: str, connections: int) -> None:
    authorised = f"Authorization: Bearer {token}\r\n"
    post = _post(token, 5)
    plain = b"GET /image HTTP/1.1\r\nHost: x\r\n\r\n"
    asked = f"GET /image/1 HTTP/1.1\r\nHost: x\r\n{authorised}\r\n".encode()
    rows: dict[str, list[Figures]] = {"bare view": [], "/image": [], "/result": []}
    for _ in range(ROUNDS):
        for what, port, message in (
            ("bare view", bare, plain),
            ("/image", ours, asked),
            ("/result", ours, post),
        ):
            rows[what].append(_measured(port, message, connections, REQUESTS))
    print(
        f"{connections} connections        requests/s   median ms      p99 ms"
        "   median / bare   p99 / bare"
    )
    first = rows["bare view"]
    for what, runs in rows.items():
        median, p99 = _middle([f.median_ms for f in runs]), _middle([f.p99_ms for f in runs])
        print(
            f"  {what:16} {_middle([f.rate for f in runs]):12.0f} {median:11.2f} {p99:11.2f}"
            f" {median / _middle([f.median_ms for f in first]):15.2f}"
            f" {p99 / _middle([f.p99_ms for f in first]):12.2f}"
        )


def _compare_commits(folder: Path, port: int, token: str) -> None:
    """Compare durable answers with durable commits of the same rows by SQLite alone."""
    print("\ndurable answers          answers/s     boxes/s   of SQLite alone")
    for boxes, requests in ((5, 1500), (1000, 240)):
        message = _post(token, boxes)
        alone, ours = [], {8: [], 32: []}  # type: ignore[var-annotated]
        for _ in range(ROUNDS):
            alone.append(_commits_alone(folder, boxes, requests))
            for connections, rates in ours.items():
                rates.append(_measured(port, message, connections, requests).rate)
        print(f"  SQLite, {boxes:4} boxes  {_middle(alone):10.0f} {boxes * _middle(alone):11.0f}")
        for connections, rates in ours.items():
            rate = _middle(rates)
            print(
                f"  {connections:2} connections      {rate:10.0f} {boxes * rate:11.0f}"
                f" {100 * rate / _middle(alone):14.0f} %"
            )


def _commits_alone(folder: Path, boxes: int, count: int) -> float:
    """Return how many rows a second one connection commits, each durably, on the same disk."""
    blob = bytes(56 * boxes)
    path = folder / "alone.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute("create table rows (id integer primary key, utc text, detections blob)")
        begun = time.perf_counter()
        for _ in range(count):
            connection.execute("insert into rows (utc, detections) values ('now', ?)", (blob,))
        return count / (time.perf_counter() - begun)


def _measured(port: int, message: bytes, connections: int, requests: int) -> Figures:
    return measure(port, lambda number: message, connections=connections, requests=requests)


def _post(token: str, boxes: int) -> bytes:
    """Return a post of this many boxes as a form, as the clients of old send it."""
    box = {"CLASS_ID": 1, "confidence": 0.5, "xmin": 10.5, "ymin": 20.25, "xmax": 99, "ymax": 80}
    fields = [("token", token)] + [("image_name", 1), *box.items()] * boxes
    body = urlencode(fields).encode()
    head = (
        f"POST /result HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    return head.encode() + body


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def make_contest(folder: Path) -> None:
    """Write one image of about 110 kB and its ground truth."""
    (folder / "images").mkdir()
    make_image(folder / "images" / "1.jpg")
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
def running_referee(folder: Path) -> Iterator[tuple[int, str]]:
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
