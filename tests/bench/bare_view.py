# SPDX-License-Identifier: Apache-2.0
"""Peers of `/image`: a bare Flask view and a WSGI function that send one file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from flask import Flask, Response

from referee.web.server.server import Running, serve


def flask_app(path: str) -> Flask:
    """Return an application that sends the file for every request of /image."""
    app = Flask("bare")
    file = Path(path)

    @app.get("/image")
    def image() -> Response:
        return Response(file.read_bytes(), content_type="image/jpeg")

    return app


def wsgi_app(path: str) -> Callable[..., Iterable[bytes]]:
    """Return the same application without Flask, to show the cost of the server alone."""
    file = Path(path)

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        content = file.read_bytes()
        headers = [("Content-Type", "image/jpeg"), ("Content-Length", str(len(content)))]
        start_response("200 OK", headers)
        return [content]

    return application


if __name__ == "__main__":
    make: Any = {"flask": flask_app, "wsgi": wsgi_app}[sys.argv[2]]
    serve(
        lambda: Running(make(sys.argv[3]), lambda: None),
        descriptor=int(sys.argv[1]),
        workers=1,
        name="bare-view",
    )
