# SPDX-License-Identifier: Apache-2.0
"""Small data sets of YOLO labels, laid out as the tools lay them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image

SIZE = (200, 100)
"""Width and height of each image that is not given another size."""


def write_image(path: Path, size: tuple[int, int] = SIZE, orientation: int | None = None) -> Path:
    """Write a grey image, with the orientation of EXIF that is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", size, "grey")
    if orientation is None:
        image.save(path)
    else:
        exif = Image.Exif()
        exif[0x0112] = orientation
        image.save(path, exif=exif.tobytes())
    return path


def write_text(path: Path, text: str | bytes) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def write_labels(
    root: Path,
    labels: Mapping[str, str | bytes],
    names: Sequence[str] | None = ("cat", "dog"),
    more_images: Sequence[str] = (),
) -> tuple[Path, Path]:
    """Write `labels` and `images` with an image for each, and `data.yaml`; return both folders."""
    for name, text in labels.items():
        write_text(root / "labels" / f"{name}.txt", text)
    for name in [*(f"{name}.png" for name in labels), *more_images]:
        write_image(root / "images" / name)
    if names is not None:
        write_text(root / "data.yaml", f"nc: {len(names)}\nnames: [{', '.join(names)}]\n")
    return root / "labels", root / "images"
