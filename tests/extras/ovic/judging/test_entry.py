# SPDX-License-Identifier: Apache-2.0
"""Made and real models get the accuracy that their known answers have, and are measured."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging.benchmark import PARTS, TimedRuns, benchmark
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.dataset import Dataset, images_in
from referee.extras.ovic.judging.entry import Trial, accuracy_of
from referee.extras.ovic.judging.figures import write_coco_results
from referee.extras.ovic.judging.jobs import ModelFault
from referee.extras.ovic.judging.machine import choose_core
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.rules.model_rules import ModelRules
from referee.formats.loading import load_coco_results, load_coco_truth
from referee.scoring import coco

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
# Each answer needs a process that imports LiteRT.
pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[4] / "../shared/data"
REAL = pytest.mark.skipif(not DATA.is_dir(), reason="the real models are not here")
LIMITS = Limits(seconds=300)
COLOURS = {"red": (250, 10, 10), "green": (10, 250, 10), "blue": (10, 10, 250)}


@pytest.fixture
def models():
    """Return the maker of models; its import needs LiteRT."""
    from tests.support import tflite_models

    return tflite_models


@pytest.fixture
def colours(tmp_path) -> Path:
    """Write a folder with a red, a green and a blue image of different sizes."""
    folder = tmp_path / "images"
    folder.mkdir()
    for number, (name, colour) in enumerate(COLOURS.items(), start=2):
        Image.new("RGB", (40 * number, 30), colour).save(folder / f"{name}.png")
    return folder


@pytest.mark.parametrize("classes", [1001, 1000])
def test_top_1_counts_right_labels_with_and_without_a_background(classes, models, colours):
    """Labels are those of 1001 classes: red is 1, green 2, blue 3; two of three are right here."""
    model, labels = colours.parent / "m.tflite", colours.parent / "labels.csv"
    model.write_bytes(models.classifier(classes))
    labels.write_text("file,label\nred.png,1\ngreen.png,2\nblue.png,7\n")
    rules = ModelRules("classification", background=classes == 1001)
    found = accuracy_of(Trial(model, rules, 0.875, LIMITS), Dataset(colours, labels))
    assert (2, 3) == (found.right, found.images)
    assert 200 / 3 == pytest.approx(found.percent)


def coco_truth(colours: Path, category: int) -> Path:
    """Write ground truth with the box that the made detector finds in each image."""
    images = [
        {"id": 10 * k, "file_name": f"{name}.png", "width": 40 * k, "height": 30}
        for k, name in enumerate(COLOURS, start=2)
    ]
    boxes = [
        {
            "id": k,
            "image_id": image["id"],
            "category_id": category,
            # The detector's box 0 is 0.25…0.75 of the height and 0.5…1 of the width.
            "bbox": [image["width"] / 2, 7.5, image["width"] / 2, 15],
            "area": image["width"] * 7.5,
            "iscrowd": 0,
        }
        for k, image in enumerate(images, start=1)
    ]
    path = colours.parent / "truth.json"
    categories = [{"id": id_, "name": str(id_)} for id_ in (1, 17)]
    path.write_text(json.dumps({"images": images, "annotations": boxes, "categories": categories}))
    return path


@pytest.mark.parametrize(("category", "percent"), [(17, 100), (1, 0)])
def test_a_known_box_gives_a_known_map(category, percent, models, colours):
    """Class index 16 is category 17; the known box gives 100 %, and as another category 0 %."""
    model = colours.parent / "m.tflite"
    model.write_bytes(models.detector())
    truth = coco_truth(colours, category)
    found = accuracy_of(Trial(model, ModelRules("detection"), 1.0, LIMITS), Dataset(colours, truth))
    assert (percent, 3) == (pytest.approx(found.percent), found.images)


def test_boxes_end_at_the_image_and_the_overhang_is_told(models, colours):
    """A box that reaches out is the box of its part in the image."""
    outputs = models.known_detections()
    outputs[0][0, 0] = [0.25, 0.5, 0.75, 1.4]
    model = colours.parent / "m.tflite"
    model.write_bytes(models.detector(outputs))
    truth = coco_truth(colours, 17)
    found = accuracy_of(Trial(model, ModelRules("detection"), 1.0, LIMITS), Dataset(colours, truth))
    assert 100 == pytest.approx(found.percent)
    assert (3, 300) == (found.overhang.boxes, found.overhang.of)
    assert 0.4 == pytest.approx(found.overhang.most)


@pytest.mark.parametrize(
    ("output", "value", "rule"),
    [(0, [50, 80, 120, 160], "box_range"), (0, np.nan, "not_a_number"), (2, 7.0, "score_range")],
)
def test_every_answer_keeps_the_rules(output, value, rule, models, colours):
    """What a model says of an image that nobody tried before is judged, too."""
    outputs = models.known_detections()
    outputs[output][0, 1] = value
    model = colours.parent / "m.tflite"
    model.write_bytes(models.detector(outputs))
    truth = coco_truth(colours, 17)
    with pytest.raises(ModelFault) as caught:
        accuracy_of(Trial(model, ModelRules("detection"), 1.0, LIMITS), Dataset(colours, truth))
    assert rule == caught.value.failure.rule


def test_fewer_boxes_on_an_image_are_scored(models, colours):
    """The count says how many there are: what the memory held behind them is left out."""
    outputs = models.known_detections()
    outputs[3][0] = 1
    outputs[0][0, 1:], outputs[2][0, 1:] = np.nan, 1.0
    model = colours.parent / "m.tflite"
    model.write_bytes(models.detector(outputs))
    truth = coco_truth(colours, 17)
    found = accuracy_of(Trial(model, ModelRules("detection"), 1.0, LIMITS), Dataset(colours, truth))
    assert (100, 3) == (pytest.approx(found.percent), found.overhang.of)


def test_a_detectors_answers_are_kept_as_an_evaluation_server_takes_them(models, colours):
    """The file has image and category ids of the truth and pixels, and scores as the model does."""
    model, out = colours.parent / "m.tflite", colours.parent / "results.json"
    model.write_bytes(models.detector())
    truth = coco_truth(colours, 17)
    accuracy_of(
        Trial(model, ModelRules("detection"), 1.0, LIMITS),
        Dataset(colours, truth),
        keep=lambda results: write_coco_results(out, results),
    )
    entries = json.loads(out.read_text())
    assert {"image_id", "category_id", "bbox", "score"} == set(entries[0])
    best = max((it for it in entries if it["image_id"] == 20), key=lambda it: it["score"])
    assert (17, [40.0, 7.5, 40.0, 15.0]) == (best["category_id"], best["bbox"])
    scored = coco.evaluate(load_coco_truth(truth), load_coco_results(out))
    assert 1.0 == pytest.approx(scored.mean_ap)


def test_more_images_than_a_batch_are_answered_in_order(models, colours, monkeypatch):
    """Each batch is a job of its own; progress counts through all of them."""
    monkeypatch.setattr("referee.extras.ovic.judging.entry.BATCH", 2)
    model, labels = colours.parent / "m.tflite", colours.parent / "labels.csv"
    model.write_bytes(models.classifier())
    labels.write_text("red.png,1\nblue.png,3\ngreen.png,2\n")
    seen: list[tuple[int, int]] = []
    rules = ModelRules("classification")
    trial = Trial(model, rules, 1.0, LIMITS, lambda done, total: seen.append((done, total)))
    found = accuracy_of(trial, Dataset(colours, labels))
    assert 3 == found.right
    assert (3, 3) == seen[-1]
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("red.png,1001\n", "line 1, label: 1001 is not 0 to 1000"),
        ("file,label\nred.png,cat\n", "line 2, label: 'cat' is not a whole number"),
        ("red.png,1\npink.png,1\n", "1 of 2 images are not there: pink.png"),
        ("", "has no line file,label"),
    ],
)
def test_unusable_labels_are_named(lines, sentence, models, colours):
    """A faulty line or a missing image gives a sentence, before the model runs."""
    labels = colours.parent / "labels.csv"
    labels.write_text(lines)
    with pytest.raises(InputError, match=sentence.replace(".", r"\.")):
        accuracy_of(
            Trial(labels, ModelRules("classification"), 1.0, LIMITS), Dataset(colours, labels)
        )


def test_a_damaged_image_stops_with_a_sentence(models, colours):
    """An image that cannot be read names what the library says."""
    model, labels = colours.parent / "m.tflite", colours.parent / "labels.csv"
    model.write_bytes(models.classifier())
    (colours / "red.png").write_bytes(b"no picture")
    labels.write_text("red.png,1\n")
    with pytest.raises(InputError, match=r"cannot be scored.*red\.png"):
        accuracy_of(
            Trial(model, ModelRules("classification"), 1.0, LIMITS), Dataset(colours, labels)
        )


def test_a_measurement_has_each_part_the_core_and_the_versions(models, colours):
    """Each run has four parts; the whole is at least the run, and the record says on what."""
    model = colours.parent / "m.tflite"
    model.write_bytes(models.classifier())
    seen: list[tuple[int, int]] = []
    plan = Plan(warm_up=3, runs=50, tolerance=1.0)
    found = benchmark(
        *(model, images_in(colours), plan, LIMITS), lambda done, total: seen.append((done, total))
    )
    report = found.report()
    assert 50 == found.latency.runs and (50, 50) == seen[-1]
    assert set(PARTS) == set(report["parts_ms"])
    assert found.whole.least >= found.latency.least > 0
    assert report["latency_ms"] == report["parts_ms"]["run"]
    assert choose_core(None) == report["machine"]["core"]
    assert {"ai-edge-litert", "numpy", "pillow"} == set(report["machine"]["libraries"])
    assert hashlib.sha256(model.read_bytes()).hexdigest() == report["model_sha256"]
    assert (1, 1, 3) == (report["threads"], report["batch"], report["images"])
    assert report == json.loads(json.dumps(report))


def test_a_core_that_is_not_there_is_refused():
    """A core outside those of the process is named with the ones to choose from."""
    with pytest.raises(InputError, match="core 9999 is not available: choose one of"):
        choose_core(9999)


def test_too_few_runs_are_refused(models, colours):
    """A plan with few runs is refused before anything is measured."""
    with pytest.raises(InputError, match="49 runs are too few"):
        benchmark(colours / "none.tflite", images_in(colours), Plan(runs=49), LIMITS)


def test_a_model_that_changes_while_it_is_measured_gives_no_figure(colours):
    """The hash in a report is that of the model that was measured, or there is no report."""
    model = colours.parent / "changing.tflite"
    model.write_bytes(b"one")

    def measure(*_):
        model.write_bytes(b"two")
        return TimedRuns([[1.0] * 5] * 50, (1.0, 0.0), {})

    with pytest.raises(Unavailable, match="changed while it was measured"):
        benchmark(model, images_in(colours), Plan(runs=50), LIMITS, measure=measure)


@REAL
def test_the_real_classifier_is_right_81_times_of_100():
    """EfficientNet-Lite0 on 100 photographs, whole images resized."""
    folder = DATA / "imagenet-val-100"
    model = DATA / "models/efficientnet_lite0.tflite"
    found = accuracy_of(
        Trial(model, ModelRules("classification", background=False), 1.0, LIMITS),
        Dataset(folder / "images", folder / "labels.csv"),
    )
    assert (81, 100, 81.0) == (found.right, found.images, found.percent)


@REAL
@pytest.mark.parametrize(
    ("name", "boxes", "mean_ap"),
    [("mobilenetv1", 10, 0.203656), ("efficientdet-lite0", 25, 0.301501)],
)
def test_the_real_detectors_reach_the_stored_map(name, boxes, mean_ap):
    """COCO mAP on 80 photographs is within 0.002 of the answers stored beside them."""
    model, folder = DATA / f"models/{name}.tflite", DATA / "coco-tiny"
    found = accuracy_of(
        Trial(model, ModelRules("detection", boxes=boxes), 1.0, LIMITS),
        Dataset(folder / "images", folder / "annotations.json"),
    )
    assert 80 == found.images
    assert mean_ap == pytest.approx(found.percent / 100, abs=0.002)


def test_a_detectors_rows_are_pixels_of_each_image():
    """Shares of the image become x, y, width and height; rows beyond the count are left out."""
    from referee.extras.ovic.judging.entry import coco_results

    outputs = [
        np.array([[[0.25, 0.5, 0.75, 1.0], [0, 0, 1, 1]]], np.float32),
        np.array([[16, 0]], np.float32),
        np.array([[0.5, 0.25]], np.float32),
        np.array([1], np.float32),
    ]
    rows = coco_results([42], [(200, 100, outputs)])
    assert ([42], [17], [0.5]) == tuple(
        it.tolist() for it in (rows.image_id, rows.category_id, rows.score)
    )
    assert [[100, 25, 100, 50]] == rows.box.tolist()
