# SPDX-License-Identifier: Apache-2.0
"""The headers that protect the pages of a server, in every answer."""

from __future__ import annotations

from flask import Flask, Response

RETRY_S = "2"
"""The seconds after which a client may ask again what could not be done now (`Retry-After`)."""

ALONE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
}
"""The headers of a page that stands alone: its style and its pictures are within it."""


def protect_pages(app: Flask, policy: str) -> None:
    """Add the headers; `policy` says what a page may load and do (Content-Security-Policy).

    A route that is stricter about its own page has said so already.
    """

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers.setdefault("Cache-Control", "no-cache")
        return response
