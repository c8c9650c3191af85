# SPDX-License-Identifier: Apache-2.0
"""`referee history` compares the scores of several years, as table I of the paper does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.cli import main
from tests.support.lpirc_tables import MISPRINTS, TABLE_I, TABLE_II_2016, TABLE_III_2015

PAGE = (Path(__file__).parents[2] / "docs/scoring.md").read_text(encoding="utf-8")
MENDED = {(year, rank): score for year, rank, score in MISPRINTS if (year, rank) != (2016, 4)}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, float]]:
    """Return the years that the command tells."""
    assert 0 == main(["history", "--json", *arguments])
    years: list[dict[str, float]] = json.loads(capsys.readouterr().out)["years"]
    return years


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of our own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_of_the_page_prints_what_the_page_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's files give the page's table."""
    for name, content in re.findall(r"```csv (20\d\d\.csv)\n(.*?)```", PAGE, re.DOTALL):
        (folder / name).write_text(content)
    example = re.search(r"```console\n\$ referee (history [^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    assert 0 == main(example.group(1).split())
    assert example.group(2) == capsys.readouterr().out


def test_the_papers_means(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables II and III, misprints mended, give the means of table I that they can give."""
    of_2016 = [MENDED.get((2016, row[0]), row[-1]) for row in TABLE_II_2016[:6]]
    of_2015 = [MENDED.get((2015, row[0]), row[-1]) for row in TABLE_III_2015]
    for year, scores in (("2015", of_2015), ("2016", of_2016)):
        (folder / f"{year}.csv").write_text("\n".join(["score", *scores]))
    first, second = told(capsys, "2015.csv", "2016.csv")
    assert float(TABLE_I["2015, top 5"]) == round(first["best_mean"], 4)
    assert float(TABLE_I["2016, top 5"]) == round(second["best_mean"], 4)
    assert float(TABLE_I["2016, all"]) == round(second["mean"], 4)
    assert 2.406 == round(second["best_improvement"], 3)
    assert (None, 5, 10) == (first["improvement"], first["best"], first["entries"])


def test_it_reads_results_of_the_referee(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON and CSV of `results` count the entries with a score whose teams have not withdrawn."""
    entries = [
        {"team": "a", "score": 0.4, "withdrawn": False},
        {"team": "b", "score": 0.9, "withdrawn": True},
        {"team": "c", "score": None, "mean_ap": 0.1, "energy_wh": 2.0, "verdict": "INVALID"},
        {"team": "d", "score": 0.2},
    ]
    (folder / "json.json").write_text(json.dumps({"contest": "x", "entries": entries}))
    (folder / "csv.csv").write_text(
        "rank,team,score,withdrawn,verdict\n1,a,0.4,False,VALID\n,b,0.9,True,VALID\n"
        ",c,,False,\n2,d,0.2,False,VALID\n"
    )
    first, second = told(capsys, "json.json", "csv.csv", "--best", "1")
    assert {"mean": 0.30000000000000004, "best_mean": 0.4, "entries": 2} == {
        name: first[name] for name in ("mean", "best_mean", "entries")
    }
    assert (1.0, 1.0) == (second["improvement"], second["best_improvement"])


def test_without_a_score_it_is_map_per_watt_hour(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table of mAP and energy has the scores that follow; a mean of 0 has no ratio."""
    (folder / "2017.csv").write_text("mean_ap,energy_wh\n0,1\n")
    (folder / "2018.csv").write_text("mean_ap,energy_wh\n0.18318,0.412\n")
    first, second = told(capsys, "2017.csv", "2018.csv")
    assert 0.18318 / 0.412 == second["mean"]
    assert (0.0, None) == (first["mean"], second["improvement"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("team,points\na,1\n", "line 1: no column 'score'"),
        ("score\n0.1\nfast\n", "line 3, score: 'fast' is not a number, 0 or more"),
        ("score\n-1\n", "line 2, score: '-1' is not a number"),
        ("score\nnan\n", "line 2, score: 'nan' is not a number"),
        ("score\n", "has no entry with a score"),
        ("", "no column 'score'"),
        ("{}", "has no list 'entries'"),
        ('{"entries": [{"score": "x"}]}', r"entries\[0\], score: 'x' is not a number"),
        ('{"entries": [{"score": true}]}', r"entries\[0\], score: True is not a number"),
        ('{"entries": [1]}', r"entries\[0\] is not an object"),
    ],
)
def test_what_is_no_table_of_scores_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, words: str
) -> None:
    """A file that cannot be used ends with 2, its name, the line and the field."""
    (folder / "y.csv").write_text(content)
    assert 2 == main(["history", "y.csv"])
    assert re.search(f"y.csv.*{words}", capsys.readouterr().err)


def test_a_missing_file_and_no_best_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there, and a best of none, are wrong use."""
    assert (2, 2) == (main(["history", "no.csv"]), main(["history", "--best", "0", "no.csv"]))
    assert "--best 0 is not a number of entries" in capsys.readouterr().err
