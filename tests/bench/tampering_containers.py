# SPDX-License-Identifier: Apache-2.0
"""Forged containers and forged contents through every reader of bundles, and other programs.

Two programs that read two contents out of one file are named: that is why a file is refused.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee import cli
from referee.service.evidence.encoding import json_bytes
from referee.service.evidence.signature import envelope_of
from tests.support.forged_containers import OTHER, TARGET, archive, forgeries, parts_of
from tests.support.packed_bundles import unpack
from tests.support.played_sessions import bundle_of

COMMANDS = ("verify", "board", "rescore", "season")
NEED_A_KEY = ("another score, in the statement too", "another score, signed by another key")
"""Forged contents that nothing but a key shows to those who do not score again."""
_WAIT_S = 60.0


def run() -> None:
    """Forge, let each command and each program read, and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = bundle_of(Path(name))
        files = forged(folder)
        told = {key: taken(folder, files, key=key) for key in (False, True)}
        programs = _programs()
        print(f"{'forgery':40} {'taken without key':24} {'with key':16} {'reads of ' + TARGET}")
        for file, content in files.items():
            path = folder / "one.zip"
            path.write_bytes(content)
            columns = [", ".join(told[key][file]) or "by none" for key in (False, True)]
            reads = {program: read(path) for program, read in programs.items()}
            seen = ", ".join(f"{program}: {what}" for program, what in reads.items())
            apart = "  DISAGREE" if len(set(reads.values())) > 1 else ""
            print(f"{file:40} {columns[0]:24} {columns[1]:16} {seen}{apart}")


def forged(folder: Path) -> dict[str, bytes]:
    """Return the forged files of a bundle by name, `whole` first."""
    members = unpack(folder / "bundle.zip")
    return forgeries(members) | {name: archive(parts_of(it)) for name, it in contents(members)}


def contents(members: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield bundles whose layout is right, and whose score is another one."""
    score = re.sub(rb'"mean_ap": [0-9.]+', b'"mean_ap": 0.95', members[TARGET], count=1)
    changed = members | {TARGET: score}
    told = json.loads(members["manifest.json"])
    yield "another score", changed
    told["sha256"][TARGET] = sha256(score).hexdigest()
    yield "another score, in the manifest", _with(changed, told)
    true, key = told["envelope"], Ed25519PrivateKey.generate()
    yield (
        "the same without signatures",
        _with(changed, told | {"envelope": true | {"signatures": []}}),
    )
    unsigned = envelope_of(told)
    old = unsigned.to_json() | {"signatures": true["signatures"]}
    yield NEED_A_KEY[0], _with(changed, told | {"envelope": old})
    yield NEED_A_KEY[1], _with(changed, told | {"envelope": unsigned.signed(key).to_json()})


def _with(members: dict[str, bytes], manifest: object) -> dict[str, bytes]:
    return members | {"manifest.json": json_bytes(manifest)}


def taken(folder: Path, files: dict[str, bytes], *, key: bool) -> dict[str, list[str]]:
    """Return by file which commands take it: it holds, is ranked, or is scored again."""
    words = ["--public-key", str(folder / "signing.pub")] if key else []
    truth = ["--ground-truth", str(folder / "truth.json")]
    with tempfile.TemporaryDirectory() as name:
        out, names = Path(name), {}
        for number, (file, content) in enumerate(files.items()):
            path = out / "copies" / f"{number:03}" / "bundle.zip"
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
            names[file] = path
        rows = _rows(out, [*words, *truth])
        found = {}
        for file, path in names.items():
            row = f"{path.parent.name}/{path.name}"
            mine = [
                one for one in rows if any(_is(row, it) for it in (one["file"], *one["copies"]))
            ]
            by = {
                "verify": _quiet(["verify", str(path), *truth, *words])[0] == 0,
                "board": _board(path.parent, out / "board" / path.parent.name, words),
                "rescore": any(one["status"] == "scored" for one in mine),
                "season": _is_ranked(out / "one.jsonl", mine),
            }
            found[file] = [command for command in COMMANDS if by[command]]
    return found


def _is(row: str, file: str) -> bool:
    return f"/{file}".endswith(f"/{row}")


def _quiet(words: list[str]) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        return cli.main(words), out.getvalue()


def _board(folder: Path, data: Path, words: list[str]) -> bool:
    data.parent.mkdir(exist_ok=True)
    said = _quiet(["board", "--bundles", str(folder), "--data", str(data), "--json", *words])[1]
    return "ants" in said


def _rows(out: Path, words: list[str]) -> list[dict]:
    """Return the rows of all bundles, scored or broken."""
    file = out / "season.jsonl"
    _quiet(["rescore", str(out / "copies"), "--out", str(file), "--resamples", "2", *words])
    return [json.loads(line) for line in file.read_text().splitlines()]


def _is_ranked(file: Path, rows: list[dict]) -> bool:
    """Tell whether the report of a season of these rows has an event."""
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    said = _quiet(["season", "report", str(file), "--json"])[1]
    return bool(said and json.loads(said)["events"])


def _programs():
    """Return the programs of this machine that read zip files, by name."""
    known = {"zipfile": _by_zipfile}
    if shutil.which("unzip"):
        known["unzip"] = lambda path: _said(["unzip", "-p", str(path), TARGET])
    if shutil.which("jar"):
        known["jar"] = _by_jar
    if shutil.which("bsdtar"):
        known["bsdtar"] = lambda path: _said(["bsdtar", "-xOf", str(path), TARGET])
    return known


def _by_zipfile(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as packed:
            return _word(packed.read(TARGET))
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        OSError,
        NotImplementedError,
        RuntimeError,
    ):
        return "nothing"


def _said(words: list[str]) -> str:
    done = subprocess.run(
        words, capture_output=True, stdin=subprocess.DEVNULL, timeout=_WAIT_S, check=False
    )
    return _word(done.stdout)


def _by_jar(path: Path) -> str:
    """Return what a reader finds that goes from the beginning on, header by header."""
    with tempfile.TemporaryDirectory() as name, path.open("rb") as content:
        subprocess.run(
            ["jar", "x"], cwd=name, stdin=content, capture_output=True, timeout=_WAIT_S, check=False
        )
        file = Path(name) / TARGET
        return _word(file.read_bytes() if file.is_file() and not file.is_symlink() else b"")


def _word(content: bytes) -> str:
    if not content:
        return "nothing"
    return "the forger's" if content.startswith(OTHER) else "a score"
