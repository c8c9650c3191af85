# SPDX-License-Identifier: Apache-2.0
"""The protection of the console against pages of other sites in the operator's browser.

The console listens on the operator's laptop. A page of any site can make the browser there send
requests to the console. The browser then tells the truth in three headers. `Host` is the name under
which it reached the console. `Origin` and `Sec-Fetch-Site` say which page made the request.
"""

from __future__ import annotations

import ipaddress
import re

from flask import Flask, Response, jsonify, request

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ANY = frozenset({"0.0.0.0", "::", ""})
# RFC 9110, 7.2: a name, an IPv4 address, or an IPv6 address in brackets, with an optional port.
_HOST = re.compile(r"(?:\[(?P<number>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")


def admit_own_pages_only(app: Flask, address: str) -> None:
    """Answer 403 to every request that names another host or comes from another site's page.

    `address` is the console's configured address, `HOST:PORT`.
    """
    configured = _configured_host(address)

    @app.before_request
    def own_pages_only() -> tuple[Response, int] | None:
        host = request.headers.get("Host", "")
        if not is_own_host(host, configured):
            return _refused(
                "host_unknown",
                f"The console is not at '{host}'. Open it at the address that the referee "
                "printed, or name this host in [server] console.",
            )
        if not _from_own_page(host):
            return _refused("other_site", "Only the console's own page may ask this.")
        return None


def is_own_host(header: str, configured: str) -> bool:
    """Tell whether a `Host` header names the console: loopback, or the configured host.

    A console that listens on all addresses also accepts every IP address. An attacking site has a
    name, and cannot make the browser send an IP address instead.
    """
    found = _HOST.fullmatch(header.lower())
    if found is None:
        return False
    number, name = found["number"], found["name"]
    if number is not None and not _is_number(number, version=6):
        return False
    host = name if number is None else number
    if host in _LOOPBACK or (host == configured and host not in _ANY):
        return True
    return configured in _ANY and _is_number(host)


def _from_own_page(host: str) -> bool:
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if site not in ("same-origin", "none"):
        # Any site may link to the page, because opening the page changes nothing.
        mode = request.headers.get("Sec-Fetch-Mode")
        return request.method == "GET" and request.path == "/" and mode == "navigate"
    origin = request.headers.get("Origin")
    return origin is None or origin in (f"http://{host}", f"https://{host}")


def _configured_host(address: str) -> str:
    """Return the host of `HOST`, `HOST:PORT` or `[HOST]:PORT`, in lower case, without brackets."""
    if address.startswith("["):
        return address[1:].partition("]")[0].lower()
    return address.partition(":")[0].lower() if address.count(":") < 2 else address.lower()


def _is_number(host: str, version: int | None = None) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return version in (None, address.version)


def _refused(code: str, text: str) -> tuple[Response, int]:
    return jsonify(code=code, text=text), 403
