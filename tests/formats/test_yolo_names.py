# SPDX-License-Identifier: Apache-2.0
"""The class names of a YOLO data set, as each tool writes them."""

from __future__ import annotations

import json

import pytest

from referee.errors import InputError
from referee.formats.text import read_bytes
from referee.formats.yolo_names import find_data_set
from referee.formats.yolo_rows import Keypoints
from tests.support.yolo_data import write_text

NOTES = {"categories": [{"id": 1, "name": "dog"}, {"id": 0, "name": "cat"}], "info": {}}


def found(folder):
    """Return the names that are found from a folder of labels."""
    return list(find_data_set(folder, read_bytes).names.values())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.yaml", "train: ../train/images\nnc: 2\nnames: ['cat', 'dog']\n"),
        ("data.yaml", "path: .\nnames:\n  0: cat\n  1: dog\n"),
        ("dataset.yml", "names:\r\n- cat\r\n- dog\r\n"),
        ("data.yaml", "\ufeffnames: {1: dog, 0: cat}"),
        ("data.yaml", "names: [cat, dog]".encode("utf-16")),
        ("data.yaml", "x: &n [cat, dog]\nnames: *n\nnc: 2 # two\n"),
        ("data.yaml", "names: !!python/tuple [cat, dog]"),
        ("data.yaml", '"names": ["cat", "dog"]'),
        ("classes.txt", "cat\ndog\n"),
        ("classes.txt", "\ufeffcat \r\ndog\r\n\r\n"),
        ("obj.names", "cat\ndog"),
        ("_darknet.labels", "cat\ndog"),
        ("notes.json", json.dumps(NOTES)),
    ],
)
@pytest.mark.parametrize("place", [".", "..", "../.."])
def test_each_tool_s_names_are_found(tmp_path, name, text, place):
    """Names lie beside the labels or above them, in a file of the tool's own."""
    labels = tmp_path / "labels" / "train"
    labels.mkdir(parents=True)
    write_text(labels / place / name, text)
    assert ["cat", "dog"] == found(labels)


def test_the_nearest_names_count(tmp_path):
    """A file beside the labels goes before one above."""
    write_text(tmp_path / "classes.txt", "far\n")
    write_text(tmp_path / "labels/classes.txt", "near\n")
    assert ["near"] == found(tmp_path / "labels")


def test_words_that_yaml_takes_for_values_are_names(tmp_path):
    """A class named no, on, 1e3 or 12:30 keeps its name."""
    write_text(tmp_path / "data.yaml", "names: [no, on, ~, 1e3, 12:30, 2020-01-01]\n")
    assert ["no", "on", "~", "1e3", "12:30", "2020-01-01"] == found(tmp_path)


def test_without_names_the_number_of_classes_counts(tmp_path):
    """`nc` alone gives the classes no names, but their number."""
    write_text(tmp_path / "data.yaml", "nc: 7\n")
    data_set = find_data_set(tmp_path, read_bytes)
    assert (7, {}) == (data_set.count, data_set.names)


def test_the_shape_of_keypoints_is_read(tmp_path):
    """A data set of poses says how many keypoints a row has."""
    write_text(tmp_path / "data.yaml", "names: [person]\nkpt_shape: [17, 3]\n")
    assert Keypoints(17, 3) == find_data_set(tmp_path, read_bytes).keypoints


def test_other_programs_files_do_not_count(tmp_path):
    """YAML and JSON of other programs in the same folders have no names of classes."""
    write_text(tmp_path / "docker-compose.yml", "services: {{ x }}: [\n")
    write_text(tmp_path / "notes.json", "{}")
    write_text(tmp_path / "settings.yaml", "标题: 猫狗".encode("gbk"))
    write_text(tmp_path / ".hidden.yaml", "names: [x]")
    assert None is find_data_set(tmp_path, read_bytes).count


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("data.yaml", "names: [a, b]\nnc: 3\n", "nc is 3, and names has 2 classes"),
        ("data.yaml", "names: {0: a, 2: b}", "class 1 has no name, and 2 has"),
        ("data.yaml", "names: {0: a, 0: b}", "class 0 is named twice"),
        ("data.yaml", "names: {cat: 0}", "'cat' is not a number of a class"),
        ("data.yaml", "names: data/coco.names\nnc: 2", "give a list of the class names"),
        ("data.yaml", "names: [[a], b]", "line 1: give plain text"),
        ("data.yaml", "names: []", "has 0 classes"),
        ("data.yaml", "names:\n\t- a", "line 2: not YAML"),
        ("data.yaml", "names: [a\n", "not YAML"),
        ("data.yaml", "names: [a]\n---\nnames: [b]\n", "not YAML"),
        ("data.yaml", "names: \x00", "not YAML"),
        ("data.yaml", "names: " + "[" * 3_000, "nested too deeply"),
        ("data.yaml", "names: " + "- " * 3_000, "not YAML"),
        ("data.yaml", "names:\n" + "- " * 3_000, "nested too deeply"),
        ("data.yaml", "nc: 9999999999", "is not a number of a class"),
        ("data.yaml", "nc: many", "'many' is not a number of a class"),
        ("data.yaml", "names: [a]\nkpt_shape: [17]", "kpt_shape: give [number of points"),
        ("data.yaml", "names: [a]\n" + "#" * 2**20, "has more than 1048576 bytes"),
        ("classes.txt", "a\n\nb\n", "line 2 is empty"),
        ("classes.txt", "", "is empty"),
        ("classes.txt", "猫狗".encode("gbk"), "is not in UTF-8"),
        ("notes.json", '{"categories": [{"id": 0}]}', "a category has no id or no name"),
        ("notes.json", "{", "not JSON"),
    ],
)
def test_names_that_cannot_be_used_are_refused(tmp_path, name, text, said):
    """A file of names that is broken, or contradicts itself, is named with what is wrong."""
    write_text(tmp_path / name, text)
    with pytest.raises(InputError) as error:
        find_data_set(tmp_path, read_bytes)
    assert str(error.value).startswith(str(tmp_path / name))
    assert said in str(error.value)


def test_two_files_that_disagree_are_refused(tmp_path):
    """Label Studio's list and its notes may have another order: somebody must say which holds."""
    write_text(tmp_path / "classes.txt", "dog\ncat\n")
    write_text(tmp_path / "notes.json", json.dumps(NOTES))
    with pytest.raises(InputError, match="name class 0 'dog' and 'cat': keep the one after which"):
        find_data_set(tmp_path, read_bytes)
    write_text(tmp_path / "classes.txt", "cat\ndog\nbird\n")
    with pytest.raises(InputError, match="has 3 classes, and .*notes.json 2"):
        find_data_set(tmp_path, read_bytes)


def test_aliases_cost_nothing(tmp_path):
    """Anchors that would multiply to billions of names are never expanded."""
    levels = "\n".join(f"a{n + 1}: &a{n + 1} {{<<: [*a{n}, *a{n}]}}" for n in range(60))
    write_text(tmp_path / "data.yaml", f"a0: &a0 {{x: 1}}\n{levels}\nnames: [cat]\n")
    assert ["cat"] == found(tmp_path)
