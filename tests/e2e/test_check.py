# SPDX-License-Identifier: Apache-2.0
"""`referee check` of a fresh event, with the golden client against real programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.contests import write_images, write_truth
from tests.support.running import referee, whole_check

pytestmark = pytest.mark.slow


def test_a_fresh_event_is_checked(tmp_path: Path) -> None:
    """Nothing fails, the golden client finds what is known, and its folder is empty again."""
    event = tmp_path / "event"
    assert 0 == referee("init", str(event)).returncode
    write_images(event / "images", ["1.jpg", "2.jpg"])
    write_truth(event / "ground_truth.json", [(1, "1.jpg"), (2, "2.jpg")])
    config = event / "contest.toml"
    text = config.read_text().replace(":8000", ":0").replace(":8001", ":0")
    config.write_text(text)
    done = whole_check(config, "--json")
    assert 0 == done.returncode, done.stdout + done.stderr
    shown = json.loads(done.stdout)
    assert shown["ready"]
    found = {it["item"]: it for it in shown["findings"]}
    assert found["golden client"]["text"].startswith("mAP 0.8125, VALID")
    assert {"OK"} == {found[item]["level"] for item in ("golden client", "durable commit")}
    left = [path.name for path in (event / "data" / "golden").iterdir()]
    assert [] == [name for name in left if not name.endswith(".lock")]
    config.write_text("nonsense")
    done = referee("check", "--json", "--config", str(config))
    assert (1, False) == (done.returncode, json.loads(done.stdout)["ready"])
