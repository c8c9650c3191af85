# SPDX-License-Identifier: Apache-2.0
"""Requests by a grammar: each begins as a good one for a route, and faults are put into it."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from tests.bench.malformed_bodies import as_multipart, broken_body, odd_json, odd_value
from tests.bench.malformed_routes import Route, all_routes, all_words

_ANY = re.compile(r"<any\(([^)]*)\):\w+>")
_PLACE = re.compile(r"<(?:(\w+):)?\w+>")
_BOX = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")
_FORM = "application/x-www-form-urlencoded"
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


def make_request(number: int, seed: int, keys: Keys, host: dict[str, str]) -> tuple[str, bytes]:
    """Return the server and the bytes of a request; `host` has each server's address."""
    chance = random.Random(f"{seed}/{number}")
    route = chance.choice(all_routes())
    wish = _good(route, chance, keys, host[route.server])
    for fault in chance.choices(_FAULTS, k=chance.choice((0, 1, 1, 1, 2, 3))):
        fault(wish, chance, keys)
    _announce(wish, chance)
    raw = wish.raw()
    return wish.server, _broken(raw, chance) if chance.random() < 0.1 else raw


def _good(route: Route, chance: random.Random, keys: Keys, host: str) -> Wish:
    rule = _ANY.sub(lambda found: chance.choice(found[1].split(",")).strip(), route.rule)
    target = _PLACE.sub(lambda found: _place(found[1], chance), rule)
    wish = Wish(route.server, chance.choice(route.methods or ("GET",)), target, [("Host", host)])
    if route.server == "contest":
        _of_contestant(wish, chance, keys)
    elif route.server == "console":
        _of_operator(wish, chance, keys)
    if chance.random() < 0.3:
        kind = chance.choice(("application/json", "application/problem+json", "text/html", "*/*"))
        wish.headers.append(("Accept", kind))
    return wish


def _place(kind: str | None, chance: random.Random) -> str:
    if kind == "path":
        return chance.choice(("console/console.js", "scoreboard.js", "ants", "shared/format.js"))
    return str(chance.choice((1, 1, 1, 2, 3, 101, 0)))


def _of_contestant(wish: Wish, chance: random.Random, keys: Keys) -> None:
    token = chance.choice(keys.tokens)
    fields = {"token": [token], "image_name": [str(chance.randint(1, 4))]}
    if "login" in wish.target or "get_token" in wish.target:
        # A right password costs a hash that is slow on purpose.
        right = chance.random() < 0.05
        fields = {"username": [keys.team], "password": [keys.password if right else "x"]}
    if wish.target == "/result":
        rows = chance.choice((0, 1, 1, 2, 5))
        fields |= {name: [str(chance.randint(1, 3)) for _ in range(rows)] for name in _BOX}
    if chance.random() < 0.4:
        wish.headers.append(("Authorization", f"Bearer {token}"))
    if wish.method == "GET" and chance.random() < 0.7:
        wish.target += "?" + urlencode(fields, doseq=True)
        return
    kinds = (_FORM, _FORM, "multipart/form-data", "application/json", "text/csv")
    _fill(wish, chance.choice(kinds if wish.target == "/result" else kinds[:3]), fields, chance)


def _fill(wish: Wish, kind: str, fields: dict[str, list[str]], chance: random.Random) -> None:
    if kind == _FORM:
        wish.body = urlencode(fields, doseq=True).encode()
    elif kind == "multipart/form-data":
        boundary = chance.choice(("x", "----7d9", "a b"))
        wish.body = as_multipart(fields, boundary)
        kind = f'{kind}; boundary="{boundary}"'
    elif kind == "application/json":
        entry = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}
        wish.body = json.dumps([entry] * chance.choice((0, 1, 3))).encode()
    else:
        wish.body = b"1 1 0.5 1 2 3 4\n" * chance.choice((0, 1, 3))
    wish.headers.append(("Content-Type", kind))


def _of_operator(wish: Wish, chance: random.Random, keys: Keys) -> None:
    if chance.random() < 0.9:
        wish.headers.append(("Cookie", keys.cookie))
    if wish.method == "GET":
        return
    if chance.random() < 0.9:
        wish.headers.append(("X-Form-Key", keys.form_key))
    # The team 'bees' has no session, so the one of 'ants' goes on.
    names = {"operator": "Kim", "team": "bees", "reason": "a test", "name": "Kim", "lane": 1}
    for word in chance.sample(all_words(), 3):
        names[word] = odd_value(chance)  # type: ignore[assignment]
    wish.body = json.dumps(names).encode()
    wish.headers.append(("Content-Type", "application/json"))


def _announce(wish: Wish, chance: random.Random) -> None:
    """Say how long the body is, as nobody has yet; in chunks now and then."""
    named = {name.lower() for name, _ in wish.headers}
    if named & {"content-length", "transfer-encoding"} or not wish.body:
        return
    if chance.random() < 0.1:
        wish.headers.append(("Transfer-Encoding", "chunked"))
        wish.body = f"{len(wish.body):x}\r\n".encode() + wish.body + b"\r\n0\r\n\r\n"
    else:
        wish.headers.append(("Content-Length", str(len(wish.body))))


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


_FAULTS = (_method, _path, _query, _header, _known_header, _length, _body, _body, _other_json)


def _broken(raw: bytes, chance: random.Random) -> bytes:
    """Change the bytes themselves: flip, cut, doubled, other ends of lines, or nothing but noise."""
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
