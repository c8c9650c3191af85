# SPDX-License-Identifier: Apache-2.0
"""The table of the commands that the emulator answers, and that of the command mode WT200.

`python -m power emulate --commands` prints them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from power.emulator import commands_wt200
from power.emulator.command_tree import Command
from power.emulator.commands_common import COMMON, WAIT
from power.emulator.interpreter import COMMANDS

_FUNCTION = re.compile(rf"ITEM:(?:{'|'.join(commands_wt200.FUNCTIONS)})(\[:ALL\]|:ELEM|:SIGM)")


def table() -> str:
    """Return the commands by group in Markdown; `?` marks what can be asked only, `!` set only."""
    lines = ["| group | commands |", "| --- | --- |"]
    listed = sorted({(_group(command.pattern.text), _marked(command)) for command in COMMANDS})
    listed += [(_group(WAIT.text), f"`{WAIT.text}`")]
    lines += _rows(listed)
    lines.append(f"| common | {', '.join(f'`{name}`' for name in COMMON)} |")
    return "\n".join(lines) + "\n"


def wt200_table() -> str:
    """Return the commands that only the command mode WT200 has, by group in Markdown."""
    lines = ["| group | commands |", "| --- | --- |"]
    command_of: dict[tuple[str, str], Command] = {}
    for command in commands_wt200.COMMANDS:
        # One row stands for the switches of all functions.
        text = _FUNCTION.sub(r"ITEM:<function>\1", command.pattern.text)
        command_of.setdefault((_group(text), text), command)
    lines += _rows([(group, _marked(mark, text)) for (group, text), mark in command_of.items()])
    return "\n".join(lines) + "\n"


TABLES = {"WT300": table, "WT200": wt200_table}
"""The tables by the command mode that has the commands."""


def _rows(listed: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"| {group} | {', '.join(text for _, text in rows)} |"
        for group, rows in groupby(sorted(listed), key=lambda row: row[0])
    ]


def _group(text: str) -> str:
    return text.strip("[:").partition(":")[0].partition("[")[0].strip("]")


def _marked(command: Command, text: str = "") -> str:
    mark = "" if command.write and command.ask else "?" if command.ask else "!"
    return f"`{text or command.pattern.text}{mark}`"
