# SPDX-License-Identifier: Apache-2.0
"""The picture of a model's check: one photograph with the right fit, and with a wrong one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By

from client_sample.models.picture import place
from tests.e2e.conftest import Material
from tests.pictures.album import Album
from tests.support.onnx_models import write_model

_SIDE = 640
_MOST_OBJECTS = 6


def model_check(album: Album, folder: Path, material: Material, browser: webdriver.Chrome) -> None:
    """Let a model that knows one photograph's boxes be looked at twice."""
    photos = folder / "photos"
    photos.mkdir()
    truth = json.loads(material.ground_truth.read_text(encoding="utf-8"))
    shown = _shown(truth)
    (photos / shown["file_name"]).write_bytes((material.images / shown["file_name"]).read_bytes())
    model = _model(folder / "best.onnx", truth, shown)
    parts = []
    for fit in ("letterbox", "stretch"):
        command = [sys.executable, "-m", "client_sample.pipelined", "--url", "127.0.0.1:1"]
        command += ["--model", str(model), "--check", str(photos), "--fit", fit]
        subprocess.run([*command, "--threads", "1"], cwd=folder, check=True)
        browser.get((folder / "model-check.html").as_uri())
        drawn = browser.find_element(By.TAG_NAME, "svg").get_attribute("outerHTML")
        parts.append(f"<figure><figcaption>--fit {fit}</figcaption>{drawn}</figure>")
    style = browser.find_element(By.TAG_NAME, "style").get_attribute("outerHTML")
    page = folder / "both.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8>{style}<style>main{{display:flex;gap:1em;width:62em}}"
        f"figure{{flex:1;margin:0}}</style><main>{''.join(parts)}</main>",
        encoding="utf-8",
    )
    browser.get(page.as_uri())
    album.take("model-check", browser.find_element(By.TAG_NAME, "main"))


def _shown(truth: dict) -> dict:
    """Return the image with the most objects that a reader can still tell apart."""
    counts = {one["id"]: 0 for one in truth["images"]}
    for box in truth["annotations"]:
        counts[box["image_id"]] += 1
    wide = [one for one in truth["images"] if one["width"] > one["height"]]
    return max(wide, key=lambda one: (counts[one["id"]] <= _MOST_OBJECTS, counts[one["id"]]))


def _model(path: Path, truth: dict, shown: dict) -> Path:
    """Write a model that gives the image's boxes, as a YOLO with suppression inside would."""
    placed = place((shown["width"], shown["height"]), (_SIDE, _SIDE), "letterbox")
    ratio = placed.width / shown["width"]
    names = [one["name"] for one in truth["categories"]]
    index = {one["id"]: k for k, one in enumerate(truth["categories"])}
    rows = [
        [
            *(x * ratio + placed.left, y * ratio + placed.top),
            *((x + width) * ratio + placed.left, (y + height) * ratio + placed.top),
            *(0.0, index[one["category_id"]]),
        ]
        for one in truth["annotations"]
        if one["image_id"] == shown["id"]
        for x, y, width, height in [one["bbox"]]
    ]
    for k, row in enumerate(rows):
        row[4] = 0.94 - 0.07 * k
    metadata = {"names": str(names), "stride": "32", "task": "detect"}
    table = np.array([rows], np.float32)
    return write_model(path, [("output0", table)], metadata, (1, 3, _SIDE, _SIDE))
