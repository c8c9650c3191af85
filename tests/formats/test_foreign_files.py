# SPDX-License-Identifier: Apache-2.0
"""What is no list of numbers is named for what it is, by every reader."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError, Refusal
from referee.formats.answers import parse_csv, parse_json
from referee.formats.csv_truth import read_blacklist, read_image_list
from referee.formats.detections_file import read_detections
from referee.formats.foreign_files import foreign_kind
from referee.formats.ground_truth import read_ground_truth
from referee.formats.team_table import parse_team_table

LINES = b"".join(b"%d,1,0.9,10,10,39,39\n" % number for number in range(1, 400))


def tar(mode: str) -> bytes:
    """Return a tar archive of a file of lines."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        member = tarfile.TarInfo("1.csv")
        member.size = len(LINES)
        archive.addfile(member, io.BytesIO(LINES))
    return content.getvalue()


def zipped(name: str) -> bytes:
    """Return a zip archive with one member."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, LINES)
    return content.getvalue()


def saved(save: Callable[..., None], *values: object, **more: object) -> bytes:
    """Return what a library writes into a file."""
    content = io.BytesIO()
    save(content, *values, **more)
    return content.getvalue()


def picture(form: str) -> bytes:
    """Return a picture that Pillow writes."""
    return saved(lambda file: Image.new("RGB", (9, 9)).save(file, form))


def database() -> bytes:
    """Return an SQLite database."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table boxes (image_id)")
        return connection.serialize()


PACKED = gzip.compress(LINES, mtime=0)
KINDS = {
    "tar": (tar("w"), "a tar archive, not text: unpack it"),
    "tar.gz": (tar("w:gz"), "a tar archive, not text: unpack it"),
    "tar.xz": (tar("w:xz"), "data packed by xz"),
    "bz2": (bz2.compress(LINES), "data packed by bzip2"),
    "empty bz2": (bz2.compress(b""), "data packed by bzip2"),
    "xz": (lzma.compress(LINES), "data packed by xz"),
    "lzma": (lzma.compress(LINES, lzma.FORMAT_ALONE), "data packed by lzma"),
    "gzip twice": (gzip.compress(PACKED), "gzip data that are packed twice"),
    "no header": (PACKED[10:], "packed data without the header of gzip"),
    "no mark": (PACKED[2:], "packed data without the header of gzip"),
    "no mark, cut off": (PACKED[2:200], "packed data without the header of gzip"),
    "no first byte": (PACKED[1:], "packed data without the header of gzip"),
    "no three bytes": (PACKED[3:], "packed data without the header of gzip"),
    "body, cut off": (PACKED[10:300], "packed data without the header of gzip"),
    "zlib": (zlib.compress(LINES), "packed data without the header of gzip"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(30), "a 7z archive"),
    "rar": (b"Rar!\x1a\x07\x01\x00" + bytes(30), "a RAR archive"),
    "zstd": (b"\x28\xb5\x2f\xfd\x24\x10" + bytes(30), "data packed by zstd"),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40" + bytes(30), "data packed by lz4"),
    "zip": (zipped("detections.csv"), "a zip archive, not text: unpack it"),
    "xlsx": (zipped("[Content_Types].xml"), "an Excel workbook or an archive, not text: save it"),
    "npz": (saved(np.savez, boxes=np.zeros((2, 6))), "arrays of NumPy (.npz)"),
    "torch": (zipped("archive/data.pkl"), "a file of PyTorch"),
    "npy": (saved(np.save, np.zeros((2, 6))), "an array of NumPy (.npy)"),
    "parquet": (b"PAR1\x15\x04\x15\x10" + bytes(60) + b"PAR1", "a Parquet table"),
    "arrow": (b"ARROW1\x00\x00" + bytes(60), "an Arrow or Feather table"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(60), "an HDF5 file"),
    "matlab": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(90), "a MATLAB file"),
    "pickle": (pickle.dumps([{"image_id": 1}]), "a pickle of Python"),
    "old pickle": (pickle.dumps([{"image_id": 1}], protocol=0), "a pickle of Python"),
    "sqlite": (database(), "an SQLite database"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF document"),
    "rtf": (rb"{\rtf1\ansi 1,1,10,10,39,39}", "a document in RTF"),
    "png": (picture("PNG"), "a PNG picture"),
    "jpeg": (picture("JPEG"), "a JPEG picture"),
    "gif": (picture("GIF"), "a GIF picture"),
    "bmp": (picture("BMP"), "a BMP picture"),
    "tiff": (picture("TIFF"), "a TIFF picture"),
    "webp": (picture("WEBP"), "a WebP picture"),
    "tflite": (b"\x1c\x00\x00\x00TFL3\x14\x00\x20\x00" + bytes(60), "a TensorFlow Lite model"),
    "tfrecord": (b"\x9a\x02\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04" + bytes(60), "binary data"),
    "html": (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<title>Sign in</title>", "a web page"),
    "html without a doctype": (b"<HTML><BODY>404</BODY></HTML>", "a web page"),
    "xhtml": (b"<?xml version='1.0'?>\n<html xmlns='x'></html>", "a web page"),
    "svg": (b"<?xml version='1.0'?>\n<svg></svg>", "an SVG picture"),
    "xml": (b"<annotation><object/></annotation>", "an XML file"),
    "lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n",
        "a pointer of Git LFS, not text: fetch the file: git lfs pull",
    ),
    "annex": (b"/annex/objects/SHA256E-s5--ab.json\n", "a pointer of git-annex"),
    "dvc": (b"outs:\n- md5: a1b2\n  path: truth.json\n", "a pointer of DVC"),
    "merge": (b"<<<<<<< HEAD\n1,1,10,10,39,39\n=======\n", "a merge of git that is not resolved"),
    "macos": (b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X" + bytes(60), "what macOS keeps beside"),
    "utf-16": (LINES.decode().encode("utf-16"), "the text is in UTF-16: save it as UTF-8"),
    "utf-16-le": (LINES.decode().encode("utf-16-le"), "the text is in UTF-16"),
    "utf-16-be": (LINES.decode().encode("utf-16-be"), "the text is in UTF-16"),
    "utf-32": (LINES.decode().encode("utf-32"), "the text is in UTF-32"),
    "utf-32-le": (LINES.decode().encode("utf-32-le"), "the text is in UTF-32"),
    "json in utf-16-le": ('{"images": []}'.encode("utf-16-le"), "the text is in UTF-16"),
}
TRUTH = GroundTruth.from_arrays([1], [1], [[10, 10, 39, 39]])
READERS = {
    "truth": lambda path, content: read_ground_truth(path),
    "detections": lambda path, content: read_detections(path),
    "detections in JSON": lambda path, content: read_detections(
        path.rename(path.parent / "a.json")
    ),
    "JSON lines": lambda path, content: read_detections(path.rename(path.parent / "a.jsonl")),
    "blacklist": lambda path, content: read_blacklist(path, TRUTH),
    "list of images": lambda path, content: read_image_list(path),
}
BODIES = {
    "teams": lambda content: parse_team_table(content, "teams.csv"),
    "post of CSV": parse_csv,
    "post of JSON": parse_json,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_foreign_file_is_named(tmp_path: Path, kind: str, reader: str) -> None:
    """The sentence names the file, what it is and what to do, in one short line."""
    content, sentence = KINDS[kind]
    path = tmp_path / "given"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        READERS[reader](path, content)
    told = str(refused.value)
    assert sentence in told
    assert str(tmp_path) in told
    assert told.isprintable() and len(told) < len(str(path)) + 150


@pytest.mark.parametrize("reader", BODIES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tar.gz"])
def test_a_foreign_body_is_named(kind: str, reader: str) -> None:
    """Nothing unpacks a body, so gzip is named like any other kind."""
    content, sentence = KINDS[kind]
    with pytest.raises((InputError, Refusal), match=".") as refused:
        BODIES[reader](content)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n \n",
        LINES,
        b"\xef\xbb\xbf1 1 0.9 1 1 2 2",
        b"image_id,class_id,confidence,xmin,ymin,xmax,ymax\n1,1,.9,1,1,2,2\n",
        b"# made by hand\n.5,1\n",
        b"-1 1 +0.9 1 1 2 2",
        b"7\x00 12 0.5 1 2 30 40",
        b"\xb5\xe7,1,2",  # GBK: not UTF-8, and text.
        b"class,1\nfolder,2\n",
        json.dumps([{"image_id": 1, "name": "\ud83d"}]).encode(),
        json.dumps({"info": "<html>"}, indent=2).encode(),
        "Größe,1".encode(),
    ],
)
def test_text_is_no_foreign_file(content: bytes) -> None:
    """Lines, headers, comments, JSON, and text with a fault are left to their readers."""
    assert foreign_kind(content) is None


def test_arrays_of_small_numbers_are_no_text() -> None:
    """Whole numbers of four bytes, of which three are zero, are not taken for UTF-32."""
    kind = foreign_kind(np.arange(1, 200, dtype="<i4").tobytes())
    assert kind is not None and kind.startswith("this is binary data, not text (it begins with 01 ")
