# SPDX-License-Identifier: Apache-2.0
"""A small referee for these tests: a real HTTP server on loopback that records its requests."""

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
ROW = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")


@dataclass
class Asked:
    """One request: its path without the query, its fields, and its raw body."""

    path: str
    fields: dict[str, list[str]]
    body: bytes
    kind: str
    token: str
    wants_json: bool
    program: str

    @property
    def image_name(self) -> int:
        """Return the number of the requested image, from path, query or form."""
        last = self.path.rpartition("/")[2]
        return int(last if last.isdigit() else self.fields["image_name"][0])

    def rows(self) -> list[tuple[float, ...]]:
        """Return the boxes of an answer: image, class, confidence and four corners."""
        if self.kind == "text/csv":
            return [tuple(map(float, line.split(","))) for line in self.body.decode().splitlines()]
        if self.kind == "application/json":
            return [coco_row(result) for result in json.loads(self.body)]
        lists = (self.fields[name] for name in ROW)
        return [tuple(map(float, values)) for values in zip(*lists, strict=True)]


def coco_row(result: dict) -> tuple[float, ...]:
    """Turn a COCO result into a row with inclusive corners."""
    x, y, width, height = result["bbox"]
    corners = (x, y, x + width - 1, y + height - 1)
    return (result["image_id"], result["category_id"], result["score"], *corners)


@dataclass
class SmallReferee:
    """A referee with one session of `count` images; it keeps all requests in their order.

    - `refuse_after`: after so many requests with a token every token is refused.
    - `hang_up`: each connection is closed after an answer, without a word.
    - `break_reused`: a connection is closed when its second request has come, without an answer.
    - `replies`: a status and a body that replace the answer to a path.
    - `break_at`: paths at which the connection is cut once, "before" or "after" the request has
      had its effect.
    """

    count: int = 5
    classes: dict[int, str] = field(default_factory=lambda: {1: "person", 17: "cat"})
    password: str = "secret"
    refuse_after: int | None = None
    hang_up: bool = False
    break_reused: bool = False
    replies: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    detail: str = ""
    break_at: list[tuple[str, str]] = field(default_factory=list)
    receipt: dict[str, object] = field(default_factory=dict)
    requests: list[Asked] = field(default_factory=list)
    answers: list[list[tuple[float, ...]]] = field(default_factory=list)
    connections: int = 0
    url: str = ""

    def __post_init__(self) -> None:
        self.lock = threading.Lock()

    @property
    def paths(self) -> list[str]:
        """Return the paths asked for."""
        return [asked.path for asked in self.requests]

    @property
    def posted(self) -> list[tuple[float, ...]]:
        """Return the stored boxes of all answers."""
        return [row for answer in self.answers for row in answer]

    def image(self, image_id: int) -> bytes:
        """Return the bytes that stand for the image of this number."""
        return b"jpeg %d" % image_id

    def archive(self, first_id: int) -> bytes:
        """Return a zip of up to a hundred images."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for image_id in range(first_id, min(first_id + 100, self.count + 1)):
                archive.writestr(f"{image_id}.jpg", self.image(image_id))
        return file.getvalue()

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        """Choose the answer to a request, and store the boxes that it posts."""
        if asked.path in self.replies:
            return self.replies[asked.path]
        if asked.path == "/login":
            return self._login(asked)
        if asked.path == "/classes":  # Everybody may ask, at any time.
            return 200, json.dumps([{"id": k, "name": n} for k, n in self.classes.items()]).encode()
        used = sum(path != "/login" for path in self.paths)
        expired = self.refuse_after is not None and used > self.refuse_after
        if asked.token != TOKEN or expired:
            return 401, b"Invalid Token\n"
        if asked.path == "/no_of_images":
            return 200, str(self.count).encode()
        if asked.path.startswith("/image"):
            return 200, self.image(asked.image_name)
        if asked.path == "/zipimages":
            return 200, self.archive(asked.image_name)
        if asked.path == "/result":
            self.answers.append(asked.rows())
            receipt = {"answer": len(self.answers), "late": False, "flagged": [], **self.receipt}
            stored = b"Result stored in the server database\n"
            return 200, json.dumps(receipt).encode() if asked.wants_json else stored
        if asked.path == "/status":
            return 200, json.dumps({"answers": len(self.answers), "late_answers": 0}).encode()
        if asked.path == "/logout":
            return 200, b"Logout success\n"
        return 404, b"Not Found\n"

    def _login(self, asked: Asked) -> tuple[int, bytes]:
        if (asked.fields["username"], asked.fields["password"]) != (["me"], [self.password]):
            return 401, b"Invalid username or password\n"
        facts = {"token": TOKEN, "images": self.count, "seconds": 600, "remaining_seconds": 599.5}
        return 200, json.dumps(facts).encode() if asked.wants_json else TOKEN.encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 10  # A forgotten connection cannot hold up the end of a test.
    server: _Server
    answered = False

    def setup(self) -> None:
        super().setup()
        with self.server.referee.lock:
            self.server.referee.connections += 1

    def do_POST(self) -> None:
        referee = self.server.referee
        asked = self._read()
        if referee.break_reused and self.answered:
            self.close_connection = True
            return
        self.answered = True
        with referee.lock:
            referee.requests.append(asked)
            broken = [when for path, when in referee.break_at if path == asked.path][:1]
            if broken:
                referee.break_at.remove((asked.path, broken[0]))
            if broken != ["before"]:
                status, answer = referee.answer(asked)
        if broken:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        if referee.detail and status != 200:
            self.send_header("X-Referee-Detail", referee.detail)
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = referee.hang_up

    do_GET = do_POST

    def _read(self) -> Asked:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urllib.parse.urlsplit(self.path)
        kind = self.headers.get("Content-Type", "")
        text = body.decode("ascii") if kind.endswith("urlencoded") else parts.query
        fields = urllib.parse.parse_qs(text)
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        token = bearer or fields.get("token", [""])[0]
        wants_json = "application/json" in self.headers.get("Accept", "")
        program = self.headers.get("User-Agent", "")
        return Asked(parts.path, fields, body, kind, token, wants_json, program)

    def log_message(self, format: str, *args: object) -> None:
        """Print no request lines into the tests' output."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # A connection that finds the queue full tries again a second later.
    daemon_threads = False  # Closing the server waits for answers under way.

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
