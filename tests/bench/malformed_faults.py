# SPDX-License-Identifier: Apache-2.0
"""A request in parts, and the faults that are put into its parts and into its bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from tests.bench.malformed_bodies import broken_body, odd_json
from tests.bench.malformed_routes import all_words

_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT")
_ODD_METHODS = ("get", "G", "GE T", "POST\0", "M" * 30, "", "PRI", "*", "GET\t")


@dataclass(frozen=True)
class Keys:
    """What a client of the running servers knows, and may use wrongly."""

    tokens: tuple[str, ...]
    team: str
    password: str
    cookie: str
    form_key: str


@dataclass
class Wish:
    """A request in parts; `raw` is what goes over the wire."""

    server: str
    method: str
    target: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def raw(self) -> bytes:
        """Return the request's bytes."""
        lines = [f"{self.method} {self.target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + self.body


Fault = Callable[[Wish, random.Random, Keys], None]
"""What changes a request's parts by chance."""


def _method(wish: Wish, chance: random.Random, keys: Keys) -> None:
    wish.method = chance.choice(_METHODS if chance.random() < 0.8 else _ODD_METHODS)


def _path(wish: Wish, chance: random.Random, keys: Keys) -> None:
    path, mark, query = wish.target.partition("?")
    odd = chance.choice(
        (
            *("/../../etc/passwd", "/%2e%2e/%2e%2e/contest.toml", "//", "/./", "/%00", "/%ff"),
            *("/..%2fdata%2freferee.db", "/" + "a" * chance.choice((300, 5000)), "\\", ";x=1", "#"),
            *("/1e9", "/-1", "/9" * 20, "9" * 400, "%", "%zz", "\0", "é", "%C3%A9", "/٣", " ", "*"),
        )
    )
    changed = (odd, path + odd, odd + path, path.upper(), path.rstrip("/") + "/", path[:-1])
    changed += ("http://evil.example" + path, path.replace("/", "//"), quote(path, safe=""))
    wish.target = chance.choice(changed) + mark + query


def _query(wish: Wish, chance: random.Random, keys: Keys) -> None:
    name = chance.choice((*all_words(), "after", "token", "image_name", "width", "since_token"))
    value = chance.choice(("", "1", "-1", "9" * 40, "%", "%ff", "%00", "nan", "é", "a" * 3000))
    mark = "&" if "?" in wish.target else "?"
    wish.target += mark + "&".join([f"{name}={value}"] * chance.choice((1, 1, 2, 200)))


def _header(wish: Wish, chance: random.Random, keys: Keys) -> None:
    value = chance.choice(("", "x", "é", "\x00", "a" * 9000, "1, 1", "\x0b", "\udcff", "a\r\n b"))
    name = chance.choice(
        (
            *("Host", "Cookie", "Authorization", "Accept", "Content-Type", "Origin", "Range"),
            *("If-None-Match", "If-Modified-Since", "Accept-Encoding", "X-Form-Key", "Expect"),
            *("Upgrade", "Connection", "Sec-Fetch-Site", "X-Forwarded-For", "X" * 300, "A B", ""),
            *("Content-Encoding", "Date", "TE", "Trailer", "SCRIPT_NAME", "Content_Length"),
        )
    )
    if chance.random() < 0.3:
        wish.headers = [one for one in wish.headers if one[0] != name]
    wish.headers += [(name, value)] * chance.choice((1, 1, 1, 2, 150))


def _known_header(wish: Wish, chance: random.Random, keys: Keys) -> None:
    token = chance.choice(keys.tokens)
    wish.headers.append(
        chance.choice(
            (
                *(("Expect", "100-continue"), ("Expect", "200-ok"), ("Connection", "close")),
                *(("Content-Encoding", "gzip"), ("Content-Encoding", "identity")),
                *(
                    ("Upgrade", "h2c"),
                    ("Connection", "Upgrade, HTTP2-Settings"),
                    ("Range", "bytes=0-1"),
                ),
                *(
                    ("If-None-Match", "*"),
                    ("Origin", "http://evil.example"),
                    ("Host", "evil.example"),
                ),
                *(("Content-Type", kind) for kind in ("application/json", "text/csv", "text/xml")),
                *(
                    ("Content-Type", "multipart/form-data"),
                    ("Content-Type", "application/json; charset=utf-7"),
                ),
                *(("Authorization", f"Bearer {token[:-1]}"), ("Authorization", f"Basic {token}")),
                *(
                    ("Authorization", "Bearer " + "9" * 300),
                    ("Authorization", "Bearer " + "." * 100),
                ),
                *(
                    ("Cookie", keys.cookie[:-2]),
                    ("Cookie", "a=b; " * 50),
                    ("Accept-Encoding", "gzip;q=x"),
                ),
                *(
                    ("Accept", "application/json;q=x"),
                    ("Accept", "application/" + "j" * 500 + ",json"),
                ),
            )
        )
    )


def _length(wish: Wish, chance: random.Random, keys: Keys) -> None:
    length = len(wish.body)
    lengths = (
        length + 1,
        length - 1,
        -1,
        10**20,
        f"+{length}",
        "0x1",
        "",
        "x",
        f"{length}, {length}",
    )
    chunks = ("chunked", "Chunked", "identity", "gzip, chunked", "xchunked", "chunked, chunked")
    if chance.random() < 0.5:
        wish.headers.append(("Content-Length", str(chance.choice(lengths))))
    else:
        wish.headers.append(("Transfer-Encoding", chance.choice(chunks)))
        ends = (
            b"0\r\n\r\n",
            b"zz\r\n",
            b"5\r\nab",
            b"-1\r\n\r\n",
            b"0\n\n",
            b"5;a=b\r\nabcde\r\n0\r\n\r\n",
        )
        wish.body = chance.choice(ends)
        if chance.random() < 0.3:
            wish.headers.append(("Content-Length", str(len(wish.body))))


def _body(wish: Wish, chance: random.Random, keys: Keys) -> None:
    wish.body = broken_body(wish.body, chance)


def _other_json(wish: Wish, chance: random.Random, keys: Keys) -> None:
    wish.body = odd_json(chance, all_words())
    wish.headers = [one for one in wish.headers if one[0] != "Content-Type"]
    wish.headers.append(("Content-Type", "application/json"))


FAULTS: tuple[Fault, ...] = (
    _method,
    _path,
    _query,
    _header,
    _known_header,
    _length,
    _body,
    _body,
    _other_json,
)
"""The faults of a request's parts."""


def broken(raw: bytes, chance: random.Random) -> bytes:
    """Return other bytes: cut, doubled, with other ends of lines, or nothing but noise."""
    at = chance.randrange(len(raw) + 1)
    ways = (
        raw[:at],
        raw[:at] + chance.randbytes(chance.choice((1, 4, 40))) + raw[at:],
        raw[:at] + raw[at + 1 :],
        raw.replace(b"\r\n", b"\n"),
        raw.replace(
            b"HTTP/1.1", chance.choice((b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9", b"", b"http/1.1"))
        ),
        raw + raw,
        b"\r\n" * 3 + raw,
        chance.randbytes(chance.choice((1, 10, 1000))),
        b"\x16\x03\x01\x02\x00" + chance.randbytes(60),
    )
    return chance.choice(ways)
