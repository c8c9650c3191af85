# SPDX-License-Identifier: Apache-2.0
"""An image goes missing in mid-session: its row, and no sentence, makes the energy SUSPECT."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.service.evidence.facts import link_behind
from tests.e2e.conftest import Material, Rehearse
from tests.support.packed_bundles import pack
from tests.support.running import eventually, referee, request

pytestmark = pytest.mark.slow

MEASURED = ("--seconds", "60", "--load", "6", "--update-interval", "0.25")

Edit = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Returns a line of the facts as a forger wants it, or None for a line that he leaves out."""


def members_of(bundle: Path) -> dict[str, bytes]:
    """Return the members of a bundle by name."""
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forged(bundle: Path, edit: Edit, path: Path) -> Path:
    """Write a bundle of edited facts in which each link and each hash fits, without a signature."""
    members = members_of(bundle)
    before, lines = None, []
    for text in members["facts.jsonl"].splitlines():
        line = edit(msgspec.json.decode(text))
        if line is not None:
            before = link_behind(line, before)
            lines.append(msgspec.json.encode(line | {"strand": before.hex()}) + b"\n")
    members["facts.jsonl"] = b"".join(lines)
    told = json.loads(members["manifest.json"])
    told["sha256"] = {name: sha256(members[name]).hexdigest() for name in told["sha256"]}
    del told["envelope"]
    members["manifest.json"] = (json.dumps(told, indent=2) + "\n").encode()
    return pack(path, members)


def of_another_image(line: dict[str, Any]) -> dict[str, Any]:
    """Let the alarm be about another image."""
    if line["table"] == "notice_subjects" and line["row"]["image_id"] is not None:
        line["row"]["image_id"] += 1
    return line


def of_no_image(line: dict[str, Any]) -> dict[str, Any]:
    """Let the alarm be about no image."""
    if line["table"] == "notice_subjects":
        line["row"]["image_id"] = None
    return line


def without_the_alarm(line: dict[str, Any]) -> dict[str, Any] | None:
    """Leave out the alarm, and what it is about."""
    return None if line["table"] in ("notices", "notice_subjects") else line


def without_a_row(line: dict[str, Any]) -> dict[str, Any] | None:
    """Leave out what the alarm is about, so that 1.0 might have written it."""
    return None if line["table"] == "notice_subjects" else line


def test_a_missing_image_is_a_fact_of_the_session(
    rehearse: Rehearse, material: Material, tmp_path: Path
) -> None:
    """The energy is SUSPECT, its bundle holds, and a forged or removed row is told."""
    images = tmp_path / "images"
    shutil.copytree(material.images, images)
    running = rehearse(*MEASURED, images=images)
    status, token = request(f"{running.contest}/login", b"username=me&password=practice", {})
    assert 200 == status, token
    headers = {"Authorization": f"Bearer {token.decode()}"}
    assert 200 == request(f"{running.contest}/image/1", None, headers)[0]
    listed = json.loads(material.ground_truth.read_text(encoding="utf-8"))["images"]
    (images / sorted(listed, key=lambda one: one["id"])[2]["file_name"]).unlink()
    for _ in range(2):
        assert 500 == request(f"{running.contest}/image/3", None, headers)[0]
    eventually(lambda: running.board()["alarm"], "the alarm")
    request(f"{running.contest}/logout", b"", headers)
    assert "SUSPECT" == running.scored(1)["verdict"]
    bundle = tmp_path / "bundle.zip"
    done = referee("export", "1", "--out", str(bundle), "--data", running.data)
    assert 0 == done.returncode, done.stderr
    verdict = json.loads(members_of(bundle)["verdict.json"])
    assert [3] == verdict["images_missing"]
    assert "images_missing" in [one["code"] for one in verdict["findings"]]

    def told(path: Path) -> tuple[int, str]:
        truth = ("--ground-truth", str(material.ground_truth))
        done = referee("verify", str(path), *truth)
        return done.returncode, done.stdout + done.stderr

    assert 0 == told(bundle)[0]
    same = forged(bundle, lambda line: line, tmp_path / "same.zip")
    assert 0 == told(same)[0]
    for edit in (of_another_image, of_no_image, without_the_alarm, without_a_row):
        code, text = told(forged(bundle, edit, tmp_path / f"{edit.__name__}.zip"))
        assert 1 == code, (edit, text)
