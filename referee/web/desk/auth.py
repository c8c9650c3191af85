# SPDX-License-Identifier: Apache-2.0
"""Who may send what to the console: its own pages alone, the table of roles, and the logins.

The console listens on the operator's laptop. A page of any site can make the browser there send
requests to the console. The browser then tells the truth in three headers. `Host` is the name under
which it reached the console. `Origin` and `Sec-Fetch-Site` say which page made the request.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import quote

from flask import Flask, Response, jsonify, redirect, request, send_from_directory
from msgspec import Struct
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as PlainResponse

from referee.service.people.logins import Logins
from referee.service.setup.contest import Contest
from referee.service.setup.pages import static_folder
from referee.web.desk.acting import posted_by_page
from referee.web.desk.roles import Access, access_of_request, actions_of
from referee.web.desk.visitors import (
    Visitor,
    is_at_desk,
    present_request,
    visitor_of,
)
from referee.web.server.connection import waits_of

_NO_OPERATORS = (
    "Nobody may use the console from another machine before an operator is registered. On the "
    "laptop run: referee operator add NAME --role operator"
)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ANY = frozenset({"0.0.0.0", "::", ""})
# RFC 9110, 7.2: a name, an IPv4 address, or an IPv6 address in brackets, with an optional port.
_HOST = re.compile(r"(?:\[(?P<number>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")


def require_login(app: Flask, contest: Contest, logins: Logins) -> None:
    """Let each request in only as the table of roles says, and renew the seals of logins in use."""
    open_to_all = contest.config.contest.mode == "practice"

    @app.before_request
    def admit() -> PlainResponse | tuple[Response, int] | None:
        visitor = visitor_of(logins, open_to_all=open_to_all)
        present_request().visitor = visitor
        if request.url_rule is None or request.method == "OPTIONS":
            return None  # No route: the answer tells a lost contestant where to go.
        access = access_of_request()
        if access is None:
            return _refused(403, "route_unlisted", "The table of roles does not have this route.")
        if visitor.role.may(access.least) or (access.at_desk and is_at_desk()):
            return None
        return _turned_away(access, visitor, logins.needed)

    @app.after_request
    def renew(response: Response) -> Response:
        access, visitor = access_of_request(), present_request().visitor
        if access is None or not access.by_hand or visitor.login is None:
            return response
        seal = logins.renewed(visitor.login)
        if seal is not None and logins.cookie not in response.headers.get("Set-Cookie", ""):
            _set_seal(response, logins, seal)
        return response


def register_logins(app: Flask, contest: Contest, logins: Logins, key: str) -> None:
    """Add the login page, what a page asks about its visitor, and the two ends of a login."""

    @app.get("/login")
    def login_page() -> Response:
        if "text/html" not in request.headers.get("Accept", ""):
            raise NotFound  # A contestant's program at the wrong port, and no browser.
        return send_from_directory(static_folder() / "people", "login.html")

    @app.get("/me")
    def me() -> Response:
        return jsonify(_me(present_request().visitor, logins.needed, contest.config.contest.name))

    @app.post("/login")
    def log_in() -> Response:
        if not request.is_json:
            raise NotFound  # Also such a program: the console's page sends JSON.
        posted = posted_by_page(key)
        name, password = posted.text("name"), posted.text("password")
        address, waits = request.remote_addr or "", waits_of(request.environ)
        response = jsonify({})
        _set_seal(response, logins, logins.begin(name, password, address, waits))
        return response

    @app.post("/logout")
    def log_out() -> Response:
        posted_by_page(key)
        login = present_request().visitor.login
        if login is not None:
            logins.end(login)
        response = jsonify({})
        response.delete_cookie(logins.cookie, httponly=True, samesite="Strict")
        return response


class Me(Struct, frozen=True, kw_only=True):
    """What a page says about its visitor; without registered operators nobody logs in.

    `may` names the actions whose buttons the page enables.
    """

    contest: str
    logins: bool
    name: str
    role: str
    may: Sequence[str]


def _me(visitor: Visitor, needed: bool, contest: str) -> Me:
    return Me(
        contest=contest,
        logins=needed,
        name=visitor.name,
        role=visitor.role.value,
        may=actions_of(visitor.role),
    )


def _turned_away(
    access: Access, visitor: Visitor, needed: bool
) -> PlainResponse | tuple[Response, int]:
    if not needed:
        if access.page:  # Somebody reads this in a browser.
            return PlainResponse(f"{_NO_OPERATORS}\n", 403, content_type="text/plain")
        return _refused(403, "no_operators", _NO_OPERATORS)
    if visitor.login is not None:
        return _refused(
            403,
            "role_forbids",
            f"{visitor.name} is an {visitor.role.value}: only an {access.least.value} may do this. "
            "Log in with another name.",
        )
    if access.page:
        return redirect(f"/login?next={quote(request.full_path.rstrip('?'), safe='/')}", 303)
    return _refused(401, "login_needed", "This needs a login: yours has ended, or none began.")


def _set_seal(response: Response, logins: Logins, seal: str) -> None:
    # A cookie without an age ends with the browser. `Strict` keeps it from other sites' requests.
    response.set_cookie(logins.cookie, seal, httponly=True, samesite="Strict")


def _refused(status: int, code: str, text: str) -> tuple[Response, int]:
    return jsonify(code=code, text=text), status


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
                403,
                "host_unknown",
                f"The console is not at '{host}'. Open it at the address that the referee "
                "printed, or name this host in [server] console.",
            )
        if not _from_own_page(host):
            return _refused(403, "other_site", "Only the console's own page may ask this.")
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
