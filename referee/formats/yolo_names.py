# SPDX-License-Identifier: Apache-2.0
"""The class names of a YOLO data set, which its label files do not have: class index 0 first.

Several files hold them, as the tool that wrote the data set likes: `data.yaml` or another file of
YAML with `names`, `classes.txt`, `obj.names`, `notes.json`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.core.counts import counted
from referee.errors import InputError
from referee.formats.csv_truth import MAX_CLASS
from referee.formats.faults import quoted
from referee.formats.json_fields import load_json
from referee.formats.text import Read
from referee.formats.yolo_rows import Keypoints

LISTS = ("classes.txt", "_classes.txt", "labels.txt")
"""Files of names, one a line, which lie among the label files and are none of them."""

LEVELS_UP = 3
"""How many folders above the labels are searched: `labels/train` lies two below `data.yaml`."""

_YAML = (".yaml", ".yml")
_NAME_LISTS = (".names", ".labels")
_NOTES = "notes.json"
_MOST_BYTES = 2**20
# The parser takes seconds to find out that it cannot go so deep.
_NESTED = re.compile(r"(?:[\[{]\s*){100}")
_TOO_DEEP = "not a data set's YAML: it is nested too deeply"
# Other programs keep their YAML in the same folders.
_OF_DATA_SET = re.compile(rb"""\b(?:names|nc)["']?\s*:""")


@dataclass(frozen=True)
class DataSet:
    """What a data set says of its labels.

    `names` maps class indices to names. `count` is the number of classes, or None if nobody says
    it. `source` is the file that says so; None if there is none. `keypoints` is how many keypoints
    a row has behind its box.
    """

    names: dict[int, str]
    count: int | None = None
    source: Path | None = None
    keypoints: Keypoints | None = None


def find_data_set(labels: Path, read: Read) -> DataSet:
    """Return what the nearest files above or beside the labels say of the classes.

    The folder of the labels comes first, then those above it. Raises InputError for a file that
    cannot be used, and for two in one folder that do not say the same.
    """
    folder = labels.absolute()
    for place in (folder, *list(folder.parents)[:LEVELS_UP]):
        found = [one for one in _in_folder(labels, place, read) if one.count is not None]
        if found:
            return _the_same(found)
    return DataSet({})


def _in_folder(labels: Path, place: Path, read: Read) -> Iterator[DataSet]:
    """Yield what each file of a folder says, under the path that a user knows."""
    try:
        names = sorted(name for name in os.listdir(place) if _reader_of(name) is not None)
    except OSError:  # A folder above may be closed to this user.
        return
    inside = place == labels.absolute()
    for name in names:
        path = labels / name if inside else place / name
        reader = _reader_of(name)
        if reader is not None and path.is_file():
            found = reader(path, _bounded(path, read))
            if found is not None:
                yield found


def _reader_of(name: str) -> Callable[[Path, bytes], DataSet | None] | None:
    """Return what reads a file by its name; None for one that holds no names."""
    name = name.lower()
    suffix = os.path.splitext(name)[1]
    if name.startswith("."):
        return None
    if name in LISTS or suffix in _NAME_LISTS:
        return _from_list
    if suffix in _YAML:
        return _from_yaml
    return _from_notes if name == _NOTES else None


def _bounded(path: Path, read: Read) -> bytes:
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path} has more than {_MOST_BYTES} bytes: class names are fewer")
    return read(path)


def _the_same(found: list[DataSet]) -> DataSet:
    """Return the first of several, which must say the same names in the same order."""
    first = found[0]
    for other in found[1:]:
        both = first.names.keys() & other.names.keys()
        differing = sorted(index for index in both if first.names[index] != other.names[index])
        if differing:
            index = differing[0]
            raise InputError(
                f"{first.source} and {other.source} name class {index} {quoted(first.names[index])}"
                f" and {quoted(other.names[index])}: keep the one after which the labels were made"
            )
        if first.count != other.count:
            raise InputError(
                f"{first.source} has {counted(first.count or 0, 'class', 'classes')}, and"
                f" {other.source} {other.count}: keep the one after which the labels were made"
            )
    points = next((one.keypoints for one in found if one.keypoints), None)
    return DataSet(first.names, first.count, first.source, points)


def _text(path: Path, content: bytes) -> str:
    """Return a text in UTF-8, or in UTF-16 with its mark; raise InputError for any other one."""
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not in UTF-8: save it as UTF-8") from None


def _from_list(path: Path, content: bytes) -> DataSet:
    """Read one name a line; blank lines behind the last name do not count."""
    lines = [line.strip() for line in _text(path, content).splitlines()]
    while lines and not lines[-1]:
        del lines[-1]
    if "" in lines:
        raise InputError(
            f"{path}, line {lines.index('') + 1} is empty: each line names the class of its number,"
            " and the first one is class 0"
        )
    if not lines:
        raise InputError(f"{path} is empty: give one class name a line, class 0 first")
    return DataSet(dict(enumerate(lines)), len(lines), path)


def _from_notes(path: Path, content: bytes) -> DataSet | None:
    """Read Label Studio's `notes.json`; None for notes without categories."""
    value = load_json(path, content)
    entries = value.get("categories") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not entries:
        return None
    pairs: list[tuple[str, str]] = []
    for entry in entries:
        if not isinstance(entry, dict) or "id" not in entry or "name" not in entry:
            raise InputError(f"{path}: a category has no id or no name")
        pairs.append((str(entry["id"]), str(entry["name"])))
    return _by_index(path, "categories", pairs)


def _from_yaml(path: Path, content: bytes) -> DataSet | None:
    """Read `names`, `nc` and `kpt_shape`; None for a file that has neither names nor nc."""
    if not _OF_DATA_SET.search(content.replace(b"\x00", b"")):  # In UTF-16 every other byte is 0.
        return None
    fields = _fields_of(path, _text(path, content))
    count = None if "nc" not in fields else _index(path, "nc", _scalar(path, "nc", fields["nc"]))
    points = _keypoints(path, fields["kpt_shape"]) if "kpt_shape" in fields else None
    if "names" not in fields:
        return None if count is None else DataSet({}, _some(path, count), path, points)
    found = _names(path, fields["names"])
    if count is not None and count != found.count:
        names = counted(found.count or 0, "class", "classes")
        raise InputError(f"{path}: nc is {count}, and names has {names}")
    return DataSet(found.names, found.count, path, points)


def _fields_of(path: Path, text: str) -> dict[str, object]:
    """Return the nodes of a YAML mapping by their keys; no value is made of any of them.

    Values stay the text that was written. So a class `no` is no false, an anchor costs nothing,
    and no tag chooses what is made.
    """
    import yaml  # Only these labels need it.

    if _NESTED.search(text):
        raise InputError(f"{path}: {_TOO_DEEP}")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f", line {mark.line + 1}"
        raise InputError(f"{path}{where}: not YAML ({error.problem})") from None
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or "it cannot be read"
        raise InputError(f"{path}: not YAML ({reason})") from None
    except RecursionError:
        raise InputError(f"{path}: {_TOO_DEEP}") from None
    if not isinstance(root, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in root.value if isinstance(key, yaml.ScalarNode)}


def _names(path: Path, node: Any) -> DataSet:
    """Return the names of a list, or of a mapping from class indices."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        names = [_scalar(path, "names", entry) for entry in node.value]
        return DataSet(dict(enumerate(names)), _some(path, len(names)))
    if isinstance(node, yaml.MappingNode):
        return _by_index(
            path,
            "names",
            [
                (_scalar(path, "names", key), _scalar(path, "names", value))
                for key, value in node.value
            ],
        )
    raise InputError(
        f"{path}, names: give a list of the class names, or a mapping from 0, 1, 2… to them"
    )


def _by_index(path: Path, field: str, pairs: list[tuple[str, str]]) -> DataSet:
    """Return names by their indices, which must be 0 to the number of names."""
    names: dict[int, str] = {}
    for key, name in pairs:
        index = _index(path, field, key)
        if index in names:
            raise InputError(f"{path}, {field}: class {index} is named twice")
        names[index] = name
    missing = next((index for index in range(len(names)) if index not in names), None)
    if missing is not None:
        raise InputError(
            f"{path}, {field}: class {missing} has no name, and {max(names)} has: name 0 to"
            f" {max(names)}"
        )
    return DataSet(dict(sorted(names.items())), _some(path, len(names)), path)


def _index(path: Path, field: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"{path}, {field}: {quoted(text)} is not a number of a class, 0 or more")
    return int(text)


def _some(path: Path, count: int) -> int:
    if not 1 <= count <= MAX_CLASS:
        raise InputError(f"{path} has {counted(count, 'class', 'classes')}: give 1 to {MAX_CLASS}")
    return count


def _scalar(path: Path, field: str, node: Any) -> str:
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        raise InputError(f"{path}, {field}, line {node.start_mark.line + 1}: give plain text")
    return str(node.value)


def _keypoints(path: Path, node: Any) -> Keypoints:
    import yaml

    texts = (
        [_scalar(path, "kpt_shape", one) for one in node.value]
        if isinstance(node, yaml.SequenceNode)
        else []
    )
    numbers = [_index(path, "kpt_shape", text) for text in texts]
    if len(numbers) != 2 or not 1 <= numbers[0] <= 1000 or numbers[1] not in (2, 3):
        raise InputError(f"{path}, kpt_shape: give [number of points, 2 or 3]")
    return Keypoints(*numbers)
