# SPDX-License-Identifier: Apache-2.0
"""Ground truth as a folder of ILSVRC or PASCAL VOC XML, one file per image."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Collection, Container, Iterable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from referee.core.counts import counted
from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.class_lists import ILSVRC_DET, PASCAL_VOC
from referee.formats.faults import quoted
from referee.formats.numbers import whole_number
from referee.formats.text import Read, cells, parse_cell, read_bytes
from referee.formats.truth_file import NO_BLACKLIST, GroundTruthFile, known_sizes

CLASS_LIST = "classes.txt"
"""The folder's file of class names, one a line, class 1 first."""

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
# What each object may have, with or without a box.
_BESIDE_A_BOX = {"name", "pose", "truncated", "difficult", "occluded", "part"}
_SHOWN = 5

Object = tuple[str, list[float], bool]
"""Class name, corners, and whether the object is flagged as difficult."""

# Expat, Python's own parser of XML, reads few encodings. So it gets text that is decoded.
_ROOT = "annotation"
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:+ -]{1,40})["']""")
# The longer marks first: that of UTF-32 begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
# What programs write under these names has characters of the larger set.
_LARGER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
_HTML = re.compile(r"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
# Whose files have this root, and how the program exports what the referee reads.
_OTHER_TOOLS = {
    "annotations": (
        "it has all images in one file, as CVAT exports them: export as 'PASCAL VOC' or 'COCO'"
    ),
    "dataset": "it has all images in one file, as dlib's imglab writes them: convert it to COCO",
}
_PAGE = "a page of HTML, as a server sends it in place of a file: fetch the file again"


def read_xml_truth(
    folder: Path, image_list: Path | None, read: Read = read_bytes
) -> GroundTruthFile:
    """Read the `*.xml` of a folder, one image per file, with or without objects.

    `image_list` has lines `name id`, as the development kit's det_lists/val.txt; then exactly
    these images are read, with these ids. Without it, every file is read. If all file names are
    whole numbers, they are the image ids. Otherwise the ids are 1…N in ascending order of names.

    Class ids follow the order of `classes.txt` in the folder. Without that file they follow
    ILSVRC's 200 detection synsets, or PASCAL VOC's 20 classes if only those have all the names.
    """
    files = _files(folder)
    own_ids = _ids_by_list(files, folder, image_list, read) if image_list else _ids_by_name(files)
    objects: list[tuple[int, Object]] = []
    sizes: list[tuple[int, int | None, int | None]] = []
    file_names = {}
    for name, image_id in own_ids.items():
        file = files[name]
        root = annotation_of(file, read(file))
        file_names[image_id] = _file_name(root) or name
        sizes.append((image_id, _side(root, "width"), _side(root, "height")))
        objects += [(image_id, entry) for entry in _objects(file, root)]
    class_list = _class_list(folder, {name for _, (name, _, _) in objects}, read)
    difficult = np.array([flag for _, (_, _, flag) in objects], dtype=np.bool_)
    class_ids = {name: number for number, name in enumerate(class_list, start=1)}
    truth = GroundTruth(
        image_ids=np.array(sorted(own_ids.values()), dtype=np.int64),
        class_ids=np.arange(1, len(class_list) + 1, dtype=np.int64),
        box_image_id=np.array([image_id for image_id, _ in objects], dtype=np.int64),
        box_class_id=np.array([class_ids[name] for _, (name, _, _) in objects], dtype=np.int64),
        box=np.array([box for _, (_, box, _) in objects], dtype=np.float64).reshape(-1, 4),
        blacklist=NO_BLACKLIST,
        class_names={number: ILSVRC_DET.get(name, name) for name, number in class_ids.items()},
        difficult=difficult if difficult.any() else None,
    )
    places = {image_id: files[name].name for name, image_id in own_ids.items()}
    return GroundTruthFile(truth, file_names=file_names, sizes=known_sizes(sizes), places=places)


def _files(folder: Path) -> dict[str, Path]:
    """Return the files of annotations by their stems, in order; hidden files are left out."""
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() != ".xml" or file.name.startswith("."):
            continue
        other = found.setdefault(file.stem, file)
        if other != file:
            raise InputError(f"{folder} has {other.name} and {file.name}: keep one for each image")
    if not found:
        raise InputError(f"{folder} has no .xml files: name the folder that has them")
    return found


def _file_name(root: ElementTree.Element) -> str | None:
    """Return the image's file, behind the folder in which the annotating program saw it."""
    name = (root.findtext("filename") or "").strip()
    folder = (root.findtext("folder") or "").strip()
    return f"{folder}/{name}" if folder and name else name or None


def _objects(file: Path, root: ElementTree.Element) -> Iterable[Object]:
    """Yield each object; parts of an object do not count."""
    for number, entry in enumerate(root.findall("object"), start=1):
        name = (entry.findtext("name") or "").strip()
        if not name:
            raise InputError(f"{file}, object {number} has no name")
        box = [_corner(file, number, entry, field) for field in _CORNERS]
        if box[2] < box[0] or box[3] < box[1]:
            raise InputError(f"{file}, object {number}, bndbox: a maximum is below its minimum")
        flag = (entry.findtext("difficult") or "0").strip()
        if flag not in ("0", "1"):
            raise InputError(f"{file}, object {number}, difficult: '{flag}' is neither 0 nor 1")
        yield name, box, flag == "1"


def _corner(file: Path, number: int, entry: ElementTree.Element, field: str) -> float:
    if entry.find("bndbox") is None:
        parts = ", ".join(sorted({part.tag for part in entry} - _BESIDE_A_BOX)[:_SHOWN])
        instead = f" (it has {quoted(parts)})" if parts else ""
        raise InputError(
            f"{file}, object {number} has no bndbox{instead}: give the corners of its box,"
            f" {', '.join(_CORNERS)}"
        )
    text = entry.findtext(f"bndbox/{field}")
    if text is None:
        raise InputError(f"{file}, object {number}, bndbox has no {field}")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{file}, object {number}, bndbox/{field}: {quoted(text)} is not a number")
    return value


def _side(root: ElementTree.Element, side: str) -> int | None:
    try:
        return int(root.findtext(f"size/{side}", ""))
    except ValueError:
        return None


def _ids_by_name(names: Collection[str]) -> dict[str, int]:
    if all(name.isascii() and name.isdigit() for name in names):
        numbers = {name: int(name) for name in names}
        if len(set(numbers.values())) == len(names):
            return numbers
    return {name: number for number, name in enumerate(names, start=1)}


def _ids_by_list(
    files: Container[str], folder: Path, image_list: Path, read: Read
) -> dict[str, int]:
    """Read lines `name id`; raise InputError if the folder lacks a named file."""
    own_ids: dict[str, int] = {}
    for line, row in cells(image_list, read(image_list)):
        if len(row) != 2:
            raise InputError(
                f"{image_list}, line {line} has {counted(len(row), 'field')}, not 2: give name"
                " and image id"
            )
        name = row[0]
        image_id = parse_cell(image_list, line, "image_id", row[1], whole_number, "a whole number")
        if name not in files:
            raise InputError(f"{image_list}, line {line}, name: {folder} has no {name}.xml")
        if name in own_ids:
            raise InputError(f"{image_list}, line {line}, name: {name} is listed twice")
        own_ids[name] = image_id
    if len(set(own_ids.values())) < len(own_ids):
        raise InputError(f"{image_list} gives one image id to two images")
    return own_ids


def _class_list(folder: Path, used: set[str], read: Read) -> list[str]:
    """Return the names of a class list that contains all `used` names, class 1 first."""
    class_list = folder / CLASS_LIST
    if class_list.is_file():
        names = [line.strip() for line in read(class_list).decode("utf-8-sig").splitlines()]
        names = [name for name in names if name]
        missing = sorted(used - set(names))
        if missing:
            raise InputError(f"{class_list} does not list the class '{missing[0]}'")
        return names
    for known in (list(ILSVRC_DET), list(PASCAL_VOC)):
        if used <= set(known):
            return known
    odd = sorted(used - set(ILSVRC_DET) - set(PASCAL_VOC)) or sorted(used)
    raise InputError(
        f"{folder} has class '{odd[0]}', which is in no class list known here:"
        f" put a file {CLASS_LIST} there, one name a line, class 1 first"
    )


def annotation_of(file: Path, content: bytes) -> ElementTree.Element:
    """Return the root of an ILSVRC or PASCAL VOC annotation.

    Raises `InputError` naming the file for text in an unknown encoding or not in the one that it
    declares, for what is not XML, and for XML of another kind: it would count as an image without
    objects.
    """
    text = _text(file, content)
    if _HTML.match(text[:10_000]):
        raise InputError(f"{file} is {_PAGE}")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(
            f"{file}, line {line}, column {column}: not XML; complete or correct it there"
        ) from None
    if root.tag != _ROOT:
        kind = _OTHER_TOOLS.get(root.tag, "it is XML of another kind")
        raise InputError(
            f"{file} has the root {quoted(root.tag)}, not '{_ROOT}': {kind}."
            " Keep only annotations of ILSVRC or PASCAL VOC in the folder"
        )
    return root


def _text(file: Path, content: bytes) -> str:
    """Return the text of a file in the encoding that its mark or its declaration says."""
    encoding = _encoding(content)
    try:
        text = content.decode(_LARGER.get(codecs.lookup(encoding).name, encoding))
        text.encode("utf-8")  # Some encodings can write half a character.
    except LookupError:
        raise InputError(
            f"{file} declares the encoding {quoted(encoding)}, which nobody here knows: save it as"
            " UTF-8"
        ) from None
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = content.count(b"\n", 0, start) + 1
        why = "as it declares" if _DECLARED.match(content) else "as XML without a declaration is"
        raise InputError(
            f"{file}, line {line}: not text in {encoding.removesuffix('-sig').upper()}, {why};"
            " save it as UTF-8"
        ) from None
    return text


def _encoding(content: bytes) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    declared = _DECLARED.match(content)
    name = declared[1].decode("ascii", "replace").strip() if declared else "utf-8"
    # Windows's programs declare UTF-16 and write UTF-8. The declaration could not be read else.
    return "utf-8" if re.match(r"(utf|ucs).?(16|32|2|4)", name, re.IGNORECASE) else name
