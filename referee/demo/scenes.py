# SPDX-License-Identifier: Apache-2.0
"""Generated pictures of objects with their ground truth; a seed decides everything."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from referee.demo.backgrounds import PLACES, Zone
from referee.demo.canvas import Canvas, Sprite
from referee.demo.pen import Pen
from referee.demo.shapes import KINDS
from referee.demo.textures import Textures

_SIZES = ((500, 375), (500, 375), (500, 333), (480, 360), (500, 400), (375, 500), (333, 500))
_FAR = 0.12  # size of an object at the far end of its zone, as a share of that at the near end
_SMALLEST_PX = 10.0
_COUNTS = (0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 9, 9)  # objects to try to paint
_GRAIN = 5.0  # deviation of the camera's noise, in steps of 1/255


@dataclass(frozen=True)
class SceneSet:
    """A set of generated pictures: the paths of pictures and ground truth, and their content."""

    images: Path
    ground_truth: Path
    count: int
    objects: int
    class_names: dict[int, str]


@dataclass(frozen=True, eq=False)
class DrawnScene:
    """One picture and the owner of each of its pixels.

    `pixels` is height x width x RGB. `owner` has the number of the visible object of each pixel,
    counted from 1, or 0 for the background. `class_ids` has the classes of the objects in the order
    of these numbers.
    """

    pixels: NDArray[np.uint8]
    owner: NDArray[np.uint8]
    class_ids: tuple[int, ...]

    def boxes(self) -> list[tuple[int, int, int, int]]:
        """Return the tight box of the visible part of each object: x, y, width, height."""
        boxes = []
        for number in range(1, len(self.class_ids) + 1):
            rows = np.flatnonzero((self.owner == number).any(axis=1))
            columns = np.flatnonzero((self.owner == number).any(axis=0))
            x, y = int(columns[0]), int(rows[0])
            boxes.append((x, y, int(columns[-1]) - x + 1, int(rows[-1]) - y + 1))
        return boxes


@dataclass(frozen=True)
class PaintedSubject:
    """What generated pictures show: a function that paints one, and its classes with names."""

    compose: Callable[[Textures, random.Random], DrawnScene]
    class_names: dict[int, str]


def _sprite(zone: Zone, height: int, textures: Textures, chance: random.Random) -> Sprite:
    class_id = chance.choice(zone.class_ids)
    kind = KINDS[class_id]
    nearness = chance.random() ** 1.2
    share = _FAR + (1 - _FAR) * (nearness if zone.depth else chance.random() ** 1.5)
    pen = Pen(
        max(_SMALLEST_PX, height * kind.height * share * chance.uniform(0.8, 1.2)),
        turn_deg=chance.uniform(-kind.lean_deg, kind.lean_deg),
        widen=kind.widen * chance.uniform(0.88, 1.14),
        mirror=kind.mirrored and chance.random() < 0.5,
    )
    kind.draw(pen, chance)
    drawn = pen.pixels().astype(np.float32)
    rows, columns = drawn.shape[:2]
    down = np.linspace(0, 1, rows, dtype=np.float32)[:, None]
    across = np.linspace(0, 1, columns, dtype=np.float32)[None, :]
    light = 1.14 - 0.26 * down - 0.12 * across  # from above and the left
    light = light + 0.035 * textures.cut("rough", rows, columns, chance)
    return Sprite(
        class_id=class_id,
        colour=drawn[:, :, :3] * light[:, :, None],
        cover=drawn[:, :, 3] / np.float32(255),
        foot=round(zone.top + nearness * (zone.bottom - zone.top)),
        nearness=nearness,
        shadow=zone.depth,
    )


def compose(textures: Textures, chance: random.Random) -> DrawnScene:
    """Paint one picture and return it with the owner of each pixel."""
    width, height = chance.choice(_SIZES)
    background = chance.choice(PLACES)(height, width, textures, chance)
    zones = chance.choices(
        background.zones, [zone.weight for zone in background.zones], k=chance.choice(_COUNTS)
    )
    canvas = Canvas(background.picture)
    sprites = [_sprite(zone, height, textures, chance) for zone in zones]
    for sprite in sorted(sprites, key=lambda sprite: sprite.foot):
        wide = sprite.cover.shape[1]
        for _ in range(6):  # places to try before an object is left out
            if canvas.add(sprite, chance.randrange(-wide // 4, width - 3 * wide // 4)):
                break
    grain = _GRAIN * textures.cut("grain", height, width, chance)
    pixels = np.clip(canvas.picture + grain[:, :, None], 0, 255).astype(np.uint8)
    return DrawnScene(pixels, canvas.owner, tuple(canvas.class_ids))


OBJECTS = PaintedSubject(compose, {class_id: kind.name for class_id, kind in KINDS.items()})
"""Things in places, many of them small, half hidden or of any colour."""


def generate(
    folder: Path,
    *,
    count: int = 200,
    seed: int = 2015,
    subject: PaintedSubject = OBJECTS,
    progress: Callable[[int, int], None] | None = None,
) -> SceneSet:
    """Write `images/1.jpg` to `count`.jpg and `ground_truth.json`, COCO instances, into a folder.

    The same seed gives the same pictures and the same truth. `progress` gets the number of pictures
    written and the number of all pictures.
    """
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    textures = Textures(seed)
    records: list[dict[str, object]] = []
    boxes: list[dict[str, object]] = []
    for image_id in range(1, count + 1):
        scene = subject.compose(textures, random.Random(f"{seed} {image_id}"))
        name = f"{image_id}.jpg"
        quality = 93 + image_id % 4
        Image.fromarray(scene.pixels).save(images / name, quality=quality)
        height, width = scene.owner.shape
        records.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for class_id, (x, y, w, h) in zip(scene.class_ids, scene.boxes(), strict=True):
            box = {"image_id": image_id, "category_id": class_id, "bbox": [x, y, w, h]}
            boxes.append({"id": len(boxes) + 1, **box, "area": w * h, "iscrowd": 0})
        if progress is not None:
            progress(image_id, count)
    categories = [{"id": key, "name": name} for key, name in subject.class_names.items()]
    truth = {"images": records, "categories": categories, "annotations": boxes}
    path = folder / "ground_truth.json"
    path.write_text(json.dumps(truth), encoding="utf-8")
    return SceneSet(images, path, count, len(boxes), subject.class_names)
