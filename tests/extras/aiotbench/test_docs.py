# SPDX-License-Identifier: Apache-2.0
"""docs/aiotbench.md agrees with the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from referee import cli
from referee.extras.aiotbench.rules import DRAFT_1_1

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "aiotbench.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```\w+ (\S+)\n(.*?)```", PAGE, re.DOTALL))
CONSOLE = re.search(r"```console\n\$ referee (aiotbench score .*?)\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_runs_as_printed(tmp_path, monkeypatch, capsys):
    """The example's command on the example's files prints the text on the page."""
    assert {"board.csv", "board.toml"} == FILES.keys()
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    command, printed = CONSOLE.groups()
    assert 0 == cli.main(shlex.split(command))
    assert printed == capsys.readouterr().out


def test_every_workload_is_explained():
    """The page has the short name of each model and implementation."""
    codes = {it.code for it in (*DRAFT_1_1.models, *DRAFT_1_1.implementations)}
    assert set() == {code for code in codes if f"| `{code}` |" not in PAGE}
