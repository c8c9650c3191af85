# SPDX-License-Identifier: Apache-2.0
"""docs/tracks.md shows code that runs, and names each part of a track."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from referee.tracks.track import Track

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tracks.md").read_text(encoding="utf-8")


def test_code_on_the_page_is_that_of_the_example():
    """Each piece of Python on the page stands in `tests/tracks/top1.py` in the same words."""
    example = (ROOT / "tests/tracks/top1.py").read_text(encoding="utf-8")
    pieces = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert 3 == len(pieces)
    assert [] == [piece for piece in pieces if piece not in example]


def test_every_part_of_a_track_is_on_the_page():
    """The page names each part that a track must have."""
    parts = {name for name, part in vars(Track).items() if inspect.isfunction(part)}
    parts |= set(Track.__annotations__)
    not_told = {"join", "in_manifest_ids", "form_fields", "name"}
    told = {part for part in parts if not part.startswith("_")} - not_told
    assert set() == {part for part in told if f"`{part}`" not in PAGE}
