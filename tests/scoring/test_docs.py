# SPDX-License-Identifier: Apache-2.0
"""docs/scoring.md agrees with the program."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from referee.commands import score
from referee.scoring.detection_outcomes import Fate
from referee.scoring.result import IGNORED_REASONS
from referee.scoring.rules import RULE_SETS
from tests.support.lpirc_tables import MISPRINTS, TABLE_II_2016, TABLE_III_2015

PAGE = (Path(__file__).parents[2] / "docs/scoring.md").read_text(encoding="utf-8")
FILES = re.findall(r"```\w+ (\S+)\n(.*?)```", PAGE, re.DOTALL)
CONSOLE = re.search(r"```console\n\$ referee score (.*?)\n(.*?)```", PAGE, re.DOTALL)


def parser():
    """Return the parser of `referee score`."""
    made = argparse.ArgumentParser(prog="referee score")
    score.add_arguments(made)
    return made


def test_worked_example_runs_as_printed(tmp_path, monkeypatch, capsys):
    """The example's command on the example's files prints the text on the page."""
    used = ["truth.csv", "images.csv", "detections.txt"]
    assert used == [name for name, _ in FILES][: len(used)]
    for name, content in FILES:
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    command, printed = CONSOLE.groups()
    assert 0 == score.run(parser().parse_args(shlex.split(command)))
    assert printed == capsys.readouterr().out


def test_every_option_is_on_the_page():
    """The page names each option of the command."""
    options = {option for action in parser()._actions for option in action.option_strings}
    assert set() == {option for option in options - {"-h", "--help"} if f"`{option}" not in PAGE}


def test_every_fate_reason_and_rule_set_is_on_the_page():
    """The page explains each fate, reason and rule set."""
    words = {fate.name.lower() for fate in Fate} | set(IGNORED_REASONS) | set(RULE_SETS)
    assert set() == {word for word in words if f"`{word}`" not in PAGE}


def test_every_misprint_of_the_paper_is_on_the_page():
    """The page names each printed score that no mAP and energy give, with the true quotient."""
    printed = {(2016, row[0]): row[-1] for row in TABLE_II_2016}
    printed |= {(2015, row[0]): row[-1] for row in TABLE_III_2015}
    for year, rank, quotient in MISPRINTS:
        score = printed[year, rank]
        assert f"**{year}, rank {rank}**, printed {score}, computed {quotient}" in PAGE
