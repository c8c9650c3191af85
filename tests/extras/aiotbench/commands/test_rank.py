# SPDX-License-Identifier: Apache-2.0
"""`referee aiotbench rank` names devices and prints each form."""

from __future__ import annotations

import json

import pytest

from referee import cli


@pytest.fixture
def logs(tmp_path):
    """Write the logs of a fast and a slow device; the slow one has its configuration beside it."""
    for name, seconds in (("slow", 0.2), ("fast", 0.1)):
        lines = [f"{image}, mo_tfc, 1, {1 + (image > 71)}, {seconds}\n" for image in range(100)]
        (tmp_path / f"{name}.csv").write_text("".join(lines))
    configuration = '[hardware]\ndevice = "an old board"\n[software]\nsystem = "Linux"\n'
    (tmp_path / "slow.toml").write_text(configuration)
    return [tmp_path / "slow.csv", tmp_path / "fast.csv"]


def rank(*words):
    """Run the command."""
    return cli.main(["aiotbench", "rank", *map(str, words)])


def test_devices_are_named_and_ranked(logs, tmp_path, capsys):
    """A name comes from the configuration beside the log, else from the log; the best is first."""
    assert 0 == rank(*logs, "--json")
    found = json.loads(capsys.readouterr().out)["devices"]
    assert ["fast", "an old board"] == [it["device"] for it in found]
    assert [7.2, 3.6] == pytest.approx([it["vips"]["sum"] for it in found])
    (tmp_path / "fast.toml").write_text((tmp_path / "slow.toml").read_text())
    assert 0 == rank(*logs, "--csv")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith(f"1,an old board ({logs[1]}),mo_tfc,")
    assert 0 == rank(*logs)
    assert "MobileNetV2" in capsys.readouterr().out


def test_a_page_and_a_chart_are_written(logs, tmp_path):
    """Both stand beside each other; a chart has a bar for each device."""
    pytest.importorskip("matplotlib", reason="needs the extra [event]")
    page, chart = tmp_path / "devices.html", tmp_path / "devices.svg"
    assert 0 == rank(*logs, "--html", page, "--chart", chart)
    assert "an old board" in page.read_text() and "<svg" in chart.read_text()


def test_a_device_without_a_score_is_told(logs, tmp_path, capsys):
    """It stands last without a rank, and the exit code is 1."""
    other = tmp_path / "other.csv"
    other.write_text("1, mo_ort, 1, 1, 0.1\n")
    assert 1 == rank(*logs, other, "--json")
    printed = capsys.readouterr()
    assert json.loads(printed.out)["devices"][-1]["rank"] is None
    assert "other has no workload of the official set" in printed.err


@pytest.mark.parametrize("words", [("--chart", "x.gif"), ("TWICE",), ("--html", "/proc/none/x")])
def test_wrong_use_is_named(logs, capsys, words):
    """A chart's name, a log that stands twice, and a page that cannot be written."""
    assert 2 == rank(*logs, *(logs[0] if word == "TWICE" else word for word in words))
    assert capsys.readouterr().err
