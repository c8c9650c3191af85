# SPDX-License-Identifier: Apache-2.0
"""Ground truth from well-formed and malformed files.

It tests the readers of all formats, whose modules are several.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

from referee.errors import InputError
from referee.formats import coco_truth
from referee.formats.ground_truth import read_ground_truth

IMAGES = [
    {"id": 70, "file_name": "b.jpg", "width": 640, "height": 480},
    {"id": 9, "file_name": "a.jpg", "width": 320, "height": 240},
]
CATEGORIES = [{"id": 1, "name": "person"}, {"id": 90, "name": "toothbrush"}]
ANNOTATION = {"id": 5, "image_id": 70, "category_id": 90, "bbox": [10.5, 20, 30, 40]}
VOC = """<annotation><filename>x</filename><size><width>500</width><height>375</height></size>
{objects}</annotation>"""
OBJECT = """<object><name>{name}</name><bndbox><xmin>1</xmin><xmax>20</xmax><ymin>3</ymin>
<ymax>40</ymax></bndbox></object>"""


def write_coco(folder, **changes):
    """Write COCO instances with some members replaced, and return the path."""
    content = {"images": IMAGES, "categories": CATEGORIES, "annotations": [ANNOTATION], **changes}
    path = folder / "instances.json"
    path.write_text(json.dumps(content))
    return path


def write_xml(folder, **objects):
    """Write one XML file per keyword, with objects of the classes given; return the folder."""
    for name, classes in objects.items():
        listed = "".join(OBJECT.format(name=klass) for klass in classes)
        (folder / f"{name}.xml").write_text(VOC.format(objects=listed))
    return folder


def write(folder, text, name="truth.csv"):
    """Write a file of text and return its path."""
    path = folder / name
    path.write_text(text)
    return path


def refusal(path, **options):
    """Return the text of the error that reading raises."""
    with pytest.raises(InputError) as error:
        read_ground_truth(path, **options)
    return str(error.value).replace(str(path.parent) + "/", "")


def test_coco_boxes_become_inclusive_corners(tmp_path):
    """A COCO box of width w ends at x+w-1; ids, names and sizes are the source's own."""
    found = read_ground_truth(write_coco(tmp_path))
    assert [[10.5, 20.0, 39.5, 59.0]] == found.truth.box.tolist()
    assert [9, 70] == found.truth.image_ids.tolist()
    assert [1, 90] == found.truth.class_ids.tolist()
    assert {1: "person", 90: "toothbrush"} == found.truth.class_names
    assert {70: "b.jpg", 9: "a.jpg"} == found.file_names
    assert {70: (640, 480), 9: (320, 240)} == found.sizes


def test_crowd_regions_are_left_out(tmp_path):
    """A crowd region is no ground truth for the ILSVRC metric."""
    annotations = [ANNOTATION, {**ANNOTATION, "id": 6, "iscrowd": 1}]
    assert 1 == len(read_ground_truth(write_coco(tmp_path, annotations=annotations)).truth.box)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ({"image_id": 3}, "annotations[0], image_id: image 3 is not among the images listed"),
        ({"category_id": 7}, "annotations[0], category_id: 7 is not among the categories listed"),
        ({"bbox": [1, 2, 3]}, "annotations[0], bbox: give four numbers [x, y, width, height]"),
        ({"bbox": [1, 2, "x", 4]}, 'annotations[0], bbox: "x" is not a number'),
        ({"bbox": [1, 2, -3, 4]}, "has a width or height below 0"),
        ({"bbox": [1, 2, 10**400, 4]}, "is too large"),
        ({"image_id": "70"}, 'annotations[0], image_id: "70" is not a whole number'),
        ({"image_id": 2**80}, "does not fit into 64 bits"),
        ({"iscrowd": "0"}, "annotations[0], iscrowd: give 0 or 1"),
        ({"area": None}, "annotations[0], area: null is not a number"),
        ({"area": math.nan}, "annotations[0], area: nan is below 0, or is not finite"),
        ({"area": math.inf}, "annotations[0], area: inf is below 0, or is not finite"),
        ({"area": -1}, "annotations[0], area: -1.0 is below 0, or is not finite"),
    ],
)
def test_bad_annotations_are_named(tmp_path, annotation, text):
    """A malformed annotation is named by its index and field."""
    path = write_coco(tmp_path, annotations=[{**ANNOTATION, **annotation}])
    assert text in refusal(path)


def test_coco_without_a_list_or_field_says_which(tmp_path):
    """A missing list or field is named."""
    path = write_coco(tmp_path, categories=None)
    assert "instances.json has no list 'categories'" in refusal(path)
    path = write_coco(tmp_path, annotations=[{"image_id": 70}])
    assert "annotations[0] has no bbox" in refusal(path)
    path = write_coco(tmp_path, annotations=[3])
    assert "annotations[0] is not an object" in refusal(path)


@pytest.mark.parametrize(
    ("annotation", "image"),
    [
        ({}, {}),
        ({"area": 0.1, "iscrowd": 1, "segmentation": [[1, 2, 3, 4]]}, {"license": 3}),
        ({"bbox": [0, 0.1, 1e-3, 2**60], "area": 7}, {"width": "640"}),
        ({"image_id": 70.0}, {"width": None, "height": 3}),
        ({"iscrowd": True, "note": "\ud800"}, {"file_name": 7, "id": 2**62}),
    ],
)
def test_types_change_nothing(tmp_path, monkeypatch, annotation, image):
    """Instances decoded by their types are those that are read entry by entry, to the last bit."""
    annotations = [ANNOTATION, {**ANNOTATION, **annotation}]
    path = write_coco(tmp_path, annotations=annotations, images=[*IMAGES, {"id": 3, **image}])
    by_types = read_ground_truth(path)
    monkeypatch.setattr(coco_truth, "_fast", lambda content: None)
    one_by_one = read_ground_truth(path)
    for field in dataclasses.fields(by_types.truth.coco):
        columns = (getattr(found.truth.coco, field.name) for found in (by_types, one_by_one))
        one, other = columns
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    assert by_types.truth.class_names == one_by_one.truth.class_names
    assert by_types.file_names == one_by_one.file_names
    assert by_types.sizes == one_by_one.sizes


def test_ids_are_listed_once(tmp_path):
    """Two images, or two categories, with the same id are an error."""
    path = write_coco(tmp_path, images=[*IMAGES, IMAGES[0]])
    assert "images[2], id: 70 is listed twice" in refusal(path)
    path = write_coco(tmp_path, categories=[*CATEGORIES, CATEGORIES[1]])
    assert "categories[2], id: 90 is listed twice" in refusal(path)


def test_annotations_are_kept_for_the_other_metric(tmp_path):
    """Areas, crowd regions and exact widths are kept for COCO's own metric."""
    annotations = [{**ANNOTATION, "area": 77.5}, {**ANNOTATION, "id": 6, "iscrowd": 1}]
    coco = read_ground_truth(write_coco(tmp_path, annotations=annotations)).truth.coco
    assert ([77.5, 1200.0], [False, True]) == (coco.area.tolist(), coco.crowd.tolist())
    assert [10.5, 20.0, 30.0, 40.0] == coco.box[0].tolist()


def test_truncated_json_names_the_line(tmp_path):
    """The error for a truncated file names its line."""
    path = write(tmp_path, '{"images": [\n{"id": 1},', "instances.json")
    assert refusal(path).startswith("instances.json, line 2, column 11: not JSON")


def test_coco_results_are_not_ground_truth(tmp_path):
    """COCO results in the place of ground truth are recognised."""
    assert "COCO results" in refusal(write(tmp_path, "[]", "results.json"))


def test_csv_images_come_from_their_own_list(tmp_path):
    """The image list names images without a box; classes run up to the highest one with a box."""
    images = write(tmp_path, "1,500,375\n3,640,480\n2,500,333\n", "images.csv")
    found = read_ground_truth(write(tmp_path, "3,2,0,0,9,19\n\n1,1,5,5,5,5\n"), images=images)
    assert [1, 2, 3] == found.truth.image_ids.tolist()
    assert [1, 2] == found.truth.class_ids.tolist()
    assert [3, 1] == found.truth.box_image_id.tolist()
    assert {1: (500, 375), 2: (500, 333), 3: (640, 480)} == found.sizes


def test_csv_without_a_list_has_the_images_with_boxes(tmp_path):
    """Without a list only images with a box are known."""
    found = read_ground_truth(write(tmp_path, "3,2,0,0,9,19\n1,1,5,5,5,5\n"))
    assert [1, 3] == found.truth.image_ids.tolist()


def test_folder_of_pictures_lists_the_images(tmp_path):
    """A folder of 1.jpg, 2.jpg… is an image list."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for name in ("1.jpg", "2.JPEG", "10.png", "notes.txt"):
        (pictures / name).touch()
    found = read_ground_truth(write(tmp_path, "2,1,0,0,9,19\n"), images=pictures)
    assert [1, 2, 10] == found.truth.image_ids.tolist()
    assert {} == found.sizes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,1,0,0,9\n", "truth.csv, line 1 has 5 fields, not 6: give image_id,class_id,xmin"),
        ("1,1,0,0,9,9\n1,x,0,0,9,9", "truth.csv, line 2, class_id: 'x' is not a whole number"),
        ("1,1,0,0,9,9\n\n1,1,0,0,9,9e", "truth.csv, line 3, ymax: '9e' is not a number"),
        ("1,1,0,0,nan,9", "truth.csv, line 1, xmax: nan is not a finite number"),
        ("1,1,5,0,4,9", "truth.csv, line 1, xmax: 4 is less than xmin 5"),
        ("1,0,0,0,4,9", "truth.csv, line 1, class_id: 0 is not 1 or more"),
        ("1.5,1,0,0,4,9", "truth.csv, line 1, image_id: '1.5' is not a whole number"),
        ("4,1,0,0,4,9", "truth.csv, line 1, image_id: image 4 is not in"),
        ("", "truth.csv has no boxes"),
        ("image_id,class_id,xmin,ymin,xmax,ymax\n", "truth.csv has no boxes"),
        ("1,100001,0,0,4,9", "class_id: 100001 is above 100000, and the class list is 1 to the"),
        ("9" * 20 + ",1,0,0,4,9", "is too large: a whole number has at most 64 bits"),
        (str(2**53) + ",1,0,0,4,9", "is too large: an id in CSV is below 2^53"),
    ],
)
def test_bad_csv_names_line_and_field(tmp_path, text, message):
    """A malformed line is named, with the field and the fault."""
    images = write(tmp_path, "1,500,375\n", "images.csv")
    assert message in refusal(write(tmp_path, text), images=images)


def test_csv_that_is_no_text_is_refused(tmp_path):
    """A picture in the place of the CSV gives a sentence and no traceback."""
    path = tmp_path / "truth.csv"
    path.write_bytes(b"1,1,0,0,9,9\n\xff\xd8\xff\n")
    assert "truth.csv, line 2 is not text" in refusal(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,500,375\n1,500,375\n", "images.csv, line 2, image_id: image 1 is listed twice"),
        ("", "images.csv lists no images"),
        ("1,500\n", "images.csv, line 1 has 2 fields, not 3"),
    ],
)
def test_bad_image_list_is_named(tmp_path, text, message):
    """The error for a malformed image list gives the reason."""
    images = write(tmp_path, text, "images.csv")
    assert message in refusal(write(tmp_path, "1,1,0,0,9,9\n"), images=images)


def test_pictures_without_numbers_are_refused(tmp_path):
    """A folder of named pictures is refused, because it gives no ids."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    path = write(tmp_path, "1,1,0,0,9,9\n")
    assert "has no pictures 1.jpg" in refusal(path, images=pictures)
    (pictures / "cat.jpg").touch()
    assert "cat.jpg is not named by a number" in refusal(path, images=pictures)


def test_blacklist_pairs_are_read(tmp_path):
    """A blacklist takes class ids, or the WordNet ids of the development kit."""
    black = write(tmp_path, "1,2\n3 n02219486\n", "black.csv")
    found = read_ground_truth(write(tmp_path, "1,1,0,0,9,9\n3,3,0,0,9,9\n"), blacklist=black)
    assert [[1, 2], [3, 3]] == found.truth.blacklist.tolist()


def test_blacklist_of_unknown_images_is_refused(tmp_path):
    """A blacklist in another numbering is an error, since it would have no effect."""
    black = write(tmp_path, "1,2\n9,1\n", "black.csv")
    message = refusal(write(tmp_path, "1,1,0,0,9,9\n"), blacklist=black)
    assert "black.csv, line 2, image_id: the ground truth has no image 9" in message


@pytest.mark.parametrize("line", ["1,2", "1,0", "1,-1", "1,n01440764"])
def test_blacklist_of_unknown_classes_is_refused(tmp_path, line):
    """A class that is not in the list, by its number or its synset, is an error as an image is."""
    black = write(tmp_path, f"1,1\n{line}\n", "black.csv")
    message = refusal(write(tmp_path, "1,1,0,0,9,9\n"), blacklist=black)
    assert "black.csv, line 2, class_id: " in message
    if not line.endswith("n01440764"):
        named = line.partition(",")[2]
        assert f"the ground truth has no class '{named}'; use its own class ids" in message


def test_blacklist_may_name_a_class_without_boxes(tmp_path):
    """The list of classes counts, not the boxes."""
    black = write(tmp_path, "1,7\n", "black.csv")
    truth = read_ground_truth(write(tmp_path, "1,1,0,0,9,9\n"), classes=7, blacklist=black).truth
    assert [[1, 7]] == truth.blacklist.tolist()


def test_half_of_a_pair_in_a_class_name_is_stored_as_an_escape(tmp_path):
    """A name that no file can hold becomes text, whatever reads it afterwards."""
    content = {
        "images": [{"id": 1}],
        "categories": [
            {"id": 1, "name": "cat \ud83d"},
            {"id": 2, "name": "Gr\xf6\xdfe \U0001f600"},
        ],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],
    }
    names = read_ground_truth(write(tmp_path, json.dumps(content), "a.json")).truth.class_names
    assert {1: "cat \\ud83d", 2: "Gr\xf6\xdfe \U0001f600"} == names
    assert json.loads(json.dumps(names[1])).encode() == b"cat \\ud83d"


def test_classes_widen_the_list(tmp_path):
    """With a number of classes the list is 1…N, and boxes beyond it are an error."""
    path = write(tmp_path, "1,3,0,0,9,9\n")
    assert list(range(1, 201)) == read_ground_truth(path, classes=200).truth.class_ids.tolist()
    assert "has boxes of class 3, which is outside 1 to 2" in refusal(path, classes=2)
    assert "0 is not a number of classes" in refusal(path, classes=0)


def test_ilsvrc_synsets_have_the_order_of_the_development_kit(tmp_path):
    """WordNet ids become class ids 1..200; images are numbered by ascending name."""
    write_xml(tmp_path, val_00002=["n02391049"], val_00001=["n02672831", "n00007846"], val_3=[])
    found = read_ground_truth(tmp_path)
    assert [1, 1, 2] == found.truth.box_image_id.tolist()
    assert [1, 124, 200] == found.truth.box_class_id.tolist()
    assert [1, 2, 3] == found.truth.image_ids.tolist()
    assert 200 == len(found.truth.class_ids)
    assert ("accordion", "zebra") == tuple(found.truth.class_names[key] for key in (1, 200))
    assert [1.0, 3.0, 20.0, 40.0] == found.truth.box[0].tolist()
    assert (500, 375) == found.sizes[1]


def test_voc_classes_and_numbered_files(tmp_path):
    """PASCAL VOC names have their own class list, and numbered files keep their numbers."""
    found = read_ground_truth(write_xml(tmp_path, **{"000007": ["tvmonitor"], "12": []}))
    assert [20] == found.truth.box_class_id.tolist()
    assert [7, 12] == found.truth.image_ids.tolist()


def test_own_class_list_beside_the_xml(tmp_path):
    """A file classes.txt in the folder gives class ids to names."""
    write(tmp_path, "cat\nzebra crossing\n", "classes.txt")
    found = read_ground_truth(write_xml(tmp_path, a=["zebra crossing"]))
    assert ([2], {1: "cat", 2: "zebra crossing"}) == (
        found.truth.box_class_id.tolist(),
        found.truth.class_names,
    )


def test_image_list_of_the_development_kit(tmp_path):
    """Lines `name id` choose the images and give them their ids."""
    write_xml(tmp_path, a=["dog"], b=["cat"], c=[])
    chosen = write(tmp_path, "c 5\na 4\n", "val.txt")
    truth = read_ground_truth(tmp_path, images=chosen).truth
    assert ([4, 5], [4]) == (truth.image_ids.tolist(), truth.box_image_id.tolist())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "val.txt, line 1 has 1 field, not 2"),
        ("z 1\n", "has no z.xml"),
        ("a 1\na 2\n", "val.txt, line 2, name: a is listed twice"),
        ("a 1\nb 1\n", "val.txt gives one image id to two images"),
        ("a x\n", "val.txt, line 1, image_id: 'x' is not a whole number"),
    ],
)
def test_bad_list_beside_xml_is_named(tmp_path, text, message):
    """A list that does not fit the folder is refused with its line."""
    write_xml(tmp_path, a=["dog"], b=["cat"])
    assert message in refusal(tmp_path, images=write(tmp_path, text, "val.txt"))


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ("<object>", "1.xml, line 2, column"),
        ("<object><bndbox/></object>", "1.xml, object 1 has no name"),
        ("<object><name>dog</name></object>", "1.xml, object 1 has no bndbox: give the corners"),
        (OBJECT.format(name="dog").replace("20", "0"), "object 1, bndbox: a maximum is below"),
        (OBJECT.format(name="unicorn"), "has class 'unicorn', which is in no class list"),
        ("", "has no boxes"),
    ],
)
def test_bad_xml_is_named(tmp_path, objects, message):
    """A file that is not XML, or an object without name or corners, is named."""
    write(tmp_path, VOC.format(objects=objects), "1.xml")
    assert message in refusal(tmp_path)


def test_class_list_must_have_every_class(tmp_path):
    """A class list that lacks a class of the files is an error."""
    write(tmp_path, "cat\n", "classes.txt")
    assert "classes.txt does not list the class 'dog'" in refusal(write_xml(tmp_path, a=["dog"]))


def test_absent_and_unreadable_paths(tmp_path):
    """The error names a missing path, or a folder without XML."""
    assert "does not exist" in refusal(tmp_path / "nothing.json")
    assert "has neither .xml files nor YOLO labels" in refusal(tmp_path)
    assert "is not needed" in refusal(write_coco(tmp_path), images=Path("list.csv"))
