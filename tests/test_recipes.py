# SPDX-License-Identifier: Apache-2.0
"""The recipes of `docs/recipes.md` hold: what each adds comes from outside, and works at once."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee import cli, commands
from referee.errors import Refusal
from referee.service.preflight import listing
from referee.service.preflight.finding import CheckResult, fail
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
