# SPDX-License-Identifier: Apache-2.0
"""What exporters write into a model's file: class names, the input's size, who wrote it."""

from __future__ import annotations

import ast
import json
import zipfile
from pathlib import Path
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

from client_sample.models.settings import LIKE, ModelSettings

# Tasks of Ultralytics whose rows begin with a box, and those whose rows hold none.
BOXED = ("detect", "segment", "pose")


class ModelMetadata(NamedTuple):
    """What a file's metadata say: class names by index, settings, the task and the exporter."""

    names: Dict[int, str]
    settings: ModelSettings
    task: str = ""
    exporter: str = ""


def written(metadata: Mapping[str, str]) -> ModelMetadata:
    """Return what metadata say; those of Ultralytics, and names as others write them."""
    names = _names(metadata.get("names") or metadata.get("class_names") or metadata.get("labels"))
    author = metadata.get("author", "") + metadata.get("description", "")
    if "stride" not in metadata and "ultralytics" not in author.lower():
        return ModelMetadata(names, ModelSettings())
    is_rtdetr = "rtdetr" in author.lower().replace("-", "")
    known = LIKE["rtdetr" if is_rtdetr else "ultralytics"]
    if is_rtdetr:  # Its scores are ready, other than those of the authors' own export.
        known = known._replace(scores="plain")
    known = known._replace(size=_size(metadata.get("imgsz")))
    return ModelMetadata(names, known, metadata.get("task", "detect"), "ultralytics")


def _value(text: Any) -> Any:
    """Return a value that stands as JSON or as Python writes it, or None."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _names(text: Optional[str]) -> Dict[int, str]:
    value = text if isinstance(text, (dict, list)) else _value(text)
    if value is None and isinstance(text, str):
        value = [line.strip() for line in text.replace(",", "\n").splitlines() if line.strip()]
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {}
    try:
        return {int(index): str(name) for index, name in value.items()}
    except (TypeError, ValueError):
        return {}


def _size(text: Optional[str]) -> Optional[Tuple[int, int]]:
    """Return width and height; metadata have the height first."""
    value = _value(text)
    sides = [value, value] if isinstance(value, int) else value
    if not (isinstance(sides, list) and len(sides) == 2):
        return None
    return (int(sides[1]), int(sides[0])) if all(isinstance(k, int) for k in sides) else None


def packed_metadata(model: Path) -> Dict[str, str]:
    """Return the metadata in the zip that exporters append to a TensorFlow Lite file, if any."""
    try:
        with zipfile.ZipFile(model) as archive:
            texts = {
                entry.filename: archive.read(entry).decode("utf-8", "replace")
                for entry in archive.infolist()
                if entry.file_size < 1_000_000
            }
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        return {}
    for text in texts.values():
        value = _value(text)
        if isinstance(value, dict) and "names" in value:
            return {
                key: part if isinstance(part, str) else repr(part) for key, part in value.items()
            }
    lists = [text for name, text in texts.items() if name.lower().endswith(".txt")]
    # Lines of names, with '???' where a number has no class.
    return {"names": json.dumps(lists[0].splitlines())} if len(lists) == 1 else {}
