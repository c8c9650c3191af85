# SPDX-License-Identifier: Apache-2.0
"""Peers of `serving`: servers that send the same file as `/image`, and SQLite alone."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.support.running import eventually, get

_THREADS = 64
_NGINX = """
worker_processes 1;
master_process off;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 10000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {location}
    }}
}}
"""


@contextmanager
def view(kind: str, file: Path) -> Iterator[int]:
    """Serve the file by a Flask view or a WSGI function under our worker; yield the port."""
    with _listener() as listener:
        descriptor = str(listener.fileno())
        command = [sys.executable, "-m", "tests.bench.bare_view", descriptor, kind]
        command.append(str(file))
        with _server(command, listener.getsockname()[1], listener.fileno()) as port:
            yield port


@contextmanager
def gthread_view(file: Path) -> Iterator[int]:
    """Serve it by the same Flask view under gunicorn's own thread worker; yield the port."""
    with _listener() as listener:
        command = [sys.executable, "-m", "gunicorn", "--no-control-socket", "--keep-alive", "75"]
        command += ["--worker-class", "gthread", "--threads", str(_THREADS)]
        command += ["--bind", f"fd://{listener.fileno()}"]
        command += [f"tests.bench.bare_view:flask_app('{file}')"]
        with _server(command, listener.getsockname()[1], listener.fileno()) as port:
            yield port


@contextmanager
def nginx(folder: Path, file: Path) -> Iterator[int | None]:
    """Serve it by nginx with one process; yield the port, or None where nginx is missing."""
    with _nginx(folder, f"location = /image {{ alias {file}; }}") as port:
        yield port


@contextmanager
def nginx_site(folder: Path, site: Path) -> Iterator[int | None]:
    """Serve the files of a site as `nginx` does; texts are packed for those who take it."""
    kinds = "text/css text/javascript application/javascript application/json image/svg+xml"
    types = "types { text/html html; text/css css; text/javascript js; image/svg+xml svg; "
    types += "application/json json; }"
    location = (
        f"location / {{ root {site}; index index.html; {types} gzip on; gzip_types {kinds}; }}"
    )
    with _nginx(folder, location) as port:
        yield port


@contextmanager
def _nginx(folder: Path, location: str) -> Iterator[int | None]:
    program = shutil.which("nginx")
    if program is None:
        yield None
        return
    with _listener() as listener:
        port = int(listener.getsockname()[1])
    settings = folder / "nginx.conf"
    settings.write_text(_NGINX.format(folder=folder, port=port, location=location))
    with _server([program, "-p", str(folder), "-c", str(settings)], port, None):
        yield port


def commits_alone(folder: Path, boxes: int, count: int) -> float:
    """Return the rows a second that one connection commits on the same disk, each durably."""
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


def _listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), backlog=512)


@contextmanager
def _server(command: list[str], port: int, descriptor: int | None) -> Iterator[int]:
    passed = [] if descriptor is None else [descriptor]
    child = subprocess.Popen(command, pass_fds=passed, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _answers(port), f"an answer of {command[0]}")
        yield port
    finally:
        child.terminate()
        child.wait()


def _answers(port: int) -> bool:
    try:
        return get(f"http://127.0.0.1:{port}/image")[0] in (200, 404)
    except OSError:
        return False
