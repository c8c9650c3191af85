# SPDX-License-Identifier: Apache-2.0
"""`referee results`, `finalize`, `review` and `proposal` work on an event's folder."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cli import main
from referee.core.states import EndCause
from referee.service.results.live_scorer import LiveScorer
from referee.service.setup.contest import Contest
from referee.service.teams.registration import add_team
from referee.store.readings import energy_of
from referee.store.teams import Registration
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock, FakeMeter, eventually, running_desk


@pytest.fixture
def event(tmp_path: Path) -> Iterator[Contest]:
    """Return an event in which 'ants' ran, with gaps in its energy, and 'bees' did not."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, mode="event", seconds=600)
    for name in ("ants", "bees"):
        add_team(contest, name, Registration(), "Kim")
    with running_desk(contest, FakeMeter(clock)) as desk:
        number = desk.new_session("ants", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        desk.begin("ants", "10.0.0.2")
        clock.advance(60)
        desk.steps_of(number).end(number, EndCause.STOP, "Kim")
        eventually(lambda: energy_of(contest.database.connection, number))
    LiveScorer(contest).look()
    yield contest
    contest.database.close()


def referee(event: Contest, *arguments: str) -> int:
    """Run a command for this event."""
    return main([*arguments, "--config", str(event.config.path)])


def test_results_in_every_form(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON, CSV, LaTeX, text and the page have both teams."""
    assert 0 == referee(event, "results", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (False, ["ants", "bees"]) == (found["final"], [one["team"] for one in found["entries"]])
    for form in (["--csv"], ["--latex"], []):
        assert 0 == referee(event, "results", *form)
        said = capsys.readouterr().out
        assert "ants" in said and "bees" in said
    page = tmp_path / "results.html"
    assert 0 == referee(event, "results", "--html", str(page))
    assert "ants" in page.read_text()
    picture = tmp_path / "results.png"
    assert 0 == referee(event, "results", "--picture", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    for option, name in (("--html", "results.html"), ("--picture", "results.svg")):
        assert 2 == referee(event, "results", option, str(tmp_path / "nowhere" / name))
        assert "cannot be written" in capsys.readouterr().err


def test_figures_for_latex_are_files_that_its_text_names(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both charts are PDFs with the same bytes at each run, and each is a figure of the text."""
    drawn = []
    for name in ("one", "two"):
        folder = tmp_path / name / "figures"
        assert 0 == referee(event, "results", "--latex", "--figures", str(folder))
        said = capsys.readouterr().out
        files = sorted(folder.iterdir())
        assert ["accuracy-energy.pdf", "accuracy-speed.pdf"] == [file.name for file in files]
        assert said.index(r"\end{table}") < said.index(r"\begin{figure}")
        assert all(f"{{{file.as_posix()}}}" in said for file in files)
        drawn.append([file.read_bytes() for file in files])
    assert drawn[0] == drawn[1]
    assert all(pdf.startswith(b"%PDF") and b"CreationDate" not in pdf for pdf in drawn[0])


def test_latex_says_on_standard_error_what_a_document_needs(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has its place by an option, and a name in another script names engine and font."""
    add_team(event, "蜂", Registration(), "Kim")
    assert 0 == referee(event, "results", "--latex", "--span", "landscape")
    out, err = capsys.readouterr()
    assert r"\begin{sidewaystable*}" in out and r"\usepackage{rotating}" in err
    assert "XeLaTeX" in err and "Noto Sans CJK JP" in err
    assert all(f"% {line}" in out.splitlines() for line in err.splitlines())
    assert 2 == referee(event, "results", "--span", "page")
    assert "--span belongs to --latex" in capsys.readouterr().err


def test_a_workbook_has_the_figures_of_the_csv_with_their_types(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name like a number stays a name, its guard is gone, and the key joins both."""
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'test'")
    for name in ("007", "=1+1"):
        add_team(event, name, Registration(), "Kim")
    assert 0 == referee(event, "results", "--csv")
    told = {row["team_id"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    file = tmp_path / "results.xlsx"
    assert 0 == referee(event, "results", "--xlsx", str(file))
    assert f"Wrote {file}." in capsys.readouterr().out
    heads, *rows = openpyxl.load_workbook(file)["ranking"].iter_rows(values_only=True)
    assert list(heads) == list(told["1"])
    sheet = {row[-1]: dict(zip(heads, row, strict=True)) for row in rows}
    assert {1: "ants", 2: "bees", 3: "007", 4: "=1+1"} == {key: sheet[key]["team"] for key in sheet}
    assert ["'=1+1", float(told["1"]["mean_ap"])] == [told["4"]["team"], sheet[1]["mean_ap"]]
    assert (False, None) == (sheet[1]["withdrawn"], sheet[2]["score"])


def test_a_table_that_is_not_there_is_refused(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal names the tables that there are."""
    assert 2 == referee(event, "results", "--csv", "ovic")
    assert "no table 'ovic'. They have 'ranking'." in capsys.readouterr().err


def test_figures_that_cannot_be_made_are_refused(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --latex, or where there is a file, nothing is written and a sentence says why."""
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert 2 == referee(event, "results", "--figures", str(tmp_path / "figures"))
    assert "--figures belongs to --latex" in capsys.readouterr().err
    assert 2 == referee(event, "results", "--latex", "--figures", str(tmp_path / "50 %"))
    assert "its name has %" in capsys.readouterr().err
    assert 2 == referee(event, "results", "--latex", "--figures", str(taken))
    out, err = capsys.readouterr()
    assert ("", True) == (out, f"{taken} cannot be written" in err)
    assert ("mine", False) == (taken.read_text(), (tmp_path / "figures").exists())


def test_from_open_points_to_final_results(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """A refused approval lists what is open and exits with 1; after that it goes through."""
    approve = ("finalize", "--approved-by", "Ada", "--approved-by", "Grace")
    assert 1 == referee(event, *approve)
    said = capsys.readouterr().err
    assert "The results stay provisional: 2 points are open" in said
    assert "'bees' has no session that counts" in said and "is SUSPECT" in said
    assert 0 == referee(event, "review", "1", "--reason", "a test without load", "--by", "Ada")
    assert 0 == referee(event, "team", "withdraw", "bees", "--reason", "did not come")
    assert 0 == referee(event, *approve)
    assert "FINAL, approved by Ada, Grace" in capsys.readouterr().out
    assert 1 == referee(event, "team", "add", "wasps")
    assert "The results are final" in capsys.readouterr().err
    assert 0 == referee(event, "finalize", "--reopen", "--reason", "forgot a team", "--by", "Ada")
    assert 0 == referee(event, "team", "add", "wasps")


def test_an_approval_and_its_opposite_are_not_one(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a name there is nothing to do."""
    assert 2 == referee(event, "finalize")
    assert 2 == referee(event, "finalize", "--reopen", "--approved-by", "Ada")
    assert "Give --approved-by NAME, or --reopen" in capsys.readouterr().err


def test_a_proposal_from_making_to_applying(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each step is one command, and its record is printed."""
    assert 0 == referee(event, "proposal", "make", "--reason", "another look", "--json")
    made = json.loads(capsys.readouterr().out)
    assert (1, "open", [1]) == (
        *(made["proposal"], made["state"]),
        [row["session"] for row in made["scores"]],
    )
    assert 1 == referee(event, "proposal", "make", "--reason", "one more")
    assert "Proposal 1 is open" in capsys.readouterr().err
    assert 0 == referee(event, "proposal", "show", "1")
    assert "no change" in capsys.readouterr().out
    assert 0 == referee(event, "proposal", "apply", "1", "--reason", "agreed", "--by", "Ada")
    assert 0 == referee(event, "proposal", "list")
    assert "applied by Ada" in capsys.readouterr().out
    assert 1 == referee(event, "proposal", "cancel", "1", "--reason", "no")
