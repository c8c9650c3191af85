# SPDX-License-Identifier: Apache-2.0
"""`python -m client_sample.camera read` keeps its contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import cv2
import numpy as np
import pytest

from client_sample.camera import read_command
from client_sample.camera.__main__ import main
from client_sample.camera.frame import session_tag
from client_sample.camera.reader import read as read_photograph
from client_sample.camera.source import read_picture
from referee.cli import main as referee
from tests.support.frames import plain

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Write an image, its frame as the referee writes it, a photograph of it, and an empty wall."""
    tmp_path = tmp_path_factory.mktemp("photographs")
    pixels = np.random.default_rng(4).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    image = np.asarray(cv2.resize(pixels, (400, 300), interpolation=cv2.INTER_CUBIC))
    cv2.imwrite(str(tmp_path / "image.png"), image)
    frame = tmp_path / "frame.png"
    options = ["--image", str(tmp_path / "image.png"), "--id", "1234", "--tag", "practice"]
    assert 0 == referee(["camera", "frame", *options, "--out", str(frame)])
    photo, wall = tmp_path / "photo.jpg", tmp_path / "wall.jpg"
    cv2.imwrite(str(photo), plain(read_picture(frame)[..., ::-1])[..., :])
    cv2.imwrite(str(wall), np.full((480, 640, 3), 80, dtype=np.uint8))
    return frame, photo, wall


def read(capsys, *arguments):
    """Run the command; return its exit code and the objects that it printed."""
    code = main(["read", "--json", *map(str, arguments)])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_photograph_is_one_object(photographs, capsys) -> None:
    """A frame and its photograph are read; the exit code is 0."""
    frame, photo, _ = photographs
    code, (first, second) = read(capsys, frame, photo)
    assert 0 == code
    names = {"file", "image_id", "width", "height", "reason", "corners"}
    assert names | {"error_px", "warning", "others"} == first.keys()
    assert 0 <= first["error_px"] < 0.5
    assert (None, []) == (first["warning"], first["others"])
    assert (str(frame), 1234, 400, 300, None) == (
        *(first[key] for key in ("file", "image_id", "width", "height", "reason")),
    )
    assert np.allclose(
        [[760, 390], [1160, 390], [1160, 690], [760, 690]], first["corners"], atol=0.2
    )
    assert (str(photo), 1234) == (second["file"], second["image_id"])


def test_a_photograph_that_is_not_read_says_why(photographs, capsys, tmp_path) -> None:
    """The exit code is 1 if any file was unread; the object says why, and holds nulls."""
    _, photo, wall = photographs
    missing, broken = tmp_path / "missing.png", tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    code, found = read(capsys, photo, wall, missing, broken)
    assert 1 == code
    assert [None, None, None] == [facts["image_id"] for facts in found[1:]]
    assert [None, None, None] == [facts["corners"] for facts in found[1:]]
    reasons = [facts["reason"] for facts in found]
    assert reasons[0] is None
    assert "no screen" in reasons[1]
    assert "No such file" in reasons[2]
    assert "no picture that OpenCV can read" in reasons[3]


def test_a_large_error_is_a_warning(photographs, capsys, monkeypatch) -> None:
    """Above two pixels of the image a reading has a warning, in both forms; it stays a reading."""
    _, photo, _ = photographs
    large = replace(read_photograph(read_picture(photo)), error_px=3.21)
    monkeypatch.setattr(read_command, "read", lambda pixels, tag: large)
    code, (facts,) = read(capsys, photo)
    assert (0, 3.21) == (code, facts["error_px"])
    assert "about 3.2 pixels" in facts["warning"]
    assert 0 == main(["read", str(photo)])
    assert "about 3.2 pixels" in capsys.readouterr().out


def test_a_file_of_a_phone_is_named(capsys, tmp_path) -> None:
    """A HEIC file is called that, with what to do."""
    phone = tmp_path / "IMG_0001.HEIC"
    phone.write_bytes(b"\0\0\0\x24ftypheic" + bytes(40))
    code, (facts,) = read(capsys, phone)
    assert 1 == code
    assert "HEIC" in facts["reason"] and "JPEG" in facts["reason"]


def test_the_tag_of_another_session_is_refused(photographs, capsys) -> None:
    """With `--tag` the frame's own tag is taken, and any other is stale."""
    _, photo, _ = photographs
    assert 0 == read(capsys, "--tag", "practice", photo)[0]
    code, (facts,) = read(capsys, "--tag", "yesterday", photo)
    assert 1 == code
    assert "stale: another session's frame" == facts["reason"]
    assert session_tag("practice") != session_tag("yesterday")


def test_the_image_is_cut_out_in_its_own_pixels(photographs, capsys, tmp_path) -> None:
    """`--out` writes the image of the frame exactly, and that of the photograph nearly."""
    frame, photo, _ = photographs
    assert 0 == read(capsys, "--out", tmp_path / "cut", frame, photo)[0]
    image = read_picture(frame.with_name("image.png")).astype(float)
    exact = read_picture(tmp_path / "cut" / "frame.png")
    seen = read_picture(tmp_path / "cut" / "photo.png")
    assert image.shape == exact.shape == seen.shape
    assert abs(exact[4:-4, 4:-4] - image[4:-4, 4:-4]).mean() < 1.5
    assert abs(seen - image).mean() < 12


def test_without_json_a_person_reads_a_sentence(photographs, capsys) -> None:
    """The plain form has one line for each photograph."""
    frame, _, wall = photographs
    assert 1 == main(["read", str(frame), str(wall)])
    lines = capsys.readouterr().out.splitlines()
    assert [f"{frame}: image 1234, 400x300", f"{wall}: not read: no screen"] == [
        lines[0],
        lines[1].rpartition(":")[0],
    ]


def test_without_its_library_the_command_says_what_to_install(tmp_path):
    """A plain install has no OpenCV: one sentence names the extra, and no traceback follows."""
    (tmp_path / "cv2.py").write_text("raise ModuleNotFoundError('no cv2', name='cv2')")
    command = [sys.executable, "-m", "client_sample.camera", "read", "x.jpg"]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (2, "") == (done.returncode, done.stdout)
    assert (
        "cv2 is missing. A camera needs it: pip install 'opencv-python-headless<5'" in done.stderr
    )
    assert 1 == len(done.stderr.splitlines())
