# SPDX-License-Identifier: Apache-2.0
"""The client's options of a model: classes before the login, questions, and the page of --check."""

from __future__ import annotations

import sys
from importlib.metadata import version

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("onnx", reason="needs the extra [test-all]")

from client_sample import pipelined
from tests.client_sample.conftest import SmallReferee
from tests.support.detector_heads import ROW, ULTRALYTICS, yolo5, yolo8
from tests.support.onnx_models import write_model


def run(referee, model, *more):
    """Run the client against the small referee."""
    team = ["--url", referee.url, "--user", "me", "--password", "secret"]
    return pipelined.main([*team, "--model", str(model), *more])


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Return a model of the classes cat, dog and bird, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return write_model(tmp_path / "best.onnx", [("output0", yolo8())], ULTRALYTICS)


@pytest.fixture
def photographs(monkeypatch, photograph):
    """Let the small referee send a photograph for each image."""
    monkeypatch.setattr(SmallReferee, "image", lambda self, image_id: photograph)


def test_a_model_plays_a_session_with_the_contests_ids(referee, model, photographs, capsys):
    """The bird is class 9 of this contest, and what it lacks is said before the login."""
    referee.classes = {9: "Bird", 4: "cat", 5: "cow"}
    referee.count = 2
    assert 0 == run(referee, model)
    assert [(k, 9, *ROW[1:]) for k in (1, 2)] == [
        pytest.approx(row, abs=0.01) for row in sorted(referee.posted)
    ]
    said = capsys.readouterr().err
    assert "not in the contest's list, so their boxes are left out: dog (1 of" in said
    assert "it lacks cow" in said
    assert "CPUExecutionProvider" in said
    assert ["/classes", "/login"] == referee.paths[:2]


def test_the_login_says_what_runs_the_model(referee, model, photographs):
    """The referee keeps it with the session: file, library, provider, threads and workers."""
    referee.count = 1
    odd = model.rename(model.with_name("b\u00e4st (2).onnx"))
    assert 0 == run(referee, odd, "--threads", "2", "--workers", "3")
    (login,) = [asked for asked in referee.requests if asked.path == "/login"]
    said = f"ONNX Runtime {version('onnxruntime')}, CPUExecutionProvider, 2 threads, 3 workers"
    assert f"client_sample (b_st _2_.onnx; {said})" == login.program


def test_classes_of_another_contest_are_refused_before_the_login(referee, model, capsys):
    """No class in common would be a score of 0."""
    referee.classes = {1: "chair", 2: "table"}
    assert 1 == run(referee, model)
    assert (
        "none of its classes (cat, dog, bird) is in the contest's list" in capsys.readouterr().err
    )
    assert ["/classes"] == referee.paths


def test_questions_come_before_the_login(referee, tmp_path, capsys):
    """The client asks for options, and the referee sees nothing of it."""
    path = write_model(tmp_path / "plain.onnx", [("output", yolo5())])
    assert 1 == run(referee, path)
    said = capsys.readouterr().err
    assert "Give --fit letterbox|corner|stretch" in said and "--names FILE|order|ids|ids+1" in said
    assert [] == referee.paths


def test_check_shows_photographs_without_a_session(referee, model, tmp_path, photograph, capsys):
    """A page has the first five photographs, and each box with the contest's name."""
    referee.classes = {9: "<Bird>", 1: "bird"}
    for number in range(7):
        (tmp_path / f"{number}.jpg").write_bytes(photograph)
    assert 0 == pipelined.main(
        ["--url", referee.url, "--model", str(model), "--check", str(tmp_path)]
    )
    page = (tmp_path / "model-check.html").read_text()
    assert (5, 5) == (page.count("<svg"), page.count("bird 0.88</text>"))
    assert '<rect x="20.0" y="10.0" width="50.0" height="50.0"/>' in page
    assert ["/classes"] == referee.paths
    assert "<script" not in page and "http" not in page


def test_check_needs_no_referee(model, tmp_path, photograph, capsys):
    """Without one the names are the model's own, and that is said."""
    (tmp_path / "1.png").write_bytes(photograph)
    arguments = ["--url", "127.0.0.1:1", "--model", str(model), "--check", str(tmp_path)]
    assert 0 == pipelined.main(arguments)
    assert "bird 0.88" in (tmp_path / "model-check.html").read_text()
    assert "the classes are the model's own" in capsys.readouterr().err


def test_check_shows_a_model_whose_classes_are_not_the_contests(
    referee, model, tmp_path, photograph, capsys
):
    """The page has the model's own names, and what a login would say is said."""
    referee.classes = {1: "chair"}
    (tmp_path / "1.jpg").write_bytes(photograph)
    arguments = ["--url", referee.url, "--model", str(model), "--check", str(tmp_path)]
    assert 0 == pipelined.main(arguments)
    assert "bird 0.88" in (tmp_path / "model-check.html").read_text()
    assert "none of its classes (cat, dog, bird)" in capsys.readouterr().err


def test_a_folder_without_photographs_is_said(referee, model, tmp_path, capsys):
    """So is a folder that is not there, and a photograph that is none."""
    for folder, words in ((tmp_path, "no photograph"), (tmp_path / "x", "No such file")):
        arguments = ["--url", referee.url, "--model", str(model), "--check", str(folder)]
        assert 1 == pipelined.main(arguments)
        assert words in capsys.readouterr().err
    (tmp_path / "1.jpg").write_bytes(b"no picture")
    arguments[-1] = str(tmp_path)
    assert 1 == pipelined.main(arguments)
    assert "1.jpg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "a.onnx"], "--user and --password"),
        (["--check", "photos"], "give --model, too"),
        (["--model", "a.onnx", "--input", "640"], "'640' is no size"),
        (["--model", "a.onnx", "--threads", "0"], "at least 1"),
    ],
)
def test_wrong_use_is_said_by_the_command_line(arguments, words, capsys):
    """The command line is refused before anything is read."""
    with pytest.raises(SystemExit):
        pipelined.main(arguments)
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("name", ["best.pt", "best.tflite"])
def test_other_files_are_refused(name, referee, tmp_path, capsys):
    """PyTorch's weights are no model that runs here, and a provider is ONNX Runtime's."""
    (tmp_path / name).write_bytes(b"PK")
    assert 1 == run(referee, tmp_path / name, "--provider", "cuda")
    said = capsys.readouterr().err
    assert "neither in .onnx nor in .tflite" in said or "--provider is for ONNX" in said


@pytest.mark.parametrize("missing", ["onnxruntime", "PIL"])
def test_without_its_library_the_client_says_what_to_install(
    missing, referee, model, monkeypatch, capsys
):
    """The client itself starts without ONNX Runtime, numpy and Pillow."""
    for loaded in [name for name in sys.modules if name.startswith("client_sample.models.")]:
        if not loaded.endswith((".settings", ".command")):
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, missing, None)
    assert 1 == run(referee, model)
    assert "pip install" in capsys.readouterr().err
    assert [] == referee.paths
