# SPDX-License-Identifier: Apache-2.0
"""A thousand bundles, each changed in one random place: how many does nobody notice?"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.verify import verify_bundle
from tests.bench import tampering_containers
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.forged_containers import archive, part_of
from tests.support.packed_bundles import unpack
from tests.support.played_sessions import play

COUNT, SEED = 1000, 14
KINDS = ("a digit", "a row", "a member", "an order", "a hash with its manifest")


def run(count: int = COUNT) -> None:
    """Change, verify with and without the key, and print."""
    missed = tamper(count)
    for kind in KINDS:
        tried, with_key, without = (missed[kind, it] for it in ("tried", "key", "no key"))
        print(f"{kind:26} {tried:4} tried, unnoticed with the key {with_key}, without {without}")
    tampering_containers.run()


def tamper(count: int, seed: int = SEED) -> Counter[tuple[str, str]]:
    """Return how many changes of each kind were tried, and how many were not noticed."""
    missed: Counter[tuple[str, str]] = Counter()
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contest = make_contest(folder, FakeClock(), mode="event", seconds=20)
        write_bundle(contest, play(contest), folder / "bundle.zip")
        contest.database.close()
        whole = unpack(folder / "bundle.zip")
        for number in range(count):
            kind = KINDS[number % len(KINDS)]
            path = folder / "changed.zip"
            parts = [part_of(name, content) for name, content in change(whole, kind, chance)]
            if "an order" != kind:
                parts.sort(key=lambda part: (part.name == b"manifest.json", part.name))
            path.write_bytes(archive(parts))
            missed[kind, "tried"] += 1
            truth, key = folder / "truth.json", folder / "signing.pub"
            if not verify_bundle(path, truth):  # With the key it would find all this, too.
                missed[kind, "no key"] += 1
                missed[kind, "key"] += not verify_bundle(path, truth, public_keys=[key])
    return missed


def change(whole: dict[str, bytes], kind: str, chance: random.Random) -> list[tuple[str, bytes]]:
    """Return the members after one change."""
    members = dict(whole)
    if kind == "a member":
        name = chance.choice(sorted(members))
        if chance.random() < 0.5:
            del members[name]
        else:
            members[f"{name}.old"] = members[name]
        return sorted(members.items())
    if kind == "an order" and chance.random() < 0.5:
        ordered = sorted(members.items())
        at = chance.randrange(len(ordered) - 1)
        ordered[at], ordered[at + 1] = ordered[at + 1], ordered[at]
        return ordered
    names = [name for name in sorted(members) if len(set(_rows(members[name]))) > 1]
    name = chance.choice(names)
    edit = {"a row": _without_row, "an order": _swapped}.get(kind, _other_digit)
    members[name] = edit(members[name], chance)
    if kind == "a hash with its manifest" and name != "manifest.json":
        told = json.loads(members["manifest.json"])
        told["sha256"][name] = sha256(members[name]).hexdigest()
        del told["envelope"]["signatures"][:]
        members["manifest.json"] = (json.dumps(told, indent=2) + "\n").encode()
    return sorted(members.items())


def _rows(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


def _other_digit(content: bytes, chance: random.Random) -> bytes:
    places = [place for place, byte in enumerate(content) if 48 <= byte <= 57]
    place = chance.choice(places) if places else 0
    other = chance.choice([digit for digit in b"0123456789" if digit != content[place]])
    return content[:place] + bytes([other]) + content[place + 1 :]


def _without_row(content: bytes, chance: random.Random) -> bytes:
    rows = _rows(content)
    del rows[chance.randrange(len(rows))]
    return b"".join(rows)


def _swapped(content: bytes, chance: random.Random) -> bytes:
    rows = _rows(content)
    at = chance.choice([n for n in range(len(rows) - 1) if rows[n] != rows[n + 1]])
    rows[at], rows[at + 1] = rows[at + 1], rows[at]
    return b"".join(rows)
