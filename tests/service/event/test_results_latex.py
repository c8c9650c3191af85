# SPDX-License-Identifier: Apache-2.0
"""The tables for LaTeX compile, print every name as it is, and fit into their place."""

from __future__ import annotations

import re
import subprocess
import unicodedata

import pytest

from referee.core.conditions import Difference
from referee.service.event.columns import On, columns_on
from referee.service.event.result_entry import ResultEntry, Results, TrackFigures
from referee.service.event.results_latex import TableSpan, latex_with_needs, results_latex
from referee.tracks.loading import load_track
from tests.support.programs import LATEX

ASCII = "".join(map(chr, range(33, 127)))
LONG = "The Very Long Name of a Team of the University of Somewhere, Department of Bees"
NAMES = ("ants", ASCII, "<b>--bold--</b>", "W" * 130, LONG, "[a", "*b", "Łódź Müller")
TRACK = load_track("network")


def results_of(*names):
    """Return results in which each team has every figure, and all marks that are long."""
    entries = [
        ResultEntry(
            **{
                "team": name,
                "rank": place,
                "mean_ap": 0.12345,
                "energy_wh": 12.3456,
                "score": 0.01,
            },
            **{"mean_power_w": 123.456, "images": 20000, "verdict": "SUSPECT", "emulated": True},
            differs=[Difference("length_s", 300.0, 600.0)],
        )
        for place, name in enumerate(names, 1)
    ]
    return Results(
        **{"contest": names[-1], "track": "network", "mode": "event", "seconds": 600},
        **{"images": 20000, "figures": TrackFigures(TRACK.accuracy, TRACK.score)},
        **{"utc": "2026-06-07T16:02:11+00:00", "entries": entries},
    )


def compiled(folder, engine, text, begin):
    """Compile a document with these tables; return its exit code, its words, and the log."""
    (folder / "results.tex").write_text(text, encoding="utf-8")
    (folder / "paper.tex").write_text(
        rf"{begin}\begin{{document}}\input{{results}}\end{{document}}"
    )
    command = [engine, "-interaction=nonstopmode", "paper"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=180)
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    reader = ["pdftotext", "-layout", "paper.pdf", "-"]
    shown = subprocess.run(reader, cwd=folder, capture_output=True, timeout=180)
    return done.returncode, "".join(shown.stdout.decode().split()), log


def test_each_row_has_a_cell_for_each_column():
    """Signs of LaTeX in a name end no cell and no row."""
    results = results_of(*NAMES)
    body = results_latex(results).partition(r"\hline")[2].partition(r"\end{tabular}")[0]
    rows = body.strip().splitlines()
    assert len(NAMES) == len(rows) == body.count(r" \tabularnewline")
    between = len(columns_on(On.LATEX, results.entries)) - 1
    assert {between} == {row.replace(r"\&", "").count("&") for row in rows}


def test_the_head_says_what_a_document_needs():
    """Letters, a table on its side and figures have a need each; plain names have none."""
    assert [] == latex_with_needs(results_of("ants", "Müller"), TableSpan.COLUMN, [])[1]
    text, needs = latex_with_needs(results_of("蜂"), TableSpan.LANDSCAPE, [("a.pdf", "--")])
    assert ["XeLaTeX", "rotating", "graphicx"] == [
        re.search("XeLaTeX|rotating|graphicx", need)[0] for need in needs
    ]
    assert [f"% {need}" for need in needs] == text.splitlines()[:3]
    assert r"\caption{-\/-}" in text and r"\includegraphics[width=\linewidth]{a.pdf}" in text


@pytest.mark.slow
@pytest.mark.needs(LATEX)
@pytest.mark.parametrize(
    ("engine", "begin", "span"),
    [
        ("pdflatex", r"\documentclass{article}", TableSpan.COLUMN),
        (
            "pdflatex",
            r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{rotating}",
            TableSpan.LANDSCAPE,
        ),
        ("xelatex", r"\documentclass[twocolumn]{article}", TableSpan.PAGE),
    ],
)
def test_names_print_as_they_are_in_every_encoding(tmp_path, engine, begin, span):
    """No sign becomes another one, and no line is wider than its place."""
    code, shown, log = compiled(tmp_path, engine, results_latex(results_of(*NAMES), span), begin)
    assert 0 == code, log[-2000:]
    # TeX draws these three, so a reader of PDF finds others.
    assert {*ASCII} - {*"~^_"} <= {*shown}
    for name in ("<b>--bold--", "[a", "*b"):
        assert name in shown
    assert not {*"¡¿“”‘’«»—"} & {*shown}
    assert "Overfull \\hbox" not in log and "Missing character" not in log


@pytest.mark.slow
@pytest.mark.needs(LATEX)
def test_names_of_other_scripts_print_with_the_engine_and_fonts_that_the_remark_names(tmp_path):
    """XeLaTeX has every letter, also in a caption; another engine says once that it has not."""
    names = ("東京の蜂。長い名前のチーム", "نحل 7", "🐝", "Пчёлы", "벌", "मधुमक्खी", "Ếch", "蜂 <b>")
    text, begin = results_latex(results_of(*names)), r"\documentclass{article}"
    code, shown, log = compiled(tmp_path, "xelatex", text, begin)
    assert 0 == code, log[-2000:]
    assert {*"東京の蜂🐝Пчёлы벌Ế"} <= {*unicodedata.normalize("NFC", shown)}
    assert "Missing character" not in log and "Overfull \\hbox" not in log
    code, shown, log = compiled(tmp_path, "pdflatex", text, begin)
    assert 1 == sum(line.startswith("!") for line in log.splitlines())
    assert "have letters that need XeLaTeX" in log and "??" in shown
