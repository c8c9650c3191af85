# SPDX-License-Identifier: Apache-2.0
"""The checks of an event whose referee does not run, with real meters."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from referee.cli import main
from referee.core.restored import NewerEvidence
from referee.programs import checking
from referee.programs.checking import Slow, check_here
from referee.service.preflight.finding import ok
from referee.service.setup.config_file import load_config
from tests.support.contests import write_images, write_truth
from tests.support.emulators import Emulator
from tests.support.shown import as_json

pytestmark = pytest.mark.slow

Switch = Callable[[], Emulator]


@pytest.fixture
def switch_on() -> Iterator[Switch]:
    """Return a function that switches on a meter; all end with the test."""
    started: list[Emulator] = []

    def start() -> Emulator:
        started.append(Emulator())
        return started[-1]

    yield start
    for meter in started:
        meter.end()


@pytest.fixture
def event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a fresh event whose only slow checks are those of its meters."""
    monkeypatch.setattr(checking, "run_slow_checks", lambda *_: None)
    folder = tmp_path / "event"
    assert 0 == main(["init", str(folder)])
    write_images(folder / "images", ["1.jpg"])
    write_truth(folder / "ground_truth.json", [(1, "1.jpg")])
    return folder


def test_a_restored_folder_is_a_warning(event: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list has what was found beside the folder, and remains ready or not without it."""
    newer = [NewerEvidence("bundles/session9.zip", 9)]
    monkeypatch.setattr(checking, "newer_evidence", lambda *_: newer)
    rows = as_json(check_here(load_config(event / "contest.toml"), None, lambda _: None))[
        "findings"
    ]
    (row,) = [row for row in rows if row["item"] == "backup"]
    assert ("WARN", True) == (row["level"], "bundles/session9.zip (session 9) has" in row["text"])


def own_meters(event: Path, left: str, right: str, slow: Slow | None) -> dict[str, str]:
    """Return the text of each FAIL about a lane's own meter, with these resources of the lanes."""
    path = event / "contest.toml"
    text = re.sub(r'(?m)^(contest|resource) = ".*"$', "", path.read_text().split("\n[[lane]]")[0])
    for name, resource in (("left", left), ("right", right)):
        text += f'\n[[lane]]\nname = "{name}"\ncontest = "127.0.0.1:0"\nresource = "{resource}"\n'
    path.write_text(text)
    findings = as_json(check_here(load_config(path), slow, lambda _: None))["findings"]
    return {it["item"]: it["text"] for it in findings if it["item"].startswith("own meter")}


def test_one_meter_under_two_spellings_fails(event: Path, switch_on: Switch) -> None:
    """Two addresses of one meter fail the check, also one made later without a new look."""
    meter, other = switch_on(), switch_on()
    spelled = meter.resource.replace("127.0.0.1", "localhost")
    found = own_meters(event, meter.resource, spelled, "missing")
    assert ["own meter of lane left", "own meter of lane right"] == list(found)
    for text in found.values():
        assert f"lane 'left' ({meter.resource}) and lane 'right' ({spelled})" in text
    assert found == own_meters(event, meter.resource, spelled, None)
    assert {} == own_meters(event, meter.resource, other.resource, "missing")


def contest_findings(event: Path, slow: Slow | None) -> dict[str, tuple[str, str]]:
    """Return level and text of each finding about images and ground truth."""
    findings = as_json(check_here(load_config(event / "contest.toml"), slow, lambda _: None))[
        "findings"
    ]
    return {it["item"]: (it["level"], it["text"]) for it in findings if it["group"] == "contest"}


def test_boxes_that_nobody_finds_and_turned_images_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are looked for once, and again after a change of the images or the ground truth."""
    event = tmp_path / "event"
    assert 0 == main(["init", str(event)])
    for check in ("check_commits", "check_golden", "check_passwords"):
        monkeypatch.setattr(checking, check, lambda *_: ok("machine", "other", "not made here"))
    (event / "images").mkdir()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (100, 50)).save(event / "images/1.jpg", exif=exif)
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]}
    empty = annotation | {"id": 2, "bbox": [5, 5, 0, 9]}
    outside = annotation | {"id": 3, "bbox": [100, 5, 9, 9]}
    truth = {
        "images": [{"id": 1, "file_name": "1.jpg"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [annotation, empty, outside],
    }
    (event / "ground_truth.json").write_text(json.dumps(truth))
    assert {"images and ground truth"} == contest_findings(event, None).keys()
    found = contest_findings(event, "missing")
    assert "WARN" == found["truth boxes"][0]
    assert "1 without width or height, 1 wholly outside of the image" in found["truth boxes"][1]
    assert "WARN" == found["orientation of images"][0]
    assert "EXIF turns 1 of 1 image: 1.jpg (turned by 90°)" in found["orientation of images"][1]
    assert found == contest_findings(event, None)

    truth["annotations"] = [annotation]
    (event / "ground_truth.json").write_text(json.dumps(truth))
    assert {"images and ground truth"} == contest_findings(event, None).keys()
    assert "OK" == contest_findings(event, "missing")["truth boxes"][0]


def test_lanes_whose_meters_were_not_asked_are_not_ready(event: Path, switch_on: Switch) -> None:
    """A quick check does not say 'Ready' of what the whole check refuses."""
    meter = switch_on()
    spelled = meter.resource.replace("127.0.0.1", "localhost")
    found = own_meters(event, meter.resource, spelled, None)
    assert ["own meter of lane left", "own meter of lane right"] == list(found)
    assert f"it may be that of lane 'right' ({spelled})" in found["own meter of lane left"]


def test_a_check_makes_nothing_where_the_event_has_no_folder(event: Path) -> None:
    """Slow checks of images are made, and shown; what they find stands nowhere."""
    shutil.rmtree(event / "data")
    (event / "signing.pub").unlink()
    before = sorted(event.rglob("*"))
    assert "OK" == contest_findings(event, "missing")["images and ground truth"][0]
    assert before == sorted(event.rglob("*"))


def test_a_check_names_a_folder_of_somebody_else(event: Path) -> None:
    """It fails, makes no slow check, and the list has the rest."""
    shutil.rmtree(event / "data")
    (event / "data").mkdir()
    (event / "data/photo.jpg").touch()
    before = sorted(event.rglob("*"))
    shown = as_json(check_here(load_config(event / "contest.toml"), "all", lambda _: None))
    texts = [it["text"] for it in shown["findings"] if it["level"] == "FAIL"]
    assert 1 == len(texts) and "holds photo.jpg" in texts[0]
    assert before == sorted(event.rglob("*"))
