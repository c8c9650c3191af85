# SPDX-License-Identifier: Apache-2.0
"""What exporters write into a file is read, and what is damaged is as if it were not there."""

from __future__ import annotations

import zipfile

import pytest

from client_sample.models.metadata import packed_metadata, written
from tests.support.detector_heads import RTDETR, ULTRALYTICS


@pytest.mark.parametrize(
    "names", ["{0: 'cat', 1: \"dog's\"}", "['cat', \"dog's\"]", '{"0": "cat", "1": "dog\'s"}']
)
def test_names_are_read_as_each_version_writes_them(names):
    """Python's and JSON's dictionaries, and lists."""
    assert {0: "cat", 1: "dog's"} == written({"names": names, "stride": "32"}).names


def test_size_and_kind_are_those_of_ultralytics():
    """Its sizes are height and width; its RT-DETR stretches, and its YOLO does not."""
    known = written(ULTRALYTICS | {"imgsz": "[384, 640]"})
    assert ((640, 384), "letterbox", "0-1") == known.settings[:3]
    assert ("stretch", "plain") == (written(RTDETR).settings.fit, written(RTDETR).settings.scores)


@pytest.mark.parametrize("names", ["{0: ", "{'a': 'b'}", "[[[", "7"])
def test_damaged_metadata_say_nothing(names):
    """A file whose names cannot be read is one without them."""
    known = written({"names": names, "stride": "x", "imgsz": "[1,2,3]"})
    assert len(known.names) <= 1 and known.settings.size is None


def test_a_tensorflow_lite_file_has_a_zip_at_its_end(tmp_path):
    """Ultralytics' JSON and TensorFlow's list of names are found, and no zip is none."""
    path = tmp_path / "model.tflite"
    path.write_bytes(b"TFL3" * 9)
    assert {} == packed_metadata(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "metadata.json", '{"names": {"0": "cat"}, "stride": 32, "imgsz": [64, 64]}'
        )
    known = written(packed_metadata(path))
    assert ({0: "cat"}, (64, 64)) == (known.names, known.settings.size)
    other = tmp_path / "other.tflite"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("labelmap.txt", "person\n???\n")
    assert {0: "person", 1: "???"} == written(packed_metadata(other)).names
