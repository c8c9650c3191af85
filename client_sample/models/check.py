# SPDX-License-Identifier: Apache-2.0
"""A page that shows a folder's first photographs with the boxes of a model, before any session."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Iterator, List

from client_sample.client import ClientError, Row
from client_sample.models.opening import OpenedModel
from client_sample.models.picture import opened

_PHOTOGRAPHS = 5
_SHOWN = 0.25
_SIDE = 900
_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
_STYLE = (
    "body{font:16px sans-serif;margin:1em auto;max-width:60em;padding:0 1em}"
    "svg{display:block;height:auto;max-width:100%}rect{fill:none;stroke:#d00;stroke-width:.4%}"
    "text{fill:#fff;stroke:#000;stroke-width:.25em;paint-order:stroke}"
)


def write_check(model: OpenedModel, folder: Path, page: Path) -> Path:
    """Write the page; raise ClientError for a folder that has no photograph."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
        if not paths:
            raise ClientError(f"Cannot use --check {folder}: it has no photograph.")
        parts = [part for path in paths[:_PHOTOGRAPHS] for part in _photograph(model, path)]
        title = html.escape(f"What {Path(model.path).name} sees")
        page.write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style><h1>{title}</h1>"
            f"<p>{html.escape(model.each[0].describe())}</p>"
            "<p>Boxes that are shifted or too small: another --fit. Hardly any boxes: another "
            "--pixels or --colours. Wrong words: other --names.</p>" + "".join(parts),
            encoding="utf-8",
        )
    except OSError as error:
        raise ClientError(f"Cannot use --check {folder}: {error}.") from error
    return page


def _photograph(model: OpenedModel, path: Path) -> Iterator[str]:
    content = path.read_bytes()
    try:
        rows = model.each[0](1, content)
    except (OSError, ValueError) as error:
        raise ClientError(f"Cannot use --check {path}: {error}.") from error
    shown = [row for row in rows if row[1] >= _SHOWN]
    picture = opened(content)
    width, height = picture.size
    picture.thumbnail((_SIDE, _SIDE))
    small = io.BytesIO()
    picture.save(small, "jpeg", quality=80)
    data = base64.b64encode(small.getvalue()).decode("ascii")
    yield (
        f"<h2>{html.escape(path.name)}</h2><p>{len(shown)} of {len(rows)} boxes have a confidence "
        f'of {_SHOWN} or more.</p><svg viewBox="0 0 {width} {height}" width="{width}">'
        f'<image href="data:image/jpeg;base64,{data}" width="{width}" height="{height}"/>'
    )
    yield from _boxes(model, shown, max(width, height) / 45)
    yield "</svg>"


def _boxes(model: OpenedModel, rows: List[Row], letter: float) -> Iterator[str]:
    for class_id, confidence, xmin, ymin, xmax, ymax in reversed(rows):
        name = html.escape(model.names.get(class_id, f"class {class_id}"))
        yield (
            f'<rect x="{xmin:.1f}" y="{ymin:.1f}" width="{xmax - xmin + 1:.1f}" '
            f'height="{ymax - ymin + 1:.1f}"/><text x="{xmin:.1f}" y="{max(letter, ymin):.1f}" '
            f'font-size="{letter:.0f}">{name} {confidence:.2f}</text>'
        )
