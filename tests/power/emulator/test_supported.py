# SPDX-License-Identifier: Apache-2.0
"""The table of the commands that the emulator answers."""

from __future__ import annotations

from power.emulator.interpreter import COMMANDS
from power.emulator.supported import table


def test_the_table_has_every_command() -> None:
    """`python -m power emulate --commands` prints each command, and how it is used."""
    printed = table()
    assert [] == [it for it in COMMANDS if f"`{it.pattern.text}" not in printed]
    assert "`:INTEGrate:STARt!`" in printed and "`:INTEGrate:STATe?`" in printed
