# SPDX-License-Identifier: Apache-2.0
"""The parser of both command lines: it shows an example, and knows what a typo may have meant."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn


def as_option(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, with `help team add` written as `team add --help`."""
    return [*words[1:], "--help"] if words[:1] == ["help"] else list(words)


class Parser(argparse.ArgumentParser):
    """A parser whose texts keep their lines, and whose faults name the word that was meant.

    `example` is one command a line, as somebody types it; it ends the help.
    """

    def __init__(self, *args: Any, example: str = "", **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **settings)
        self.register("action", "parsers", _Commands)
        if example:
            self.epilog = "\n  ".join(["For example:\n", *example.splitlines()])
        self._words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as `argparse` does; the words are kept for a fault that they may have.

        A parser of commands that gets no word at all prints its help.
        """
        words = sys.argv[1:] if args is None else list(args)
        commands = self._commands()
        if not words and commands is not None and commands.required:
            words = ["--help"]
        self._words = words
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """End the program with exit code 2, a fault, and what was meant."""
        commands = self._commands()
        if commands is not None and commands.reached is not None:
            commands.reached.error(message)
        word = next((word for word in self._words if word[:1] != "-"), None)
        if commands is not None and word is not None and word not in commands.choices:
            close = difflib.get_close_matches(word, commands.choices, 1)
            guess = f"; did you mean '{close[0]}'?" if close else ""
            super().error(f"there is no command '{word}'{guess} ('{self.prog} --help' lists all)")
        super().error("; ".join([message, *self._unknown_options()]))

    def _commands(self) -> _Commands | None:
        return next((one for one in self._actions if isinstance(one, _Commands)), None)

    def _unknown_options(self) -> Iterable[str]:
        """Yield what is said about each word that looks like an option and is none."""
        known = self._option_string_actions
        words = self._words[: self._words.index("--")] if "--" in self._words else self._words
        for word in words:
            name = word.partition("=")[0]
            if name.startswith("--") and not any(one.startswith(name) for one in known):
                for option in difflib.get_close_matches(name, known, 1):
                    yield f"did you mean '{option}' by '{name}'?"


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The commands below a parser; each is described by its summary if by nothing else."""

    reached: argparse.ArgumentParser | None = None

    def add_parser(self, name: str, **settings: Any) -> argparse.ArgumentParser:
        summary = settings.get("help") or ""
        settings.setdefault(
            "description", f"{summary[:1].upper()}{summary[1:]}." if summary else None
        )
        parser: argparse.ArgumentParser = super().add_parser(name, **settings)
        return parser

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        self.reached = self.choices[values[0]]
        super().__call__(parser, namespace, values, option_string)
