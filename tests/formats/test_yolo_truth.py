# SPDX-License-Identifier: Apache-2.0
"""Ground truth as a folder of YOLO labels: boxes in pixels, counts, and the same scores as COCO."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.truth_file import KnownImage
from referee.scoring import (
    evaluate,
    evaluate_coco,
    load_coco_truth,
    load_detections,
    load_ground_truth,
)
from tests.support.yolo_data import SIZE, write_image, write_labels, write_text

BOX = "0 0.5 0.5 0.2 0.4\n"


def refusal(path: Path, **options) -> str:
    """Return the text of the error that reading raises."""
    with pytest.raises(InputError) as error:
        read_ground_truth(path, **options)
    return str(error.value).replace(f"{path.parent}{os.sep}", "")


def test_boxes_are_those_of_coco(tmp_path):
    """A box is x=(cx-w/2)W, y=(cy-h/2)H and ends at x+w-1, unrounded; class index 0 is class 1."""
    labels, images = write_labels(tmp_path, {"b": "1 0.5 0.5 0.101 0.4\n", "a": BOX})
    found = read_ground_truth(labels, images=images)
    truth = found.truth
    assert [1, 2] == truth.image_ids.tolist()
    assert {1: "a.png", 2: "b.png"} == found.file_names
    assert {1: SIZE, 2: SIZE} == found.sizes
    assert {1: "cat", 2: "dog"} == truth.class_names
    assert ([1, 2], [1, 2]) == (truth.box_image_id.tolist(), truth.box_class_id.tolist())
    expected = [[80, 30, 119, 69], [89.9, 30, 89.9 + 20.2 - 1, 69]]
    assert np.allclose(expected, truth.box, rtol=0, atol=1e-12)


def test_everything_that_came_is_counted(tmp_path):
    """What came and what was taken are facts: images, files, objects, and what was left out."""
    labels, images = write_labels(
        tmp_path,
        {
            "a": BOX + BOX,
            "b": "\r\n",
            "c": "1 0.1 0.1 0.3 0.1 0.3 0.4\n1 0.9 0.5 0.4 0.2\n0 0.2 0.2 0.1 0.1\n",
        },
        more_images=["d.png"],
    )
    write_text(labels / "train.txt", "images/a.png\n")
    counts = read_ground_truth(labels, images=images).labels
    assert (4, 3, 1, 4) == (counts.images, counts.labelled, counts.empty, counts.boxes)
    assert (1, 1, 1) == (counts.outlines, counts.duplicates, counts.beyond)
    assert (1, str(tmp_path / "data.yaml")) == (counts.other_texts, counts.names)


def test_images_without_a_label_file_have_no_object(tmp_path):
    """An image of the folder is an image of the ground truth, with a label file or without."""
    labels, images = write_labels(tmp_path, {"7": BOX}, more_images=["12.png", "3.png"])
    truth = read_ground_truth(labels, images=images).truth
    assert ([3, 7, 12], [7]) == (truth.image_ids.tolist(), truth.box_image_id.tolist())


def test_the_images_are_found_beside_the_labels(tmp_path):
    """Without a folder of images the layout of the tools says where they are."""
    labels, _ = write_labels(tmp_path, {"a": BOX})
    assert [1] == read_ground_truth(labels).truth.box_image_id.tolist()


def test_a_data_set_s_own_folder_is_read_whole(tmp_path):
    """The folder above `train` and `valid` has all images, in order of their paths."""
    for part in ("train", "valid"):
        write_text(tmp_path / part / "labels/a.txt", BOX)
        write_image(tmp_path / part / "images/a.png")
    write_text(tmp_path / "data.yaml", "names: [cat]")
    found = read_ground_truth(tmp_path)
    assert {1: "train/images/a.png", 2: "valid/images/a.png"} == found.file_names
    assert [1, 2] == found.truth.box_image_id.tolist()


def test_a_list_of_sizes_takes_the_place_of_the_images(tmp_path):
    """Labels that are named by numbers need only the list image_id,width,height."""
    write_text(tmp_path / "labels/000007.txt", BOX)
    sizes = write_text(tmp_path / "sizes.csv", "7,200,100\n12,10,10\n")
    truth = read_ground_truth(tmp_path / "labels", images=sizes, classes=3).truth
    assert ([7, 12], [1, 2, 3]) == (truth.image_ids.tolist(), truth.class_ids.tolist())
    assert np.allclose([[80, 30, 119, 69]], truth.box)


def test_without_names_the_highest_class_ends_the_list(tmp_path):
    """Labels alone have as many classes as they use, and that nothing named them is a fact."""
    labels, images = write_labels(tmp_path, {"a": "3 0.5 0.5 0.2 0.4\n"}, names=None)
    found = read_ground_truth(labels, images=images)
    assert ([1, 2, 3, 4], None) == (found.truth.class_ids.tolist(), found.labels.names)


@pytest.mark.parametrize(
    ("labels", "more", "said"),
    [
        ({"a": BOX, "b": "2 0.5 0.5 0.1 0.1"}, [], "labels/b.txt, line 1, class: '2' is beyond"),
        ({"a": "0 320 200 50 40"}, [], "labels/a.txt, line 1, column 2: 320 is above 1"),
        ({"a": BOX}, ["a.jpg"], "a.jpg and a.png have one name"),
        ({"a": ""}, [], "has no boxes: there is nothing to score against"),
        (
            {"a": "0 0.1 0.1 0.3 0.4\n0 0.6 0.6 0.9 0.9\n0 0.4 0.5 0.5 0.6\n"},
            [],
            "2 of 3 boxes reach beyond their image",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, labels, more, said):
    """Classes without a name, pixels, twins, nothing at all, and corners are told."""
    folder, images = write_labels(tmp_path, labels, more_images=more)
    assert said in refusal(folder, images=images)


def test_a_label_file_without_an_image_is_refused(tmp_path):
    """An image that is missing is named, as it is for other ground truths."""
    labels, images = write_labels(tmp_path, {"a": BOX, "b": BOX})
    (images / "b.png").unlink()
    assert "1 of 2 label files belong to no image" in refusal(labels, images=images)


def test_notes_among_the_labels_are_counted(tmp_path):
    """A text that holds no labels needs no image; it is told that it is not used."""
    labels, images = write_labels(tmp_path, {"a": BOX})
    write_text(labels / "notes.txt", "ask Kim about image 3\n")
    assert 1 == read_ground_truth(labels, images=images).labels.other_texts


def test_one_file_of_a_data_set_says_what_to_give(tmp_path):
    """A single label file, and data.yaml, are no ground truth: their folder is."""
    labels, _ = write_labels(tmp_path, {"a": BOX})
    assert "is a label file of one image: give the folder" in refusal(labels / "a.txt")
    assert "data.yaml describes a data set" in refusal(tmp_path / "data.yaml")


def test_labels_without_any_image_say_what_to_give(tmp_path):
    """Fractions need sizes, so the folder of the images is asked for."""
    write_text(tmp_path / "annotations/a.txt", BOX)
    assert "give the folder of the images too" in refusal(tmp_path / "annotations")


def test_a_damaged_image_is_named(tmp_path):
    """An image whose header cannot be read ends in a sentence with its name."""
    labels, images = write_labels(tmp_path, {"a": BOX})
    write_text(images / "a.png", b"\x89PNG\r\n\x1a\n")
    assert "images/a.png: is not an image" in refusal(labels, images=images)


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_an_image_counts_as_a_viewer_shows_it(tmp_path, orientation):
    """Labels are made on the turned image, so they are fractions of its sides."""
    labels, images = write_labels(tmp_path, {}, names=["cat"])
    write_text(tmp_path / "labels/a.txt", BOX)
    write_image(tmp_path / "images/a.jpg", orientation=orientation)
    found = read_ground_truth(labels, images=images)
    turned = orientation > 1
    swapped = orientation in (6, 8)
    expected = [40, 60, 59, 139] if swapped else [80, 30, 119, 69]
    assert np.allclose(expected, found.truth.box[0])
    assert (("a.jpg",) if turned else ()) == found.labels.turned
    # A size that the stored image does not have would be held against it.
    assert ({} if swapped else {1: SIZE}) == found.sizes


def test_composed_and_decomposed_names_are_one(tmp_path):
    """A label file that a Mac named finds its image."""
    labels, images = write_labels(tmp_path, {}, names=["cat"])
    write_text(tmp_path / "labels" / unicodedata.normalize("NFD", "café.txt"), BOX)
    write_image(tmp_path / "images" / unicodedata.normalize("NFC", "café.png"))
    assert 1 == len(read_ground_truth(labels, images=images).truth.box)


def test_a_contest_knows_images_and_names(tmp_path):
    """A folder that came without images and names is read with what a contest knows of them."""
    write_text(tmp_path / "labels/b.txt", BOX)
    known = [KnownImage("a.png", 4, 50, 50), KnownImage("b.png", 9, *SIZE)]
    found = read_ground_truth(tmp_path / "labels", pictures=known, class_names={1: "cat", 2: "dog"})
    assert ([4, 9], [9]) == (found.truth.image_ids.tolist(), found.truth.box_image_id.tolist())
    assert {1: "cat", 2: "dog"} == found.truth.class_names


def test_names_in_another_order_than_the_contest_s_are_refused(tmp_path):
    """An export whose classes have another order would take cats for dogs."""
    labels, images = write_labels(tmp_path, {"a": BOX}, names=["dog", "cat"])
    said = refusal(labels, pictures=images, class_names={1: "cat", 2: "dog"})
    assert "names class 0 'dog', and the contest 'cat'" in said


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_labels_score_as_coco_does(tmp_path, seed):
    """The same boxes as COCO JSON and as labels give the same mAP and the same twelve numbers."""
    chance = np.random.default_rng(seed)
    content, labels, results = _random_boxes(chance)
    truth_path = write_text(tmp_path / "truth.json", json.dumps(content))
    results_path = write_text(tmp_path / "results.json", json.dumps(results))
    folder, images = write_labels(tmp_path, labels, names=["a", "b", "c"])
    coco = load_ground_truth(truth_path)
    yolo = load_ground_truth(folder, images=images)
    one, other = (load_detections(results_path, truth, image_ids="own") for truth in (coco, yolo))
    assert evaluate(coco, one).mean_ap == pytest.approx(evaluate(yolo, other).mean_ap, abs=1e-12)
    numbers = evaluate_coco(coco, one).numbers
    assert numbers == pytest.approx(evaluate_coco(yolo, other).numbers, abs=1e-12)
    again = evaluate_coco(load_coco_truth(folder, images=images), other).numbers
    assert numbers == pytest.approx(again, abs=1e-12)


def _random_boxes(chance):
    """Return COCO instances, the same as labels, and results near them."""
    width, height = SIZE
    annotations, results = [], []
    labels = {f"{image:03d}": "" for image in range(1, 9)}
    for image in range(1, 9):
        for _ in range(int(chance.integers(0, 5))):
            w, h = chance.uniform(5, 80), chance.uniform(5, 50)
            x, y = chance.uniform(0, width - w), chance.uniform(0, height - h)
            klass = int(chance.integers(1, 4))
            annotations.append({"image_id": image, "category_id": klass, "bbox": [x, y, w, h]})
            fractions = ((x + w / 2) / width, (y + h / 2) / height, w / width, h / height)
            labels[f"{image:03d}"] += f"{klass - 1} {' '.join(map(repr, map(float, fractions)))}\n"
            near = (np.array([x, y, w, h]) + chance.uniform(-6, 6, 4)).tolist()
            score = float(chance.random())
            entry = {"image_id": image, "category_id": klass, "bbox": near, "score": score}
            results.append(entry)
    content = {
        "images": [{"id": image} for image in range(1, 9)],
        "categories": [{"id": number, "name": name} for number, name in enumerate("abc", start=1)],
        "annotations": annotations,
    }
    return content, labels, results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("detector", "mean_ap"),
    [("ssd_mobilenet_v1", 0.335107299485), ("efficientdet_lite0", 0.448089373355)],
)
def test_real_photographs_as_labels_give_the_known_scores(tmp_path, shared_data, detector, mean_ap):
    """COCO's boxes and a real detector's, both as YOLO would write them, give the known mAP."""
    source = shared_data / "coco-tiny"
    content = json.loads((source / "annotations.json").read_text(encoding="utf-8"))
    results = json.loads((source / f"detections_{detector}.json").read_text(encoding="utf-8"))
    names = [one["name"] for one in sorted(content["categories"], key=lambda one: one["id"])]
    single = [one for one in content["annotations"] if not one["iscrowd"]]
    _write_rows(tmp_path / "labels", content, single)
    _write_rows(tmp_path / "found", content, results)
    lines = "".join(f"  {index}: {name}\n" for index, name in enumerate(names))
    write_text(tmp_path / "data.yaml", f"names:\n{lines}")
    truth = load_ground_truth(tmp_path / "labels", images=source / "images")
    result = evaluate(truth, load_detections(tmp_path / "found", truth))
    assert mean_ap == pytest.approx(result.mean_ap, abs=1e-12)
    of_coco = load_ground_truth(source / "annotations.json")
    result = evaluate(of_coco, load_detections(tmp_path / "found", of_coco))
    assert mean_ap == pytest.approx(result.mean_ap, abs=1e-12)


def _write_rows(folder: Path, content, entries):
    """Write COCO's entries as rows of labels, by a formula of the test's own."""
    place = {one["id"]: k for k, one in enumerate(sorted(content["categories"], key=_id))}
    images = {one["id"]: one for one in content["images"]}
    rows: dict[int, list[str]] = {image: [] for image in images}
    for entry in entries:
        x, y, w, h = entry["bbox"]
        width, height = (images[entry["image_id"]][side] for side in ("width", "height"))
        numbers = [(x + w / 2) / width, (y + h / 2) / height, w / width, h / height]
        numbers += [entry["score"]] if "score" in entry else []
        rows[entry["image_id"]].append(
            f"{place[entry['category_id']]} {' '.join(map(repr, numbers))}"
        )
    for image, lines in rows.items():
        name = Path(images[image]["file_name"]).stem
        write_text(folder / f"{name}.txt", "\n".join(lines))


def _id(entry):
    return entry["id"]
