# SPDX-License-Identifier: Apache-2.0
"""What `referee init` asks on a terminal: the images, the ground truth, the meter, the length.

Each question is asked again until its answer can be used. An empty answer takes what stands in
brackets. The input raises EOFError or KeyboardInterrupt when somebody gives up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from power.durations import FORMS, duration_s
from power.resource import split_resource
from referee.errors import InputError
from referee.programs.meter_search import MetersFound
from referee.service.setup.config import LENGTH_MOST_S
from referee.service.setup.real_path import real_path

T = TypeVar("T")

EMULATED = "emulated"
_SERIAL = "ASRL"


@dataclass(frozen=True)
class EventBasics:
    """What an event's configuration begins with; a path of None is filled in later."""

    images: Path | None = None
    ground_truth: Path | None = None
    meters: tuple[str, ...] = (EMULATED,)
    seconds: int = 600


@dataclass(frozen=True)
class Terminal:
    """Where people are asked: `ask` shows a prompt and returns a line, `tell` shows a line."""

    ask: Callable[[str], str]
    tell: Callable[[str], object]


def ask_all(
    terminal: Terminal,
    addresses: Sequence[str],
    find: Callable[[], MetersFound],
    identify: Callable[[str], str | None],
) -> EventBasics:
    """Ask for everything, and show this machine's addresses and the meters that were found."""
    terminal.tell("An empty answer takes what stands in brackets. Ctrl-C ends, and writes nothing.")
    images = _asked(terminal, "Folder of the images [images, filled later]: ", existing_folder)
    truth = _asked(terminal, "Ground truth [ground_truth.json, later]: ", existing_path)
    listed = ", ".join(addresses) or "none: this laptop is on no network yet"
    terminal.tell(f"Addresses for the contestants: {listed}.")
    meter = _asked_meter(terminal, find, identify)
    seconds = _asked(terminal, "Length of a session in seconds [600]: ", length)
    return EventBasics(images, truth, (meter,), seconds or 600)


def existing_folder(text: str) -> Path:
    """Return the folder that somebody named; raise `InputError` if there is none."""
    path = existing_path(text)
    if not path.is_dir():
        raise InputError(f"{path} is a file. Name the folder that it lies in.")
    return path


def existing_path(text: str) -> Path:
    """Return the file or folder that somebody named, whole; raise `InputError` if there is none."""
    path = Path(text).expanduser()
    if not path.exists():
        raise InputError(f"{path} does not exist. Look at its spelling, or fill it in later.")
    return real_path(path)


def resource(text: str) -> str:
    """Return a meter's resource string; raise `InputError` for a text that is none."""
    try:
        split_resource(text)
    except ValueError as error:
        raise InputError(f"'{text}' is no meter: {error}.") from None
    return text


def length(text: str) -> int:
    """Return the length of a session in seconds; raise `InputError` for a text that is none."""
    try:
        seconds = duration_s(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= LENGTH_MOST_S or seconds != int(seconds):
        raise InputError(
            f"'{text}' is no length: give whole seconds from 1 to {LENGTH_MOST_S}, as {FORMS}."
        )
    return int(seconds)


def _asked(terminal: Terminal, prompt: str, read: Callable[[str], T]) -> T | None:
    """Ask until the answer can be read; return None for an empty one."""
    while True:
        text = terminal.ask(prompt).strip()
        if not text:
            return None
        try:
            return read(text)
        except InputError as error:
            terminal.tell(f"{error}")


def _asked_meter(
    terminal: Terminal,
    find: Callable[[], MetersFound],
    identify: Callable[[str], str | None],
) -> str:
    """Show what was found, and ask which meter it is; one that does not answer may be meant."""
    terminal.tell("Looking for meters on the network and on USB…")
    meters = find()
    for number, name in enumerate(meters.resources, 1):
        port = " (a serial port; nobody knows what is behind it)"
        terminal.tell(f"  {number}  {name}{port if name.startswith(_SERIAL) else ''}")
    if not meters.resources:
        terminal.tell("  Nothing was found.")
    for hint in meters.hints:
        terminal.tell(f"  {hint}")

    def chosen(text: str) -> str:
        if text.isascii() and text.isdecimal():
            if not 1 <= int(text[:9]) <= len(meters.resources):
                raise InputError(f"There is no number {text} in the list.")
            return meters.resources[int(text) - 1]
        return resource(text)

    prompt = f"Meter: a number, a resource string, 'none' or '{EMULATED}' [{EMULATED}]: "
    meter = _asked(terminal, prompt, chosen) or EMULATED
    if meter not in (EMULATED, "none"):
        identity = identify(meter)
        silent = "It does not answer now. 'referee check' asks again."
        terminal.tell(silent if identity is None else f"It answers: {identity}")
    return meter
