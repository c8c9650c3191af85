# SPDX-License-Identifier: Apache-2.0
"""Every sample client plays a whole session against the real referee, and gets the right score."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Material, Rehearse
from tests.support.programs import C_WITH_LIBCURL
from tests.support.running import PATIENCE_S, referee

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

# Published mAP of the models on COCO's photographs, and the difference another resizing may make.
MODELS = {"mobilenetv1.tflite": 0.335107, "efficientdet-lite0.tflite": 0.448089}
RESIZING = 0.02


def offline_map(truth: Path, detections: Path) -> float:
    """Return the mAP that `referee score` gives for the same files."""
    done = referee("score", "--ground-truth", str(truth), "--detections", str(detections), "--json")
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["mean_ap"])


def take_part(*command: str) -> None:
    """Run a client to its end; it must exit with 0."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE_S)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", [(), ("--zip",)], ids=["one by one", "archives"])
def test_pipelined_client(standing: Rehearse, material: Material, how: tuple[str, ...]) -> None:
    """The pipelined client's session gets the score of its answers."""
    running = standing("--seconds", "600", "--meter", "none")
    take_part(
        *(sys.executable, "-m", "client_sample.pipelined", "--url", running.contest),
        *("--user", "me", "--password", "practice", "--answers", str(material.answers), *how),
    )
    row = running.scored()
    assert row["mean_ap"] == pytest.approx(
        offline_map(material.ground_truth, material.answers), abs=1e-12
    )
    assert running.lane()["current"]["images_fetched"] == 12


@pytest.mark.needs(C_WITH_LIBCURL)
def test_c_client(standing: Rehearse, material: Material, tmp_path: Path) -> None:
    """The C client, built with its one command, gets the score of its answers."""
    source = ROOT / "client_sample" / "client.c"
    take_part("cc", "-O2", "-o", str(tmp_path / "client"), str(source), "-lcurl")
    lines = tmp_path / "answers.txt"
    rows = json.loads(material.answers.read_text())
    lines.write_text("".join(_line(row) for row in rows))
    running = standing("--seconds", "600", "--meter", "none")
    take_part(str(tmp_path / "client"), running.contest, "me", "practice", str(lines))
    assert running.scored()["mean_ap"] == pytest.approx(
        offline_map(material.ground_truth, material.answers), abs=1e-12
    )


@pytest.mark.parametrize("model", MODELS)
def test_real_model_on_real_photographs(standing: Rehearse, shared_data: Path, model: str) -> None:
    """A real TensorFlow Lite detector reaches its published mAP, within the effect of resizing."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    folder = shared_data / "coco-tiny"
    running = standing(
        *("--seconds", "600", "--meter", "none"),
        images=folder / "images",
        truth=folder / "annotations.json",
    )
    take_part(
        *(
            sys.executable,
            "-m",
            "client_sample.pipelined",
            "--url",
            running.contest,
            "--user",
            "me",
        ),
        *("--password", "practice", "--model", str(shared_data / "models" / model)),
    )
    assert running.scored()["mean_ap"] == pytest.approx(MODELS[model], abs=RESIZING)


def _line(row: dict[str, object]) -> str:
    """Write one COCO result as a line of the detections file."""
    box = row["bbox"]
    assert isinstance(box, list)
    x, y, width, height = box
    numbers = (row["score"], x, y, x + width - 1, y + height - 1)
    return f"{row['image_id']} {row['category_id']} " + " ".join(map(repr, numbers)) + "\n"
