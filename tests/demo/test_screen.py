# SPDX-License-Identifier: Apache-2.0
"""The camera demo says what a machine lacks before it starts anything."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from referee.cli import main
from referee.demo.screen import missing_for_camera


def test_a_machine_without_chromium_is_told_what_to_install(monkeypatch, tmp_path, capsys):
    """Without a browser the demo starts nothing, and its one sentence names the packages."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "apt install chromium chromium-driver" in missing_for_camera()
    assert 0 != main(["demo", "--track", "camera", "--out", str(tmp_path / "demo")])
    assert "Chromium" in capsys.readouterr().err
    assert not (tmp_path / "demo").exists()


def test_a_missing_driver_is_called_that(monkeypatch):
    """Where Chromium is there and chromedriver is not, the sentence names the driver alone."""
    monkeypatch.setattr(
        shutil, "which", lambda name: None if name == "chromedriver" else f"/usr/bin/{name}"
    )
    assert "chromedriver, and there is none" in missing_for_camera()
    assert "apt install chromium-driver" in missing_for_camera()


@pytest.mark.parametrize(("module", "name"), [("cv2", "OpenCV"), ("selenium", "selenium")])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, module, name):
    """A library that is not installed is named, and so is the extra that brings it."""
    find = importlib.util.find_spec
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda wanted: None if wanted == module else find(wanted)
    )
    assert name in missing_for_camera()
    assert "selenium (the extra 'camera')" in missing_for_camera()


def test_a_machine_with_everything_lacks_nothing(monkeypatch):
    """With the browser, its driver and the libraries there is nothing to say."""
    pytest.importorskip("cv2", reason="needs the extra [camera]")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert "" == missing_for_camera()
