# SPDX-License-Identifier: Apache-2.0
"""The table of the commands that the emulator answers, for `docs/power.md`.

`python -m power emulate --commands` prints it.
"""

from __future__ import annotations

from itertools import groupby

from power.emulator.command_tree import Command
from power.emulator.commands_common import COMMON, WAIT
from power.emulator.interpreter import COMMANDS


def table() -> str:
    """Return the commands by group in Markdown; `?` marks what can be asked only, `!` set only."""
    lines = ["| group | commands |", "| --- | --- |"]
    listed = sorted({(_group(it.pattern.text), _marked(it)) for it in COMMANDS})
    listed += [(_group(WAIT.text), f"`{WAIT.text}`")]
    for group, rows in groupby(sorted(listed), key=lambda row: row[0]):
        lines.append(f"| {group} | {', '.join(text for _, text in rows)} |")
    lines.append(f"| common | {', '.join(f'`{name}`' for name in COMMON)} |")
    return "\n".join(lines) + "\n"


def _group(text: str) -> str:
    return text.strip("[:").partition(":")[0].partition("[")[0].strip("]")


def _marked(command: Command) -> str:
    mark = "" if command.write and command.ask else "?" if command.ask else "!"
    return f"`{command.pattern.text}{mark}`"
