# SPDX-License-Identifier: Apache-2.0
"""The contest server's `/image` and `/result` beside nginx, bare views, and SQLite alone.

One worker each, one image of 110 kB, kept-alive connections. `/image` checks the
token and the session, and notes the request; `/result` is durable before it is answered, and is
compared with SQLite alone: one connection, one durable commit a row, on the same disk. The WSGI
function shows what server, client and kernel take, the bare view what Flask adds to it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from referee.programs.hosting import hosted
from referee.programs.practice_folder import practice_config
from referee.service.setup.config import ContestSection, ImagesSection, ServerSection
from referee.service.setup.lane_config import MeterSection
from tests.bench.load import Figures, measure
from tests.bench.pictures import make_image
from tests.bench.serving_peers import commits_alone, gthread_view, nginx, view
from tests.support.running import request

REQUESTS = 3000
ROUNDS = 5
BARE = "bare view"


def run() -> None:
    """Measure in turns and print the tables."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        make_contest(folder)
        file = folder / "images" / "1.jpg"
        peers = {
            "nginx": stack.enter_context(nginx(folder, file)),
            "WSGI function": stack.enter_context(view("wsgi", file)),
            BARE: stack.enter_context(view("flask", file)),
            "... under gthread": stack.enter_context(gthread_view(file)),
        }
        ours, token = stack.enter_context(running_referee(folder))
        for connections in (1, 8, 32):
            _compare(peers, ours, token, connections)
        _compare_commits(folder, ours, token)


def _compare(peers: dict[str, int | None], ours: int, token: str, connections: int) -> None:
    """Print the rates and latencies of all servers at this many connections."""
    authorised = f"Authorization: Bearer {token}\r\n"
    plain = b"GET /image HTTP/1.1\r\nHost: x\r\n\r\n"
    asked = f"GET /image/1 HTTP/1.1\r\nHost: x\r\n{authorised}\r\n".encode()
    servers = {what: (port, plain) for what, port in peers.items() if port is not None}
    servers |= {"/image": (ours, asked), "/result, 5 boxes": (ours, _post(token, 5))}
    rows: dict[str, list[Figures]] = {what: [] for what in servers}
    for _ in range(ROUNDS):
        for what, (port, message) in servers.items():
            rows[what].append(_measured(port, message, connections, REQUESTS))
    print(
        f"{connections:2} connections       requests/s   median ms      p99 ms"
        "   median / bare   p99 / bare"
    )
    bare_median, bare_p99 = _latencies(rows[BARE])
    for what, runs in rows.items():
        median, p99 = _latencies(runs)
        print(
            f"  {what:17} {_middle([f.rate for f in runs]):11.0f} {median:11.2f} {p99:11.2f}"
            f" {median / bare_median:15.2f} {p99 / bare_p99:12.2f}"
        )


def _latencies(runs: list[Figures]) -> tuple[float, float]:
    return _middle([f.median_ms for f in runs]), _middle([f.p99_ms for f in runs])


def _compare_commits(folder: Path, port: int, token: str) -> None:
    """Compare durable answers with durable commits of the same rows by SQLite alone."""
    print("\ndurable answers  SQLite alone/s   8 connections/s     boxes/s   32 connections/s")
    for boxes, requests in ((1, 3000), (5, 3000), (50, 2000), (1000, 240), (10_000, 48)):
        message = _post(token, boxes)
        rates: dict[int, list[float]] = {0: [], 8: [], 32: []}
        for _ in range(ROUNDS):
            rates[0].append(commits_alone(folder, boxes, requests))
            for connections in (8, 32):
                count = max(requests, connections)
                rates[connections].append(_measured(port, message, connections, count).rate)
        alone, few, many = (_middle(values) for values in rates.values())
        print(
            f"  {boxes:6} boxes {alone:16.0f} {few:10.0f} ({100 * few / alone:3.0f} %)"
            f" {boxes * few:11.0f} {many:11.0f} ({100 * many / alone:3.0f} %)"
        )


def _measured(port: int, message: bytes, connections: int, requests: int) -> Figures:
    return measure(port, lambda number: message, connections=connections, requests=requests)


def _post(token: str, boxes: int) -> bytes:
    """Return a post of this many boxes as a form, like an old client's."""
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
def running_referee(folder: Path) -> Iterator[tuple[int, str]]:
    config = practice_config(
        data=folder / "data",
        contest=ContestSection(mode="practice", seconds=3600, shuffle=False),
        images=ImagesSection(folder / "images", folder / "truth.json"),
        server=ServerSection("127.0.0.1:0", "127.0.0.1:0", workers=1),
        meter=MeterSection(resource="none"),
    )
    with hosted(config) as host:
        url = host.supervisor.contest_url
        _, token = request(f"{url}/login", b"username=bench&password=practice", {})
        yield int(url.rpartition(":")[2]), token.decode()
