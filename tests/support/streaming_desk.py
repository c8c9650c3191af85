# SPDX-License-Identifier: Apache-2.0
"""The desk's live stream alone, under the desk's own kind of server.

As a program it prints `closed` when its worker ends in good order.
"""

from __future__ import annotations

import sys

from flask import Flask, Response

from referee.web.desk.broadcast import Broadcast
from referee.web.server.pieces import in_plain
from referee.web.server.server import Running, serve

VIEWERS = 4


def make() -> Running:
    """Return an application whose one page is the stream."""
    broadcast = Broadcast(lambda: {"images": 7}, VIEWERS)
    broadcast.start()
    app = Flask("streaming")

    @app.get("/events")
    def events() -> Response:
        return Response(in_plain(broadcast.stream()), content_type="text/event-stream")

    def close() -> None:
        broadcast.close()
        print("closed", flush=True)

    return Running(app, close, stop=broadcast.stop)


def main(descriptor: str) -> None:
    """Serve until told to stop, as `run_control_desk` does."""
    serve(
        make,
        descriptor=int(descriptor),
        workers=1,
        threads=VIEWERS + 4,
        name="referee-streaming",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
