# SPDX-License-Identifier: Apache-2.0
"""Print what makes bash, zsh or fish complete the commands, options and files of 'referee'.

Write it where the shell looks for such scripts; a new shell then completes with the Tab key. Do it
again after an upgrade.

  referee completion bash > ~/.local/share/bash-completion/completions/referee
  referee completion zsh > ~/.zfunc/_referee
  referee completion fish > ~/.config/fish/completions/referee.fish

For zsh the file ~/.zshrc names the folder before it starts the completion:

  fpath=(~/.zfunc $fpath); autoload -U compinit; compinit

It needs the extra 'completion'.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from referee.errors import needing
from referee.formats.text import path_or_standard_input

_SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument("shell", choices=_SHELLS, help="the shell that completes")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    # Only this command needs all commands, and the library that writes the scripts.
    from referee.cli import whole_parser

    with needing("completion", "shtab", "completion"):
        import shtab
    parser = whole_parser()
    for action in _actions(parser):
        if action.type in (Path, path_or_standard_input):
            folder = action.metavar == "DIR"
            action.complete = shtab.DIRECTORY if folder else shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of all commands below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
