# SPDX-License-Identifier: Apache-2.0
"""A model's classes get the contest's ids by name, by order or by number."""

from __future__ import annotations

import pytest

from client_sample.models.class_names import map_classes, read_names

CONTEST = {1: "person", 3: "traffic light", 90: "Hot-Dog"}


def test_names_decide_and_not_the_order():
    """Case, '_' and '-' do not count where no name is written exactly so."""
    classes = map_classes(CONTEST, None, {0: "hot_dog", 1: "Traffic_Light", 2: "person"}, 3)
    assert {0: 90, 1: 3, 2: 1} == classes.ids
    assert [] == classes.remarks()


def test_every_name_that_is_not_in_the_list_is_said():
    """So is every class of the contest that the model does not know."""
    classes = map_classes(CONTEST, None, {0: "person", 1: "drone", 2: "kite"}, 3)
    assert {0: 1} == classes.ids
    unmapped, missed = classes.remarks()
    assert unmapped.endswith("left out: drone, kite (2 of the model's 3 classes)")
    assert missed.endswith("traffic light, Hot-Dog")


def test_a_name_that_stands_twice_is_nobodys():
    """Two names that differ by case alone match exactly or not at all."""
    classes = map_classes({1: "Cat", 2: "cat"}, None, {0: "cat", 1: "CAT"}, 2)
    assert {0: 2, 1: 1} == classes.ids
    assert {} == map_classes({1: "cat"}, None, {0: "CAT", 1: "Cat"}, 2).ids
    assert {} == map_classes({1: "cat", 2: "CAT"}, None, {0: "Cat"}, 1).ids


def test_order_and_numbers_need_no_names():
    """The k-th class of the contest, the number itself, or the number plus one."""
    shuffled = dict(reversed(CONTEST.items()))
    assert {0: 1, 1: 3, 2: 90} == map_classes(shuffled, "order", {}, 3).ids
    assert {1: 1, 3: 3, 90: 90} == map_classes(CONTEST, "ids", {}, 0).ids
    assert {0: 1, 2: 3, 89: 90} == map_classes(CONTEST, "ids+1", {}, 0).ids


@pytest.mark.parametrize(
    ("way", "count"), [("order", 2), ("order", 91), ("ids", 90), ("ids+1", 89)]
)
def test_a_way_that_the_count_of_classes_contradicts_is_refused(way, count):
    """A head of COCO's 91 numbers is no list of 80 names, and the other way round."""
    with pytest.raises(ValueError, match=rf"has {count} classes.* is wrong"):
        map_classes(CONTEST, way, {}, count)
    assert map_classes(CONTEST, way, {}, 3 if way == "order" else count + 1).ids


def test_a_file_of_names_may_have_gaps(tmp_path):
    """Background and '???' are no classes, and none that is missing."""
    path = tmp_path / "names.txt"
    path.write_text("background\nperson\n???\n")
    classes = map_classes(CONTEST, None, read_names(path), 3)
    assert ({1: 1}, ()) == (classes.ids, classes.unmapped)
