# SPDX-License-Identifier: Apache-2.0
"""Drawing a log."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from power.cli import main
from power.energy.phases import Mark
from power.energy.verdict import EnergyResult, Verdict
from power.logs.marks import marks_path
from power.logs.plot import figure_of, headline, save_figure, save_page
from power.logs.power_log import PowerLog
from power.meter import Reading

Make = Callable[..., Reading]
GOOD = EnergyResult(Verdict.VALID, 0.0165, 0.0001, (), integrator_wh=0.0165, mean_power_w=6.0)


@pytest.fixture
def readings(make_reading: Make) -> list[Reading]:
    """Return ten readings, one without a power."""
    rows = [make_reading(float(k), power_w=5.0 + k) for k in range(10)]
    rows[4] = make_reading(4.0, power_w=None, absent={"power_w": "no data"})
    return rows


def words_in(svg: str) -> set[str]:
    """Return the texts of an SVG file; it must be well formed."""
    return {(element.text or "").strip() for element in ElementTree.fromstring(svg).iter()}


def test_axes_name_quantities_and_units(readings: list[Reading], tmp_path: Path) -> None:
    """The picture names the log, the quantities with their units, and the verdict."""
    save_figure(figure_of(readings, "run.csv", GOOD), tmp_path / "a.svg")
    words = words_in((tmp_path / "a.svg").read_text())
    assert {
        "run.csv",
        "0.0165 Wh ± 0.0001 Wh, VALID",
        "power, W",
        "energy, Wh",
        "time since the start of the integration, s",
        "mean 6 W",
        "no value",
    } <= words


def test_marks_are_lines_with_their_texts(readings: list[Reading], tmp_path: Path) -> None:
    """Each mark crosses both curves at its time, and its text stands as it was given."""
    marks = (Mark(2.5, "warm $x_1$"), Mark(7.0, "very long " * 20))
    figure = figure_of(readings, "run.csv", GOOD, marks)
    for axes in figure.axes:
        assert [2.5, 7.0] == [
            line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"
        ]
    save_figure(figure, tmp_path / "a.svg")
    words = words_in((tmp_path / "a.svg").read_text())
    assert {"warm $x_1$", "very long very long very long very …"} <= words


def test_too_many_marks_are_lines_without_texts(readings: list[Reading]) -> None:
    """A hundred texts would hide the curve and each other."""
    figure = figure_of(readings, "run.csv", GOOD, [Mark(at / 20, "step") for at in range(100)])
    assert 0 == len(figure.axes[0].texts)
    assert 100 == sum(line.get_linestyle() == ":" for line in figure.axes[1].lines)


def test_the_command_draws_the_marks_beside_the_log(make_reading: Make, tmp_path: Path) -> None:
    """What `mark` has written stands in the picture."""
    with PowerLog(tmp_path / "log.csv") as log:
        for at in range(5):
            log.add(make_reading(float(at)))
    marks_path(tmp_path / "log.csv").write_text('{"elapsed_s": 2.0, "text": "warm"}\n')
    assert 0 == main(["plot", str(tmp_path / "log.csv"), "-o", str(tmp_path / "log.svg")])
    assert "warm" in words_in((tmp_path / "log.svg").read_text())


def test_the_curve_is_broken_where_power_is_missing(readings: list[Reading]) -> None:
    """A missing power is a gap and a red mark at its time, not a zero."""
    above, below = figure_of(readings, "run.csv", GOOD).axes
    curve, holes = above.lines[0], above.lines[1]
    numbers = [float(value) for value in curve.get_ydata()]
    assert [4] == [index for index, value in enumerate(numbers) if value != value]
    assert ([4.0], "tab:red") == (list(holes.get_xdata()), holes.get_color())
    assert [row.energy_wh for row in readings] == list(below.lines[0].get_ydata())
    assert above.get_ylim()[0] <= 0.0


def test_names_do_no_harm(readings: list[Reading], tmp_path: Path) -> None:
    """Angle brackets are escaped, and dollar signs make no formula."""
    figure = figure_of(readings, "<b>&$x_1$", GOOD)
    save_figure(figure, tmp_path / "a.svg")
    assert "<b>&$x_1$" in words_in((tmp_path / "a.svg").read_text())
    save_page(figure, tmp_path / "a.html", "<b>", ["<i>note"])
    page = (tmp_path / "a.html").read_text()
    assert "<b>" not in page
    assert "&lt;i&gt;note" in page
    assert 1 == page.count("<svg")


def test_a_picture_is_the_same_at_each_run(readings: list[Reading], tmp_path: Path) -> None:
    """Two runs give the same picture."""
    for name in ("a.svg", "b.svg"):
        save_figure(figure_of(readings, "run.csv", GOOD), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_png_is_large_enough_to_read(readings: list[Reading], tmp_path: Path) -> None:
    """The PNG has a readable size."""
    save_figure(figure_of(readings, "run.csv", GOOD), tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size >= (1000, 600)


@pytest.mark.parametrize("count", [0, 1])
def test_a_short_log_is_drawn(make_reading: Make, count: int, tmp_path: Path) -> None:
    """A log of one reading or none is drawn."""
    save_figure(figure_of([make_reading(1.0)] * count, "run.csv", GOOD), tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_headline_of_an_energy_that_may_not_be_used() -> None:
    """The headline of an unusable energy shows its verdict, and no figure of the integrator."""
    bad = replace(GOOD, verdict=Verdict.INVALID, energy_wh=None, uncertainty_wh=None)
    assert "no energy, INVALID" == headline(bad)
    assert "no energy, INVALID" == headline(replace(bad, integrator_wh=None))


def test_without_matplotlib_the_command_says_what_to_install(
    make_reading: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without matplotlib the command prints one line of advice and writes no file."""
    with PowerLog(tmp_path / "log.csv") as log:
        log.add(make_reading(1.0))
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert 1 == main(["plot", str(tmp_path / "log.csv"), "-o", str(tmp_path / "log.png")])
    assert "pip install matplotlib" in capsys.readouterr().err
    assert not (tmp_path / "log.png").exists()


def test_a_long_log_is_drawn_with_few_points(make_reading: Make) -> None:
    """Each bin keeps its least and its greatest, so no peak is lost, and no gap is closed."""
    rows = [make_reading(0.1 * k, power_w=6.0 + (k % 7) / 100) for k in range(20_000)]
    rows[7001] = make_reading(700.1, power_w=99.0)
    rows[12_345] = make_reading(1234.5, power_w=None, absent={"power_w": "no data"})
    above, below = figure_of(rows, "run.csv", GOOD).axes
    curve = above.lines[0]
    drawn = [float(value) for value in curve.get_ydata()]
    assert len(drawn) <= 3 * 2000 + 2
    assert 99.0 in drawn
    assert 1 == sum(value != value for value in drawn)
    times = list(curve.get_xdata())
    assert (sorted(times), 0.0, 1999.9) == (times, times[0], pytest.approx(times[-1]))
    assert rows[-1].energy_wh == below.lines[0].get_ydata()[-1]
