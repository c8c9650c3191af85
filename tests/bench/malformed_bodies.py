# SPDX-License-Identifier: Apache-2.0
"""Bodies with faults in them: broken forms, JSON of any depth, other encodings, noise."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping, Sequence

_DISPOSITION = 'Content-Disposition: form-data; name="{}"'


def as_multipart(fields: Mapping[str, Sequence[str]], boundary: str) -> bytes:
    """Return the fields as a form of many parts."""
    parts = [
        f"--{boundary}\r\n{_DISPOSITION.format(name)}\r\n\r\n{value}\r\n"
        for name, values in fields.items()
        for value in values
    ]
    return ("".join(parts) + f"--{boundary}--\r\n").encode()


def odd_value(chance: random.Random) -> object:
    """Return a JSON value that a field may not expect."""
    return chance.choice(
        (
            *(None, True, False, 0, -1, 1, 10**18, 10**30, 1.5, 1e308, float("nan"), float("inf")),
            *("", "x", "READY", "RUNNING", "é", "\x00", "a\nb", "\u2028", "a" * 199, "a" * 3000),
            *([], [1], ["bees"], [[]], {}, {"lane": 1}, {"a": {"b": []}}, ["x"] * 2000),
        )
    )


def odd_json(chance: random.Random, words: Sequence[str]) -> bytes:
    """Return JSON, or what looks like it."""
    word = chance.choice(words)
    texts = (
        b"[" * chance.choice((10, 1000, 30_000)),
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        f'{{"{word}": {"9" * chance.choice((20, 400, 5000))}}}'.encode(),
        f'{{"{word}": 1, "{word}": "x"}}'.encode(),
        b'{"reason": "\\ud800", "team": "\\udfff"}',
        b'[{"image_id": NaN, "category_id": Infinity, "bbox": [1,2,3,-1e999], "score": 1}]',
        b'[{"image_id": 1e99, "category_id": -1, "bbox": [1,2,3], "score": null}]',
        b"\xef\xbb\xbf" + json.dumps({word: odd_value(chance)}).encode(),
        json.dumps({word: odd_value(chance)}).encode("utf-16"),
        json.dumps({one: odd_value(chance) for one in chance.sample(words, 8)}).encode(),
        json.dumps([odd_value(chance) for _ in range(5)]).encode(),
        b'{"reason": "\xff\xfe"}',
        b"null",
        b'"' + b"\\" * 999,
    )
    return chance.choice(texts)


def broken_body(body: bytes, chance: random.Random) -> bytes:
    """Return the body with one fault in it."""
    at = chance.randrange(len(body) + 1)
    ways = (
        body[:at],
        body[:at] + chance.randbytes(chance.choice((1, 3, 30))) + body[at:],
        body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :],
        body + body,
        body * chance.choice((3, 50)),
        gzip.compress(body),
        gzip.compress(bytes(100_000)),
        body.replace(b"=", b"=%ff"),
        body.replace(b"1", b"1e999"),
        body.replace(b"1", b"\xd9\xa1"),
        body.replace(b"--", b"-"),
        body.replace(b"\r\n", b"\n"),
        body.replace(b"Content-Disposition", b"X"),
        body.replace(b"name=", b"name*=utf-16''"),
        body.decode("latin-1").encode("utf-16"),
        b"&" * 2000,
        b"=" * 2000,
        chance.randbytes(chance.choice((1, 100, 5000))),
        b"",
    )
    return chance.choice(ways)
