# SPDX-License-Identifier: Apache-2.0
"""`referee aiotbench score` prints VIPS and VOPS for people, as JSON and as a chart."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from power.logs.power_log import COLUMNS
from referee import cli

PARTS = "[hardware]\na = 1\n[software]\na = 1\n"
MODEL = f'file = "m", sha256 = "{"0" * 64}"'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write the worked example: 72 % at 0.05 s with 300 M, 76 % at 0.2 s with 3,800 M."""
    lines = ["image_id, workload_id, real_label, predict_label, time"]
    for image in range(100):
        lines.append(f"{image}, mo_tfc, 1, {1 if image < 72 else 2}, 0.05")
        lines.append(f"{image}, re_py, 1, {1 if image < 76 else 2}, 0.2")
    path = tmp_path / "board.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """Write the configuration of a device."""
    path = tmp_path / "board.toml"
    path.write_text('[hardware]\ndevice = "a board"\ncores = 4\n[software]\nsystem = "Linux"\n')
    return path


def run(*arguments: object) -> int:
    """Run the command."""
    return cli.main(["aiotbench", "score", *map(str, arguments)])


def report(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    """Run the command and return its JSON."""
    assert 0 == run(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_json_has_the_published_fields(log, capsys):
    """Without further options the object has vips, vops, workloads, missing and models."""
    found = report(capsys, log)
    assert ["vips", "vops", "workloads", "missing", "models"] == list(found)
    assert {"sum": 18.2, "average": 9.1, "maximum": 14.4} == found["vips"]
    assert {"sum": 18760e6, "average": 9380e6, "maximum": 14440e6} == found["vops"]
    assert {"accuracy": 0.76, "mean_time_s": 0.2, "images": 100} == found["workloads"]["re_py"]
    assert 22 == len(found["missing"])
    assert "in_ca" in found["missing"]


def test_several_logs_are_one(log, tmp_path, capsys):
    """A log in two parts has the score of the whole."""
    lines = log.read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines[:57]))
    (tmp_path / "b.csv").write_text("\n".join(lines[57:]))
    whole = report(capsys, log)
    assert whole == report(capsys, tmp_path / "b.csv", tmp_path / "a.csv")


def test_people_get_a_table(log, capsys):
    """The table has each workload, the figures, and what keeps it from being a submission."""
    assert 0 == run(log)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [
        "mo_tfc",
        *"MobileNetV2, TensorFlow Lite, CPU 100 72.000 % 72 % 0.05 14.4 4320".split(),
    ] in (lines)
    assert ["sum", "18.2", "18760"] in lines
    assert ["average", "9.1", "9380"] in lines
    assert ["maximum", "14.4", "14440"] in lines
    text = "\n".join(" ".join(line) for line in lines)
    assert "configuration of hardware and software is missing" in text
    assert "22 of 24 workloads are missing: re_ca re_tfc" in text
    assert "the result is not a submission" in text


def test_what_the_runner_noted_is_compared(tmp_path, log, capsys):
    """The file beside the log is read without a word, and another network earns nothing."""
    figures = "width = 32, height = 32, parameters = 3003, flops = 9009"
    (tmp_path / "board.toml").write_text(f"{PARTS}[models]\nre_py = {{ {MODEL}, {figures} }}\n")
    found = report(capsys, log)
    assert (14.4, ["re_py"]) == (found["vips"]["sum"], list(found["others"]))
    assert "its input is 32x32" in found["models"]["re_py"]["differences"][0]
    run(log)
    printed = capsys.readouterr().out
    assert "Another network than that of the name; not in the figures above:" in printed


def test_a_file_that_did_not_run_is_refused(tmp_path, log, capsys):
    """A model's file must have the SHA-256 that the runner noted."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from tests.support import tflite_models

    (tmp_path / "board.toml").write_text(f"{PARTS}[models]\nmo_tfc = {{ {MODEL} }}\n")
    (tmp_path / "m.tflite").write_bytes(tflite_models.classifier())
    assert 2 == run(log, "--model", f"mo_tfc={tmp_path / 'm.tflite'}")
    assert "m.tflite is not the file that ran as mo_tfc" in capsys.readouterr().err


def test_the_configuration_stands_in_the_result(log, configuration, capsys):
    """With a configuration JSON has what a submission states, and the table shows it."""
    found = report(capsys, log, "--configuration", configuration)["submission"]
    assert {
        "hardware": {"device": "a board", "cores": "4"},
        "software": {"system": "Linux"},
    } == found["configuration"]
    assert {"vips": 14.4, "vops": 4320e6} == found["scores"]["mo_tfc"]
    assert 2 == len(found["open"])
    run(log, "--configuration", configuration)
    printed = capsys.readouterr().out
    assert "hardware: device a board, cores 4" in printed
    assert "configuration of hardware" not in printed


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[hardware]\na = 1\n", r"[software]: give one line or more"),
        ("[hardware]\n[software]\na = 1\n", r"[hardware]: give one line or more"),
        ('hardware = "a board"\n[software]\na = 1\n', r"[hardware]: give one line or more"),
        ("[hardware]\na = []\n[software]\na = 1\n", "hardware.a: give a text or a number"),
        ('[hardware]\na = " "\n[software]\na = 1\n', "hardware.a: give a text or a number"),
        ("[hardware]\na = 1\n[software]\na = 1\n[cloud]\n", "cloud: give only the tables"),
        (f"models = 1\n{PARTS}", "[models]: give a table"),
        (f"{PARTS}[models]\nxx_tfc = 1\n", "models.xx_tfc: a workload is MODEL_IMPL"),
        (f"{PARTS}[models]\nmo_tfc = 1\n", "models.mo_tfc: give file, sha256, width"),
        (f"{PARTS}[models]\nmo_tfc = {{ path = 1 }}\n", "models.mo_tfc: give file"),
        (f'{PARTS}[models]\nmo_tfc = {{ sha256 = "f" }}\n', "mo_tfc.sha256: give the 64"),
        (f"{PARTS}[models]\nmo_tfc = {{ {MODEL}, width = -1 }}\n", "width: give a whole number"),
        (f"{PARTS}[models]\nmo_tfc = {{ {MODEL}, width = 8 }}\n", "give all of width, height"),
        ("hardware", "is not TOML"),
    ],
)
def test_a_faulty_configuration_is_refused(content, sentence, log, tmp_path, capsys):
    """The error names the file and the entry."""
    (tmp_path / "bad.toml").write_text(content)
    assert 2 == run(log, "--configuration", tmp_path / "bad.toml")
    printed = capsys.readouterr()
    assert ("", True) == (printed.out, "bad.toml" in printed.err)
    assert sentence in printed.err


def test_energy_stands_beside_and_changes_nothing(log, capsys):
    """Wh per 1,000 images come from the energy and the images; VIPS and VOPS stay the same."""
    plain = report(capsys, log)
    with_energy = report(capsys, log, "--energy-wh", 2)
    assert {"energy_wh": 2.0, "images": 200, "wh_per_1000_images": 10.0} == with_energy.pop(
        "energy"
    )
    assert plain == with_energy
    chosen = report(capsys, log, "--energy-wh", 2, "--energy-images", 4000)["energy"]
    assert 0.5 == chosen["wh_per_1000_images"]
    run(log, "--energy-wh", 2)
    assert "beside the score: 10 Wh per 1,000 images (2 Wh, 200 images)" in capsys.readouterr().out


def power_log(folder: Path, last: str) -> Path:
    """Write the log of an integration of three seconds at 6 W, which ends in a state."""
    row = "{0}.0000,2026-06-07T12:00:0{0}.000+00:00,120.0,0.05,6.0,{1},{0},{2}\n"
    rows = [row.format(n, n / 600, last if n == 3 else "START") for n in range(4)]
    path = folder / "power.csv"
    path.write_text("".join([",".join(COLUMNS) + "\n", *rows]))
    return path


def test_a_power_log_gives_the_energy_with_its_verdict(log, tmp_path, capsys):
    """The meter's own log is judged, and its verdict stands beside the energy."""
    power = power_log(tmp_path, "TIMEUP")
    found = report(capsys, log, "--power-log", power)["energy"]
    assert (0.005, 200, 0.025) == (
        found["energy_wh"],
        found["images"],
        found["wh_per_1000_images"],
    )
    assert "SUSPECT" == found["verdict"]
    assert found["findings"]
    run(log, "--power-log", power)
    assert "0.025 Wh per 1,000 images (0.005 Wh, 200 images, SUSPECT)" in capsys.readouterr().out


def test_an_energy_that_cannot_be_used_gives_no_figure(log, tmp_path, capsys):
    """An integration that did not end is INVALID: there are no Wh per 1,000 images, but reasons."""
    power = power_log(tmp_path, "START")
    found = report(capsys, log, "--power-log", power)["energy"]
    assert ("INVALID", None, None) == (
        found["verdict"],
        found["energy_wh"],
        found["wh_per_1000_images"],
    )
    run(log, "--power-log", power)
    assert "Energy, beside the score: no energy, INVALID\n  " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--energy-images", "5"], "--energy-images needs an energy"),
        (["--power-log", "none.csv"], "none.csv cannot be read"),
        (["--power-log", "board.csv"], "board.csv is not a power log"),
        (["--chart", "board.pdf"], "let it end in .svg or .png"),
        pytest.param(
            ["--chart", "none/board.svg"],
            "cannot be written: No such file",
            marks=pytest.mark.slow,  # It imports matplotlib.
        ),
    ],
)
def test_options_that_cannot_work_are_refused(options, sentence, log, capsys, monkeypatch):
    """Each gets a sentence, and nothing is printed as a result."""
    monkeypatch.chdir(log.parent)
    assert 2 == run(log, *options)
    printed = capsys.readouterr()
    assert ("", True) == (printed.out, sentence in printed.err), printed.err


@pytest.mark.parametrize(
    "option", [("--energy-wh", "0"), ("--energy-wh", "nan"), ("--energy-images", "0")]
)
def test_numbers_out_of_range_are_wrong_use(option, log):
    """No energy and no image are refused."""
    with pytest.raises(SystemExit) as end:
        run(log, *option)
    assert 2 == end.value.code


def test_a_faulty_log_is_refused(tmp_path, capsys):
    """The error names file, line and field; the exit code is 2."""
    (tmp_path / "bad.csv").write_text("1,mo_tfc,5,5,fast\n")
    assert 2 == run(tmp_path / "bad.csv")
    assert "bad.csv, line 1, time: 'fast' is not a time above 0" in capsys.readouterr().err


def test_a_log_of_additions_alone_has_no_score(tmp_path, capsys):
    """Workloads outside the official set are shown; the exit code says that there is no score."""
    (tmp_path / "log.csv").write_text("1,mo_ort,5,5,0.5\n2,mo_ort,5,6,0.5\n")
    assert 1 == run(tmp_path / "log.csv")
    printed = capsys.readouterr()
    assert "Outside the official set" in printed.out
    assert "no VIPS and no VOPS" in printed.err


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_chart_shows_each_workload(suffix, log, tmp_path, capsys):
    """The chart has a bar for each workload, and the average."""
    pytest.importorskip("matplotlib", reason="needs the extra [event]")
    chart = tmp_path / f"chart{suffix}"
    assert 0 == run(log, "--chart", chart)
    content = chart.read_bytes()
    if suffix == ".png":
        assert content.startswith(b"\x89PNG")
    else:
        for text in ("mo_tfc", "re_py", "VIPS, images/s", "PyTorch Mobile", "average"):
            assert text in content.decode()


def test_a_chart_without_matplotlib_names_the_extra(log, tmp_path, capsys, monkeypatch):
    """Without matplotlib the error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert 2 == run(log, "--chart", tmp_path / "chart.svg")
    assert "pip install matplotlib (the extra 'event')" in capsys.readouterr().err


def test_a_log_in_milliseconds_is_scored_with_its_unit(tmp_path, capsys):
    """The command asks about the times; with the unit the figures are those of the same seconds."""
    path = tmp_path / "phone.csv"
    path.write_text("".join(f"{image},mo_tfc,{image},{image},40\n" for image in range(200)))
    assert 0 == run(path)
    printed = " ".join(capsys.readouterr().out.split())
    assert "Is the log in milliseconds? Then add --time-unit ms: VIPS is 25, not 0.025" in printed
    assert ["remarks"] == [name for name in report(capsys, path) if name == "remarks"]
    found = report(capsys, path, "--time-unit", "ms")
    assert (25.0, 0.04) == (found["vips"]["sum"], found["workloads"]["mo_tfc"]["mean_time_s"])
    assert "remarks" not in found
    assert 0 == cli.main(["aiotbench", "rank", str(path), "--time-unit", "ms"])
    assert "milliseconds" not in capsys.readouterr().out


def test_shifted_labels_are_named_with_the_repaired_accuracy(tmp_path, capsys):
    """A log whose labels are one off scores 0.000 %, and says what it would score."""
    path = tmp_path / "phone.csv"
    lines = [
        f"{image},mo_tfc,{image},{image + (1 if image % 4 else 9)},0.04" for image in range(80)
    ]
    path.write_text("\n".join(lines))
    assert 0 == run(path)
    printed = " ".join(capsys.readouterr().out.split())
    assert "0.000 %" in printed and "Counted from the same one the accuracy is 75.000 %" in printed


def test_a_short_pause_keeps_a_result_from_being_a_submission(log, tmp_path, capsys):
    """The finding stands in the table, in JSON, and with the device in a ranking."""
    (tmp_path / "board.toml").write_text(f"{PARTS}cooling_s = 60\n")
    run(log)
    assert "The pause before each workload was 60 s (cooling_s)" in capsys.readouterr().out
    assert "60 s (cooling_s)" in "".join(report(capsys, log)["submission"]["open"])
    cli.main(["aiotbench", "rank", str(log)])
    assert "board, The pause before each workload was 60 s" in " ".join(
        capsys.readouterr().out.split()
    )


def test_the_shortest_pause_of_several_parts_counts(log, tmp_path, capsys):
    """Each part of a log has its own pause, and the first must not hide the others."""
    lines = log.read_text().splitlines()
    for name, own, pause in (("a", lines[:57], 300), ("b", lines[57:], 5)):
        (tmp_path / f"{name}.csv").write_text("\n".join(own))
        (tmp_path / f"{name}.toml").write_text(f"{PARTS}cooling_s = {pause}\n")
    run(tmp_path / "a.csv", tmp_path / "b.csv")
    assert "The pause before each workload was 5 s" in capsys.readouterr().out
