# SPDX-License-Identifier: Apache-2.0
"""`referee ovic benchmark` and `referee ovic run` measure, score and say what stopped them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from referee.cli import main
from referee.errors import InputError
from referee.extras.ovic.commands.ovic import handouts
from referee.extras.ovic.judging import entry
from referee.extras.ovic.judging.benchmark import TimedRuns, benchmark
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.plan import Plan

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = pytest.mark.slow

# On any machine a run of the made model is far below 12 ms, but it may scatter by any share.
STABLE = ["--runs", "50", "--tolerance", "1000", "--slower", "1e6"]
MEASURE = STABLE[:-2]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Write a classifier, one without a background, two images and their labels."""
    from tests.support import tflite_models

    (tmp_path / "good.tflite").write_bytes(tflite_models.classifier())
    (tmp_path / "short.tflite").write_bytes(tflite_models.classifier(1000))
    (tmp_path / "images").mkdir()
    Image.new("RGB", (30, 20), (255, 0, 0)).save(tmp_path / "images/a.png")
    Image.new("RGB", (30, 20), (0, 255, 0)).save(tmp_path / "images/b.png")
    (tmp_path / "labels.csv").write_text("a.png,1\nb.png,3\n")
    return tmp_path


def run(folder: Path, model: str, *options: str) -> int:
    """Run `referee ovic run` on the folder."""
    paths = ["--images", str(folder / "images"), "--ground-truth", str(folder / "labels.csv")]
    command = ["ovic", "run", str(folder / model), "--task", "classification", *paths]
    return main([*command, *STABLE, *options])


def test_a_valid_model_is_scored_in_one_go(folder, capsys):
    """The JSON object has the score, the validation and the measurement; one of two is right."""
    assert 0 == run(folder, "good.tflite", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (50.0, 1, 2, True) == (
        *(report["accuracy"], report["right"], report["images"], report["valid"]),
    )
    assert report["latency_ms"] == report["benchmark"]["latency_ms"]["mean"]
    assert 8.0 == report["clamped_ms"]
    assert 50 - report["frontier"] == pytest.approx(report["metric"])
    assert {"valid": True, "failures": []} == report["validation"]


def test_a_model_that_breaks_a_rule_is_not_scored(folder, capsys):
    """A broken rule ends with exit code 1, null figures and the sentence as the reason."""
    assert 1 == run(folder, "short.tflite", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (False, None, None) == (report["valid"], report["accuracy"], report["metric"])
    assert "background_class" in report["reasons"][0]
    assert 0 == run(folder, "short.tflite", "--no-background")
    assert "metric, points" in capsys.readouterr().out


def test_a_noisy_measurement_gives_no_score(folder, capsys):
    """With a tolerance that no machine keeps there is an accuracy, and no score."""
    assert 1 == run(folder, "good.tflite", "--tolerance", "0", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (False, None, 50.0) == (report["valid"], report["metric"], report["accuracy"])
    assert not report["benchmark"]["stable"] and report["reasons"]


def test_a_classifier_has_no_coco_results(folder, capsys):
    """The option is refused before the model runs."""
    assert 2 == run(folder, "good.tflite", "--results", str(folder / "out.json"))
    assert "give it with --task detection" in capsys.readouterr().err


def test_a_benchmark_is_written_and_scored(folder, capsys):
    """`benchmark --out` writes what `score --benchmark` reads."""
    out = folder / "result.json"
    command = ["ovic", "benchmark", str(folder / "good.tflite"), "--images"]
    assert 0 == main([*command, str(folder / "images"), "--out", str(out), *MEASURE])
    assert "latency, mean" in capsys.readouterr().out
    written = json.loads(out.read_text())
    task = ["--task", "classification", "--accuracy", "50"]
    assert 0 == main(["ovic", "score", *task, "--benchmark", str(out), "--json"])
    assert written["latency_ms"]["mean"] == json.loads(capsys.readouterr().out)["latency_ms"]


def test_a_noisy_benchmark_says_no(folder, capsys):
    """A measurement beyond the tolerance exits with 1 and says what moved."""
    command = ["ovic", "benchmark", str(folder / "good.tflite"), "--images"]
    noisy = ["--runs", "50", "--tolerance", "0", "--json"]
    assert 1 == main([*command, str(folder / "images"), *noisy])
    output = capsys.readouterr()
    assert json.loads(output.out)["stable"] is False
    assert "more than 0.0 %" in output.err


def test_sample_models_have_a_table(folder, monkeypatch, capsys):
    """Stable latencies stand first by their share of the target; others are told, and exit 1."""
    (folder / "bad.tflite").write_bytes(b"no model")
    (folder / "wild.tflite").write_bytes(b"x")
    facts = {"processor": "a board", "core": 3, "libraries": {"ai-edge-litert": "2.3"}}

    def measured(model, *rest):
        if model.name == "bad.tflite":
            raise InputError("bad.tflite cannot be measured")
        ms = {"good": 12.0, "short": 5.0, "wild": 1.0}[model.stem]
        runs = [[0.0, 0.0, ms, 0.0, ms] for _ in range(50)]
        if model.stem == "wild":
            runs[:9] = [[0.0, 0.0, 99.0, 0.0, 99.0]] * 9
        return benchmark(
            model,
            [folder],
            Plan(runs=50),
            Limits(),
            measure=lambda *_: TimedRuns(runs, (1, 0), facts),
        )

    monkeypatch.setattr(entry, "measure_until_stable", measured)
    words = ["ovic", "samples", str(folder), "--task", "classification"]
    assert 1 == main([*words, "--images", str(folder / "images")])
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines()[1:-1]]
    assert [["5.000", "50", "%", "short"], ["12.000", "120", "%", "good"]] == rows[:2]
    assert {("–", "–", "bad"), ("–", "–", "wild")} == {tuple(row) for row in rows[2:]}
    assert printed.out.endswith("LiteRT 2.3, a board, core 3\n")
    assert "bad: bad.tflite cannot be measured" in printed.err and "wild: The mean" in printed.err
    only = [str(folder / "good.tflite"), "--task", "classification", "--json"]
    assert 0 == main(["ovic", "samples", *only, "--images", str(folder / "images")])
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert ("good", 12.0, []) == (model["name"], model["latency_ms"], model["reasons"])
    with pytest.raises(InputError, match="has no .tflite file"):
        handouts.models_in([folder / "images"])
