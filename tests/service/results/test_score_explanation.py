# SPDX-License-Identifier: Apache-2.0
"""The folder that explains a score."""

from __future__ import annotations

import csv
import math
import re

import pytest
from PIL import Image

from referee.errors import InputError
from referee.formats.truth_file import GroundTruthFile
from referee.scoring.ilsvrc import evaluate
from referee.service.results.score_explanation import write_explanation
from tests.support.scoring_cases import make_detections, make_truth

DOG, CAT = (10, 10, 59, 59), (100, 10, 149, 59)
ROWS = [
    (7, 1, 0.9, DOG),
    (7, 1, 0.8, (10, 10, 59, 24)),
    (7, 1, 0.7, CAT),
    (7, 1, 0.6, DOG),
    (7, 1, 0.5, (math.nan, 0, 5, 5)),
    (9, 2, 0.4, (-50, -20, 5, 5)),
]


@pytest.fixture
def found():
    """Return ground truth of two images, one of them with a name."""
    truth = make_truth([7, 9], [1, 2, 3], [(7, 1, DOG), (7, 2, CAT), (9, 2, DOG)])
    truth.class_names.update({1: "dog <b>", 2: "cat"})
    return GroundTruthFile(truth, file_names={7: "some/photo.jpg"}, sizes={9: (200, 100)})


def explain(folder, found, rows, pictures=None, subject="session 3 of 'ants <b>'"):
    """Evaluate rows, write the explanation, and return its page."""
    detections = make_detections(rows)
    result = evaluate(found.truth, detections)
    write_explanation(folder, result, found, detections, pictures, subject)
    return (folder / "index.html").read_text("utf-8")


def test_every_detection_has_its_fate(tmp_path, found):
    """fates.csv has a line per detection, with the truth box that decided its fate."""
    explain(tmp_path / "why", found, ROWS)
    with (tmp_path / "why/fates.csv").open() as file:
        rows = list(csv.DictReader(file))
    expected = [
        ("true_positive", "1"),
        ("poor_overlap", "1"),
        ("wrong_class", "2"),
        ("duplicate", "1"),
        ("malformed", ""),
        ("background", ""),
    ]
    assert expected == [(row["fate"], row["truth_class_id"]) for row in rows]
    assert ("0.300000", "59.0", "0.8") == tuple(
        rows[1][name] for name in ("iou", "truth_xmax", "confidence")
    )


def test_pictures_can_be_opened(tmp_path, found):
    """The page shows a curve for each class with truth and a picture for each miss."""
    explain(tmp_path, found, ROWS)
    curves = sorted(path.name for path in tmp_path.glob("curves/*"))
    assert ["0001-dog-b.png", "0002-cat.png"] == curves
    # Four well-formed false positives, and two truth boxes that nothing found.
    assert 6 == len(list(tmp_path.glob("misses/*.png")))
    page = (tmp_path / "index.html").read_text()
    for path in tmp_path.glob("*/*.png"):
        with Image.open(path) as picture:
            picture.load()
            assert min(picture.size) > 50
        assert f'src="{path.parent.name}/{path.name}"' in page
    assert "dog &lt;b&gt;" in page


def test_worst_come_first(tmp_path, found):
    """The most confident false positive comes first; the largest missed box leads the misses."""
    explain(tmp_path, found, ROWS)
    names = sorted(path.name for path in tmp_path.glob("misses/*"))
    assert ["01-image-7.png", "04-image-9.png", "06-image-9.png"] == [
        names[place] for place in (0, 3, 5)
    ]


@pytest.mark.parametrize("name", ["photo.jpg", "7.png", "1.JPEG"])
def test_photographs_are_found(tmp_path, found, name):
    """A photograph is found by its file name, its own id or its number in the contest."""
    Image.new("RGB", (300, 200), "#0000ff").save(tmp_path / name)
    explain(tmp_path / "why", found, ROWS[:2], tmp_path)
    with Image.open(tmp_path / "why/misses/01-image-7.png") as picture:
        red, green, blue = picture.convert("RGB").getpixel((280, 180))
    assert blue > 200 > red + green


def test_the_page_begins_with_the_mistakes(tmp_path, found):
    """Its title is in words; links, a legend, wrong boxes and missed objects precede the curves."""
    page = explain(tmp_path, found, ROWS)
    title = "Why session 3 of &#39;ants &lt;b&gt;&#39; scores mAP 0.5000"
    parts = [
        f"<title>{title}</title>",
        f"<h1>{title}</h1>",
        "<p>6 boxes on 2 images: 1 right, 5 wrong.</p>",
        '<a href="#wrong">',
        '<a href="#classes">',
        "red: a box of the answers",
        '<section id="wrong"',
        "The most confident 4 of 5",
        '<section id="missed"',
        "The largest 2 of 2",
        '<section id="fates"',
        "a second box on an object that is found already",
        '<section id="classes"',
        "<details><summary>2 curves",
        "curves/0002-cat.png",
        "curves/0001-dog-b.png",
    ]
    places = [page.find(part) for part in parts]
    assert places == sorted(places) and places[0] > 0, dict(zip(parts, places, strict=True))


def test_each_picture_says_what_it_shows(tmp_path, found):
    """Who does not see a picture hears the boxes and the curve."""
    page = explain(tmp_path, found, ROWS)
    alts = re.findall(r'<img [^>]*alt="([^"]*)"', page)
    assert 8 == len(alts) and all(alts)
    assert (
        "image 7 with a green box labelled &#39;is dog &lt;b&gt;&#39; and a red box labelled"
        " &#39;says dog &lt;b&gt;&#39;" in alts[0]
    )
    assert "Precision over recall of cat, with an AP of 0.0000" in alts


def test_a_page_without_mistakes_says_so(tmp_path, found):
    """No box is wrong, and no object is missed."""
    page = explain(tmp_path, found, [(7, 1, 0.9, DOG), (7, 2, 0.9, CAT), (9, 2, 0.9, DOG)])
    assert "No box is wrong" in page and "No object is missed." in page
    assert "scores mAP 1.0000" in page


def test_large_photographs_are_reduced(tmp_path, found):
    """A picture's longest side is at most 1024, and its boxes shrink with it."""
    Image.new("RGB", (2000, 1000)).save(tmp_path / "photo.jpg")
    explain(tmp_path / "why", found, ROWS[:2], tmp_path)
    with Image.open(tmp_path / "why/misses/01-image-7.png") as picture:
        assert 1024 == picture.width


def test_broken_photograph_is_named(tmp_path, found):
    """A file that is no picture is an error that names the file."""
    (tmp_path / "photo.jpg").write_text("no picture")
    with pytest.raises(InputError, match="photo.jpg: is not an image that can be read"):
        explain(tmp_path / "why", found, ROWS, tmp_path)


def test_no_detections_leave_empty_curves(tmp_path, found):
    """Without detections the curves are empty, and every truth box is missed."""
    explain(tmp_path, found, [])
    assert 2 == len(list(tmp_path.glob("curves/*")))
    assert 3 == len(list(tmp_path.glob("misses/*")))


def test_folder_that_cannot_be_written_is_named(tmp_path, found):
    """A file where the folder should be is an error that names the file."""
    (tmp_path / "why").write_text("")
    with pytest.raises(InputError, match="why cannot be written"):
        explain(tmp_path / "why", found, ROWS)


def test_no_box_stands_on_another_photograph(tmp_path, found):
    """A name that two files could be has an empty background, in place of the wrong picture."""
    for home, colour in (("Test", "red"), ("Train", "blue")):
        (tmp_path / home).mkdir()
        Image.new("RGB", (200, 100), colour).save(tmp_path / home / "photo.jpg")
    explain(tmp_path / "why", found, ROWS, tmp_path)
    with Image.open(tmp_path / "why/misses/01-image-7.png") as picture:
        red, _, blue = picture.convert("RGB").getpixel((150, 60))
    assert abs(red - blue) < 20
