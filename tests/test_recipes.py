# SPDX-License-Identifier: Apache-2.0
"""The recipes of `docs/recipes.md` hold: what each adds comes from outside, and works at once."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest
from jinja2 import ChoiceLoader, DictLoader

from referee import cli, commands
from referee.errors import Refusal
from referee.formats import answers
from referee.formats.answer_formats import all_formats
from referee.service.board.board import Board
from referee.service.board.slip_venue import venue_of
from referee.service.event.figures import StoredResult
from referee.service.preflight import listing
from referee.service.preflight.finding import CheckResult, fail
from referee.service.setup import pages
from referee.service.setup.config import ContestSection
from referee.service.setup.config_values import section, setting
from referee.service.setup.contest import Contest
from referee.service.teams.slips import slips_page
from referee.web.contest import legacy
from referee.web.contest.openapi import openapi
from referee.web.contest.sessions import help_text
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.shown import as_json

ROOT = Path(__file__).parents[1]
COMMAND = '''"""Say hello to a team."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("team", help="whom to greet")


def run(args: argparse.Namespace) -> int:
    """Print the greeting."""
    print(f"Hello, {args.team}!")
    return 0
'''


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """Return a folder whose modules are forgotten at the end."""
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_a_command_is_a_module_and_a_line(
    outside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module of the folder of commands, and its line in the table, make a command with help."""
    (outside / "greet.py").write_text(COMMAND, encoding="utf-8")
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(outside)])
    monkeypatch.setitem(cli.COMMANDS["contestants"], "greet", "say hello")
    assert 0 == cli.main(["greet", "ants"])
    assert "Hello, ants!\n" == capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["greet", "--help"])
    assert "whom to greet" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "say hello" in capsys.readouterr().out


def test_a_figure_stands_in_the_files_of_its_recipe_alone() -> None:
    """The mean power, which was added by the recipe, is named by no other file of source."""
    page = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")
    recipe = page.partition("## A new figure in the ranking\n")[2].partition("\n## ")[0]
    files = [path for top in ("referee", "static") for path in (ROOT / top).rglob("*.*")]
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.suffix in (".py", ".js", ".html") and "mean_power_w" in path.read_text("utf-8")
    }
    assert set(re.findall(r"`(referee/[\w/]+\.py)`", recipe)) == naming


def test_an_input_of_figures_is_read_in_one_place() -> None:
    """Figures follow from a `StoredResult`, which the recipe's files alone make."""
    page = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")
    recipe = page.partition("## A figure with a new input\n")[2].partition("\n## ")[0]
    makers, inputs = set(), set()
    for path in sorted((ROOT / "referee").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id == "StoredResult":
                makers.add(path.relative_to(ROOT).as_posix())
            if isinstance(called, ast.Name) and called.id == "figures_of":
                inputs.add(len(node.args) if isinstance(node, ast.Call) else 0)
    assert set(re.findall(r"`(referee/[\w/]+\.py)`", recipe)) == makers
    assert {2} == inputs  # The track, and the one object that has every input.
    assert all(one.default is None for one in fields(StoredResult)[1:])


@dataclass(frozen=True)
class ShownSection(ContestSection):
    """The section `[contest]` with one more setting, as the recipe adds it."""

    venue: str = setting("Where the contest is held.", "")


@pytest.fixture
def at_a_venue(tmp_path: Path) -> Iterator[Contest]:
    """Return a contest whose section has the setting, out of a file's table."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    held = section(contest.config.path, "[contest]", ShownSection, {"venue": "<Salt Lake City>"})
    config = replace(contest.config, contest=replace(held, name="cup"))
    yield replace(contest, config=config)
    contest.database.close()


def test_a_setting_is_shown_by_its_name(
    at_a_venue: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What pages are made of has the setting already: their templates and scripts only name it."""
    environment = pages._environment(pages._PACKAGE)
    shown = {
        "web/contest/help.txt": "Held in {{ config.contest.venue }}",
        "service/teams/slips.html": "<p>{{ contest.venue }}</p>",
    }
    loader = ChoiceLoader([DictLoader(shown), environment.loader])  # type: ignore[list-item]
    monkeypatch.setattr(environment, "loader", loader)
    assert help_text(at_a_venue, "http://referee").startswith("Held in <Salt Lake City>")
    slips = slips_page(venue_of(at_a_venue.config, None), {"ants": "x"})
    assert "<p>&lt;Salt Lake City&gt;</p>" == slips
    board = as_json(Board(at_a_venue, []).show())
    assert ("cup", "<Salt Lake City>") == (board["settings"]["name"], board["settings"]["venue"])


def test_a_refusal_of_an_answer_is_a_code_with_its_status(
    at_a_venue: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A code of the list stands in OpenAPI at its status; no parser refuses with another one."""
    source = Path(answers.__file__).read_text(encoding="utf-8")
    codes = {*re.findall(r'^ +"(\w+_\w+)",$', source, re.MULTILINE)}
    codes |= {*re.findall(r'_(?:refusal|bad_form)\((?:\w+, )?"(\w+)"', source)}
    of_formats = {one.refusal for one in all_formats()}
    assert {"too_many_rows", "lists_unequal", "csv_invalid"} <= codes
    assert (
        codes <= {*answers.REFUSALS} | of_formats and {*answers.REFUSALS} <= legacy.ANSWERS.keys()
    )
    monkeypatch.setattr(answers, "REFUSALS", (*answers.REFUSALS, "too_dark"))
    monkeypatch.setitem(legacy.ANSWERS, "too_dark", (422, None))
    posted = openapi(at_a_venue, "http://referee")["paths"]["/result"]["post"]
    assert "too_dark" in json.dumps(posted["responses"]["422"])


def coffee_finding() -> CheckResult:
    """Return what the rule of the page's example finds."""
    return fail("venue", "coffee", "The pot is empty.", "Make new coffee.")


def test_a_check_is_a_rule_in_the_one_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a rule of the list finds stands in the command and on the page, and forbids arming."""
    monkeypatch.setattr(listing, "versions_finding", coffee_finding)
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, mode="event", seconds=600)
    with running_desk(contest, FakeMeter(clock)) as desk:
        on_the_page = {it["item"]: it for it in as_json(desk.readiness.show())["findings"]}
        number = desk.new_session("ants", "Kim")
        with pytest.raises(Refusal, match=r"The pot is empty\. Make new coffee\."):
            desk.steps_of(number).arm(number, "Kim")
    contest.database.close()
    assert "Make new coffee." == on_the_page["coffee"]["remedy"]
    command = ["check", "--quick", "--json", "--config", str(contest.config.path)]
    assert 1 == cli.main(command)
    rows = json.loads(capsys.readouterr().out)["findings"]
    assert ["FAIL"] == [it["level"] for it in rows if it["item"] == "coffee"]
