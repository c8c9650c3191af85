# SPDX-License-Identifier: Apache-2.0
"""The camera demo: a real page, a simulated camera, and a detector that looks at photographs."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.support.running import referee

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_camera_demo_plays_a_whole_session(tmp_path: Path) -> None:
    """It prints a score with its evidence, and what the same detector makes of the files."""
    pytest.importorskip("cv2", reason="needs the extra [camera]")
    done = referee(
        *("demo", "--track", "camera", "--seconds", "12", "--json"),
        *("--out", str(tmp_path / "demo")),
    )
    assert 0 == done.returncode, done.stderr
    told = json.loads(done.stdout)
    assert told["energy_wh"] > 0
    assert told["mean_ap"] is not None
    assert told["mean_ap_as_files"] is not None
    with zipfile.ZipFile(told["evidence"]) as bundle:
        frames = list(csv.DictReader(io.TextIOWrapper(bundle.open("frames.csv"))))
        session = json.loads(bundle.read("session.json"))
    assert "camera" == session["track"]
    assert "painted" in {row["outcome"] for row in frames}
    log = (tmp_path / "demo" / "device.log").read_text()
    assert "of 16 images read" in log
