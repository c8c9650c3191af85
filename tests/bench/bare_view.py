# SPDX-License-Identifier: Apache-2.0
"""The peer of `/image`: a bare Flask view that sends one file, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

from flask import Flask, Response

from referee.web.server import Running, serve


def make_app(file: Path) -> Flask:
    """Return an application that sends the file for every request of /image."""
    app = Flask("bare")

    @app.get("/image")
    def image() -> Response:
        return Response(file.read_bytes(), content_type="image/jpeg")

    return app


if __name__ == "__main__":
    served = Path(sys.argv[2])
    serve(
        lambda: Running(make_app(served), lambda: None),
        descriptor=int(sys.argv[1]),
        workers=1,
        threads=int(sys.argv[3]),
        name="bare-view",
    )
