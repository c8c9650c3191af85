# SPDX-License-Identifier: Apache-2.0
"""Requests by a grammar: each begins as a good one for a route, and faults are put into it."""

from __future__ import annotations

import json
import random
import re
from urllib.parse import urlencode

from tests.bench.malformed_bodies import as_multipart, odd_value
from tests.bench.malformed_faults import FAULTS, Keys, Wish, broken
from tests.bench.malformed_routes import Route, all_routes, all_words

_ANY = re.compile(r"<any\(([^)]*)\):\w+>")
_PLACE = re.compile(r"<(?:(\w+):)?\w+>")
_BOX = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")
_FORM = "application/x-www-form-urlencoded"


def make_request(number: int, seed: int, keys: Keys, host: dict[str, str]) -> tuple[str, bytes]:
    """Return the server and the bytes of a request; `host` has each server's address."""
    chance = random.Random(f"{seed}/{number}")
    route = _route(chance)
    wish = _good(route, chance, keys, host[route.server])
    for fault in chance.choices(FAULTS, k=chance.choice((0, 1, 1, 1, 2, 3))):
        fault(wish, chance, keys)
    _announce(wish, chance)
    raw = wish.raw()
    return wish.server, broken(raw, chance) if chance.random() < 0.1 else raw


def _route(chance: random.Random) -> Route:
    """Return any route; the scoreboard's rarely, and its pictures more rarely.

    The scoreboard stands back for the others, so on a busy machine a picture takes a minute.
    """
    route = chance.choice(all_routes())
    rare = 0.02 if route.rule.endswith((".svg", ".png")) else 0.3
    if route.server == "scoreboard" and chance.random() > rare:
        route = chance.choice([one for one in all_routes() if one.server != "scoreboard"])
    return route


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
    if wish.target == "/logout" and chance.random() < 0.95:
        token = keys.tokens[-1]  # A good logout ends the session, and another one takes long.
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
    # Slow checks start a whole referee, and no session begins meanwhile.
    if chance.random() < (0.01 if wish.target == "/check/again" else 0.9):
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
