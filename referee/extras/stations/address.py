# SPDX-License-Identifier: Apache-2.0
"""The address of a station, as somebody gives it on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from referee.core.host_port import joined
from referee.core.written_text import unfit_character
from referee.errors import InputError

STATIONS_MOST = 64
"""The most stations of a board; each has a thread of its own."""

_FORM = "give http://HOST:PORT, or NAME=http://HOST:PORT"


@dataclass(frozen=True)
class StationAddress:
    """A station's name on the board, and the address of its scoreboard without the last '/'."""

    name: str
    url: str


def parse_address(text: str) -> StationAddress:
    """Return the station that `[NAME=]URL` means; without a name it is called by host and port.

    Raises `InputError` for anything but a plain address of http or https.
    """
    name, equals, url = text.partition("=")
    if not equals or "://" in name:
        name, url = "", text
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"'{text}' is no address of a station ({error}): {_FORM}.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"'{text}' is no address of a station: {_FORM}.")
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            f"'{text}': a station's address has no user, no '?' and no '#': {_FORM}. The feed "
            "needs no password."
        )
    name = name.strip() or (host if port is None else joined(host, port))
    if unfit_character(name) or len(name) > 60:
        raise InputError(f"'{text}': a station's name has 60 printable characters at most.")
    path = parts.path.rstrip("/").removesuffix("/feed")
    return StationAddress(name, f"{parts.scheme}://{parts.netloc}{path}")


def parse_addresses(texts: Sequence[str]) -> tuple[StationAddress, ...]:
    """Return the stations in their order; raise `InputError` if two share a name or an address."""
    addresses = tuple(map(parse_address, texts))
    if len(addresses) > STATIONS_MOST:
        raise InputError(
            f"{len(addresses)} stations are too many: a board follows {STATIONS_MOST}."
        )
    for what in ("name", "url"):
        seen = [getattr(one, what) for one in addresses]
        twice = next((one for one in seen if seen.count(one) > 1), None)
        if twice is not None:
            raise InputError(f"Two stations have the {what} '{twice}'. Give each its own.")
    return addresses
