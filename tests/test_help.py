# SPDX-License-Identifier: Apache-2.0
"""What the help of every command says, and what a fault in a command line says."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from power import cli as power_cli
from power.commands.parser import Parser
from power.commands.seconds import any_seconds, some_seconds, whole_seconds
from referee import cli
from referee.commands.options import VARIABLE

# All commands are imported.
pytestmark = pytest.mark.slow

METAVAR = re.compile(r"[A-Z]|^[a-z]+(\|[a-z]+)+$")
"""A value is named in capitals, as FILE or HOST:PORT, or by the words that it may be."""


def below(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of all commands below it."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from below(command)


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command and of each of its own commands, by what is typed."""
    both = [*below(cli.whole_parser()), *below(power_cli.parser_of(power_cli.COMMANDS))]
    return {parser.prog: parser for parser in both}


def arguments() -> Iterator[tuple[str, argparse.Action]]:
    """Yield each argument that the help shows and that takes a value, with where it stands."""
    for prog, parser in parsers().items():
        for action in parser._actions:
            commands = isinstance(action, argparse._SubParsersAction)
            if action.nargs != 0 and not commands and action.help != argparse.SUPPRESS:
                yield f"{prog} {'/'.join(action.option_strings) or action.dest}", action


def examples(text: str) -> list[list[str]]:
    """Return the words of each example of a help, without what a shell makes of them."""
    whole = re.sub(r"\\\n +", "", text)
    lines = re.findall(r"^  ((?:referee|python -m power) .*)$", whole, re.MULTILINE)
    return [shlex.split(line.partition(" > ")[0]) for line in lines]


def test_the_walk_sees_the_commands_below_commands() -> None:
    """Each command is there, and those of `referee ovic` and `referee team` too."""
    typed = {"referee", "referee ovic strike", "referee team slips", "python -m power run"}
    assert typed <= parsers().keys() and len(parsers()) > 80


def test_every_help_has_an_example_of_its_own_command() -> None:
    """A reader can copy a line, and change what is in it."""
    without = [
        prog
        for prog, parser in parsers().items()
        if prog != "referee process"
        and shlex.split(prog)
        not in [words[: len(shlex.split(prog))] for words in examples(parser.format_help())]
    ]
    assert [] == without


def test_every_example_is_understood() -> None:
    """The command line takes each example as it stands in the help."""
    tried = [words for parser in parsers().values() for words in examples(parser.format_help())]
    assert len(tried) > 100
    for words in tried:
        prog = "referee" if words[0] == "referee" else "python -m power"
        try:
            parsers()[prog].parse_args(words[len(prog.split()) :])
        except SystemExit as end:  # Only --help and its like end well.
            assert 0 == end.code, words


def test_every_help_describes_its_command() -> None:
    """The description begins with a sentence that is more than the command's name."""
    bare = [prog for prog, parser in parsers().items() if len(parser.description or "") < 15]
    assert ["referee process"] == [prog for prog in bare] or [] == bare


def test_values_are_named_in_one_way() -> None:
    """A value is a choice, or has a name in capitals; a duration and a path have theirs."""
    wrong = []
    for place, action in arguments():
        named = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
        if place.startswith("referee process ") or (action.choices and named == (None,)):
            continue
        duration = action.type in (any_seconds, some_seconds, whole_seconds)
        words = [str(name) for name in named]
        if duration != (words == ["DURATION"]) and not place.endswith("init --seconds"):
            wrong.append(f"{place} {words}: a duration is DURATION")
        if action.type is Path and not re.match("FILE|DIR|PATH|LOG|MODEL", words[0]):
            wrong.append(f"{place} {words}: a path is FILE, DIR or PATH")
        if action.type is int and words not in [["N"], ["SESSION"], ["PORT"], ["TYPE"], ["BOARD"]]:
            wrong.append(f"{place} {words}: a whole number is N")
        if action.type is float and words not in [["X"], ["MINUTES"]]:
            wrong.append(f"{place} {words}: a number is X")
        if not all(METAVAR.search(word) for word in words):
            wrong.append(f"{place} {words}")
    assert [] == wrong


def test_what_may_be_repeated_says_so_in_the_same_words() -> None:
    """Each option that counts as often as it is given says 'may be repeated', and no other one."""
    wrong = [
        place
        for place, action in arguments()
        if isinstance(action, argparse._AppendAction)
        != ("may be repeated" in re.sub(r"\s+", " ", action.help or ""))
    ]
    assert [] == wrong


def test_defaults_are_told_in_the_same_words() -> None:
    """A default stands as (default: …)."""
    assert [] == [
        place
        for place, action in arguments()
        if re.search(r"(?<!%)\(default(?!:|\))", action.help or "")
    ]


def test_the_help_lists_every_command_once_by_whom_it_serves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each group has a heading, and a line of it fits a terminal of 80 columns."""
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert ["contestants", "organisers", "operators"] == re.findall("^for (.*):$", text, re.M)[:3]
    for name, summary, _ in cli.all_commands():
        assert 1 == len(re.findall(rf"^  {name} +{re.escape(summary)}$", text, re.MULTILINE))
    assert [] == [line for line in text.splitlines() if len(line) > 80]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["practise"], "referee: error: there is no command 'practise'; did you mean 'practice'?"),
        (["zzz"], "referee: error: there is no command 'zzz' ('referee --help' lists all)"),
        (["team", "lst"], "there is no command 'lst'; did you mean 'list'?"),
        (["ovic", "leaderbord"], "did you mean 'leaderboard'?"),
        (["demo", "--secnds=3"], "referee demo: error: unrecognized arguments: --secnds=3; did"),
        (["verify", "a.zip", "--publik-key", "k"], "did you mean '--public-key' by"),
        (["score", "--ground-truht", "t"], "did you mean '--ground-truth' by '--ground-truht'?"),
    ],
)
def test_a_typo_is_told_with_what_was_meant(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command or an option that is not there ends with exit code 2 and the nearest that is."""
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    assert 2 == end.value.code
    assert told in capsys.readouterr().err


def test_the_meters_commands_know_a_typo_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Both command lines have one parser."""
    with pytest.raises(SystemExit):
        power_cli.main(["recrod"])
    assert "did you mean 'record'?" in capsys.readouterr().err


def test_nothing_is_guessed_behind_two_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    """What follows `--` are values; a short option and a beginning of an option are no typos."""
    parser = Parser(prog="p")
    parser.add_argument("--name", required=True)
    for words in (["--", "--nam"], ["-x"], ["--na"]):
        with pytest.raises(SystemExit):
            parser.parse_args(words)
        assert "did you mean" not in capsys.readouterr().err


def test_every_option_for_a_configuration_names_the_variable() -> None:
    """Each help that has --config says that the environment may name it."""
    told = {
        prog: VARIABLE in (one.help or "")
        for prog, parser in parsers().items()
        for one in parser._actions
        if "--config" in one.option_strings and prog != "referee process"
    }
    assert {"referee serve", "referee results"} < told.keys()
    assert [] == [prog for prog, named in told.items() if not named]


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ([], "usage: referee [-h]"),
        (["help"], "usage: referee [-h]"),
        (["help", "score"], "usage: referee score [-h]"),
        (["help", "team", "add"], "usage: referee team add [-h]"),
        (["team"], "usage: referee team [-h]"),
    ],
)
def test_help_is_what_a_beginner_types(
    words: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command line without a command lists the commands, and `help` helps with each of them."""
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    assert 0 == end.value.code
    said = capsys.readouterr().out
    assert said.startswith(usage) and "  -h, --help" in said


def test_the_meters_commands_have_the_same_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Both command lines take `help`, and help with nothing."""
    for words, usage in (
        ([], "python -m power [-h]"),
        (["help", "record"], "-m power record [-h]"),
    ):
        with pytest.raises(SystemExit) as end:
            power_cli.main(words)
        assert 0 == end.value.code
        assert usage in capsys.readouterr().out
