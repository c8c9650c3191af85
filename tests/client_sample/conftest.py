# SPDX-License-Identifier: Apache-2.0
"""A small referee of the tests' own: a real HTTP server on loopback that records what it gets."""

from __future__ import annotations

import io
import json
import threading
import urllib.parse
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

TOKEN = "e30.token-of_the.tests"


@dataclass
class SmallReferee:
    """Serve one session of `count` images, and keep what arrived in the order of arrival.

    `refuse_after` is the number of requests with a token after which every token is refused,
    `hang_up` makes the server close each connection after an answer without announcing it, and
    `replies` replaces the answer to a path by a status and a body.
    """

    count: int = 5
    refuse_after: int | None = None
    hang_up: bool = False
    replies: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)
    connections: int = 0
    url: str = ""

    def __post_init__(self) -> None:
        self.lock = threading.Lock()

    @property
    def paths(self) -> list[str]:
        """Return the paths asked for."""
        return [path for path, _ in self.requests]

    @property
    def posted(self) -> list[tuple[float, ...]]:
        """Return the stored boxes: image, class, confidence and four corners."""
        names = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")
        return [
            tuple(map(float, values))
            for path, fields in self.requests
            if path == "/result"
            for values in zip(*(fields[name] for name in names), strict=True)
        ]

    def image(self, image_id: int) -> bytes:
        """Return what stands for the image of this number."""
        return b"jpeg %d" % image_id

    def archive(self, first_id: int) -> bytes:
        """Return a zip of up to a hundred images."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for image_id in range(first_id, min(first_id + 100, self.count + 1)):
                archive.writestr(f"{image_id}.jpg", self.image(image_id))
        return file.getvalue()

    def answer(self, path: str, fields: dict[str, list[str]]) -> tuple[int, bytes]:
        """Decide what to answer to a request."""
        if path in self.replies:
            return self.replies[path]
        if path == "/login":
            good = fields.get("username") == ["me"] and fields.get("password") == ["secret"]
            return (200, TOKEN.encode()) if good else (401, b"Invalid username or password\n")
        used = sum(path != "/login" for path in self.paths)
        expired = self.refuse_after is not None and used > self.refuse_after
        if fields.get("token") != [TOKEN] or expired:
            return 401, b"Invalid Token\n"
        if path == "/no_of_images":
            return 200, str(self.count).encode()
        if path == "/image":
            return 200, self.image(int(fields["image_name"][0]))
        if path == "/zipimages":
            return 200, self.archive(int(fields["image_name"][0]))
        if path == "/result":
            return 200, b"Result stored in the server database\n"
        if path == "/logout":
            return 200, b"Logout success\n"
        return 404, b"Not Found\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.referee.lock:
            self.server.referee.connections += 1

    def do_POST(self) -> None:
        referee = self.server.referee
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with referee.lock:
            referee.requests.append((self.path, urllib.parse.parse_qs(body.decode("ascii"))))
            status, answer = referee.answer(*referee.requests[-1])
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = referee.hang_up

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output free of request lines."""


class _Server(ThreadingHTTPServer):
    def __init__(self, referee: SmallReferee) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.referee = referee


@pytest.fixture
def referee() -> Iterator[SmallReferee]:
    """Run a small referee for the time of one test."""
    small = SmallReferee()
    with _Server(small) as server:
        small.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="small-referee")
        thread.start()
        yield small
        server.shutdown()
        thread.join()


@pytest.fixture
def answers_file(tmp_path) -> str:
    """Write COCO results for the images 1, 2 and 5; image 2 has two boxes."""
    results = [
        {"image_id": 1, "category_id": 7, "bbox": [10, 20, 30, 40], "score": 0.875},
        {"image_id": 2, "category_id": 8, "bbox": [0.1, 0.2, 0.3, 1.1], "score": 1 / 3},
        {"image_id": 2, "category_id": 9, "bbox": [-3, -4, 5, 6], "score": 1e-05},
        {"image_id": 5, "category_id": 7, "bbox": [1, 1, 1, 1], "score": 1},
    ]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(results))
    return str(path)
