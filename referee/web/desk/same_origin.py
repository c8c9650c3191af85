# SPDX-License-Identifier: Apache-2.0
"""Keep other sites out of the console: their pages may run in the operator's own browser.

The console listens on the operator's laptop, where a page from anywhere may send requests to it.
A browser names the page's own host in `Host` and its origin in `Origin` or `Sec-Fetch-Site`; a
name that somebody else's DNS points at this machine is told by `Host`.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from flask import Flask, Response, jsonify, request

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ANY = frozenset({"0.0.0.0", "::", ""})


def admit_own_pages_only(app: Flask, address: str) -> None:
    """Refuse, with 403, every request that names another host or comes from another site's page.

    `address` is where the console is configured to listen, `HOST:PORT`.
    """
    configured = _host_of(address)

    @app.before_request
    def own_pages_only() -> tuple[Response, int] | None:
        host = request.headers.get("Host", "")
        if not is_own_host(host, configured):
            return _refused(
                "host_unknown",
                f"The console is not at '{host}': open it at the address that the referee "
                "printed, or name this host in [server] console.",
            )
        if not _from_own_page(host):
            return _refused("other_site", "Only the console's own page may ask this.")
        return None


def is_own_host(header: str, configured: str) -> bool:
    """Tell whether a `Host` header names the console: loopback, or the configured host.

    Where the console listens on all addresses any numeric one is taken: no other site can make a
    browser name a number that leads here.
    """
    host = _host_of(header)
    if host in _LOOPBACK or (host == configured and host not in _ANY):
        return True
    return configured in _ANY and _is_number(host)


def _from_own_page(host: str) -> bool:
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if site not in ("same-origin", "none"):
        # A link to the page itself may stand anywhere: opening it does nothing.
        mode = request.headers.get("Sec-Fetch-Mode")
        return request.method == "GET" and request.path == "/" and mode == "navigate"
    origin = request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == host


def _host_of(address: str) -> str:
    """Return the host of `HOST`, `HOST:PORT` or `[HOST]:PORT`, in lower case, without brackets."""
    if address.startswith("["):
        return address[1:].partition("]")[0].lower()
    return address.partition(":")[0].lower() if address.count(":") < 2 else address.lower()


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _refused(code: str, text: str) -> tuple[Response, int]:
    return jsonify(code=code, text=text), 403
