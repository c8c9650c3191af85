# SPDX-License-Identifier: Apache-2.0
"""What the demo says at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.commands import demo


@pytest.mark.parametrize("camera", [True, False])
def test_the_next_commands_name_the_track(camera) -> None:
    """After the camera demo `practice` is on the camera's track, which is not the usual one."""
    played = demo._Played(Path("out/scenes"), [], Path("out/files.json") if camera else None)
    *_, practice = demo._next_commands(1, Path("out/one.zip"), played, Path("out"))
    assert " practice " in practice
    assert ("--track camera" in practice) is camera
