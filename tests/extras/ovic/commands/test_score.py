# SPDX-License-Identifier: Apache-2.0
"""`referee ovic score` and `referee ovic frontier` print the metric and the curve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from power.logs.power_log import COLUMNS
from referee.cli import main

BASELINES = (
    "name,latency_ms,accuracy\na,12,7.5\nb,20,16\nc,30,23.1\nd,40,27.9\nold,35,20\ntypo,5,95\n"
)


@pytest.fixture
def baselines(tmp_path: Path) -> Path:
    """Write six baselines: four on the front, one behind it, one impossible."""
    path = tmp_path / "baselines.csv"
    path.write_text(BASELINES)
    return path


def score(*options: object, task: str = "detection") -> int:
    """Run `referee ovic score` with an accuracy of 25 %."""
    return main(["ovic", "score", "--task", task, "--accuracy", "25", *map(str, options)])


@pytest.mark.parametrize(
    ("latency_ms", "code", "clamped_ms", "metric"),
    [
        (23.9, 0, 24.0, 5.7301),
        (24, 0, 24.0, 5.7301),
        (30, 0, 30.0, 1.9602),
        (36, 0, 36.0, -1.12),
        (36.1, 1, 36.1, None),
    ],
)
def test_the_json_has_the_metric_and_the_exit_code_the_validity(
    latency_ms, code, clamped_ms, metric, capsys
):
    """The JSON object has each figure; an invalid entry exits with 1 and says why."""
    assert code == score("--latency-ms", latency_ms, "--json")
    report = json.loads(capsys.readouterr().out)
    given = (report["task"], report["accuracy"], report["latency_ms"])
    assert ("detection", 25.0, latency_ms) == given
    assert (clamped_ms, code == 0) == (report["clamped_ms"], report["valid"])
    assert report["metric"] == (None if metric is None else pytest.approx(metric, abs=1e-4))
    if metric is not None:
        assert metric == pytest.approx(25 - report["frontier"], abs=1e-4)
    assert (latency_ms in (23.9, 36.1)) == bool(report["reasons"])


def test_the_best_build_counts(capsys):
    """With several latencies the best valid score is the entry's, and all builds are listed."""
    assert 0 == score("--latency-ms", 37, "--latency-ms", 31, "--latency-ms", 28, "--json")
    report = json.loads(capsys.readouterr().out)
    assert 28 == report["latency_ms"]
    assert [37, 31, 28] == [build["latency_ms"] for build in report["builds"]]


def test_a_result_of_a_benchmark_gives_its_mean_and_an_unstable_one_is_refused(tmp_path, capsys):
    """`--benchmark` takes the mean latency of a stable result, and refuses any other."""
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"stable": True, "latency_ms": {"mean": 31.5, "median": 30}}))
    assert 0 == score("--benchmark", result, "--json")
    assert 31.5 == json.loads(capsys.readouterr().out)["latency_ms"]
    result.write_text(json.dumps({"stable": False, "latency_ms": {"mean": 31.5}}))
    assert 2 == score("--benchmark", result)
    assert "no stable measurement" in capsys.readouterr().err
    result.write_text(json.dumps({"stable": True, "latency_ms": {"mean": "fast"}}))
    assert 2 == score("--benchmark", result)
    assert '"fast" is not a number' in capsys.readouterr().err


def test_classification_says_what_is_odd_about_its_frontier(capsys):
    """The note about the constants goes to standard error, and into the JSON object."""
    assert 0 == score("--latency-ms", 10, "--json", task="classification")
    output = capsys.readouterr()
    assert "more than 100 %" in output.err
    assert "more than 100 %" in json.loads(output.out)["note"]


@pytest.mark.parametrize(
    "options", [["--latency-ms", "0"], ["--latency-ms", "nan"], ["--accuracy", "101"]]
)
def test_impossible_figures_are_wrong_use(options, capsys):
    """A latency that is not above 0, or an accuracy above 100, exits with 2."""
    with pytest.raises(SystemExit) as end:
        score(*options)
    assert 2 == end.value.code
    assert "give" in capsys.readouterr().err


def test_a_score_needs_a_latency(capsys):
    """Without a latency the command says which options give one."""
    assert 2 == score()
    assert "--latency-ms" in capsys.readouterr().err


def test_a_new_frontier_is_estimated_and_scored_against(baselines, tmp_path, capsys):
    """`frontier` sets the impossible baseline aside; `score --frontier` takes its file."""
    out = tmp_path / "frontier.json"
    command = ["ovic", "frontier", "--task", "detection", "--baselines", str(baselines)]
    assert 0 == main([*command, "--out", str(out), "--json"])
    output = capsys.readouterr()
    estimate = json.loads(output.out)
    assert json.loads(out.read_text()) == estimate
    assert ["a", "b", "c", "d"] == [it["name"] for it in estimate["front"]]
    assert "typo (95 % at 5 ms)" in output.err
    assert 0 == score("--latency-ms", 23.9, "--frontier", out, "--json")
    report = json.loads(capsys.readouterr().out)
    assert (estimate["k"], estimate["a0"]) == (report["k"], report["a0"])


def test_a_frontier_of_another_task_is_refused(baselines, tmp_path, capsys):
    """A frontier names its task, and scores no other."""
    out = tmp_path / "frontier.json"
    command = ["ovic", "frontier", "--task", "classification", "--baselines", str(baselines)]
    assert 0 == main([*command, "--out", str(out)])
    assert 2 == score("--latency-ms", 30, "--frontier", out)
    assert "task: the frontier has 'classification', not 'detection'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,12\n", "line 1 has 2 fields, not 3"),
        ("a,12,7\nb,fast,9\n", "line 2, latency_ms: 'fast' is not a number"),
        ("a,12,7\n", "a frontier needs 3 or more"),
        ("a,12,700\n", "give 0 to 100 percent"),
    ],
)
def test_unusable_baselines_are_named(content, sentence, tmp_path, capsys):
    """A faulty line, or too few baselines, gives a sentence with the file."""
    path = tmp_path / "baselines.csv"
    path.write_text(content)
    assert 2 == main(["ovic", "frontier", "--task", "detection", "--baselines", str(path)])
    error = capsys.readouterr().err
    assert sentence in error and "baselines.csv" in error


def benchmark(folder: Path, began: str = "12:00:00.500", ended: str = "12:00:02.500") -> Path:
    """Write the result of a stable benchmark of 100 runs."""
    path = folder / "result.json"
    content = {
        "stable": True,
        "latency_ms": {"mean": 28.0},
        "plan": {"runs": 100},
        "began_utc": f"2026-06-07T{began}+00:00",
        "ended_utc": f"2026-06-07T{ended}+00:00",
    }
    path.write_text(json.dumps(content))
    return path


def power_log(folder: Path, last: str = "TIMEUP") -> Path:
    """Write the log of an integration of three seconds at 6 W from noon on."""
    row = "{0}.0000,2026-06-07T12:00:0{0}.000+00:00,120.0,0.05,6.0,{1},{0},{2}\n"
    rows = [row.format(n, n / 600, last if n == 3 else "START") for n in range(4)]
    path = folder / "power.csv"
    path.write_text("".join([",".join(COLUMNS) + "\n", *rows]))
    return path


def test_energy_stands_beside_the_metric_and_changes_nothing(tmp_path, capsys):
    """Of the meter's log the counted runs alone count, and every figure of the score stays."""
    given = ["--benchmark", benchmark(tmp_path)]
    score(*given, "--json")
    plain = json.loads(capsys.readouterr().out)
    assert 0 == score(*given, "--power-log", power_log(tmp_path), "--json")
    found = json.loads(capsys.readouterr().out)
    energy = found.pop("energy")
    assert plain == found
    # 6 W for two seconds are 1/300 Wh, for 100 images.
    assert (1 / 300, 100) == (pytest.approx(energy["energy_wh"]), energy["images"])
    assert 1 / 30 == pytest.approx(energy["wh_per_1000_images"])
    assert "SUSPECT" == energy["verdict"]
    assert any("1.0 s apart" in text for text in energy["findings"])
    score(*given, "--power-log", power_log(tmp_path))
    # No digit that the ends of the runs do not carry.
    told = "beside the score: 0.0333 Wh per 1,000 images (0.00333 Wh ± 2.5e-05 Wh by time, 100"
    assert told in capsys.readouterr().out


def test_an_energy_of_ones_own_needs_its_images(capsys):
    """Watt-hours from elsewhere come with the number of images that they were spent on."""
    assert 0 == score("--latency-ms", 30, "--energy-wh", 2, "--energy-images", 500, "--json")
    energy = json.loads(capsys.readouterr().out)["energy"]
    assert {"energy_wh": 2.0, "images": 500, "wh_per_1000_images": 4.0} == energy
    assert 2 == score("--latency-ms", 30, "--energy-wh", 2)
    assert "add --energy-images N" in capsys.readouterr().err


def test_an_integration_that_cannot_be_used_gives_no_energy(tmp_path, capsys):
    """An INVALID log gives reasons and no figure."""
    log = power_log(tmp_path, "START")
    assert 0 == score("--benchmark", benchmark(tmp_path), "--power-log", log, "--json")
    energy = json.loads(capsys.readouterr().out)["energy"]
    assert ("INVALID", None, None) == (
        *(energy["verdict"], energy["energy_wh"], energy["wh_per_1000_images"]),
    )


def test_a_log_that_does_not_cover_the_runs_is_refused(tmp_path, capsys):
    """A log of another time, or one that ended too early, is no energy of these runs."""
    late = benchmark(tmp_path, ended="12:00:03.100")
    assert 2 == score("--benchmark", late, "--power-log", power_log(tmp_path))
    assert "does not cover the runs, 2026-06-07 12:00:00 to 12:00:03" in capsys.readouterr().err


def test_a_power_log_needs_one_benchmark(tmp_path, capsys):
    """Without the result of one benchmark nobody knows when the runs were."""
    log = power_log(tmp_path)
    assert 2 == score("--latency-ms", 30, "--power-log", log)
    assert "add one --benchmark FILE" in capsys.readouterr().err
    (tmp_path / "old.json").write_text('{"stable": true, "latency_ms": {"mean": 28}, "plan": {}}')
    assert 2 == score("--benchmark", tmp_path / "old.json", "--power-log", log)
    assert "began_utc" in capsys.readouterr().err
