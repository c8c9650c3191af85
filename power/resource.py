# SPDX-License-Identifier: Apache-2.0
"""Resource strings of meters: `KIND:ADDRESS?OPTION=VALUE`, and PyVISA's with their serial lines.

PyVISA's resource strings name a serial port, but not its speed. So words after an `@` set the line:
`ASRL/dev/ttyUSB0::INSTR@38400,7E1,RTS-CTS,LF`. The order of the words is free, and a word left out
means the setting as delivered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

# PyVISA separates its fields by two colons, so its strings never have this form.
_FORM = re.compile(r"(?P<kind>[a-z][a-z0-9-]*):(?!:)(?P<address>[^?]*)(\?(?P<options>.*))?")

ACCURACY = "accuracy"
"""The option of every kind: the limit of error of a power as a share of it, in %."""


@dataclass(frozen=True)
class Resource:
    """A meter that is not addressed by PyVISA: its kind, where it is, and the kind's options."""

    kind: str
    address: str
    options: Mapping[str, str] = field(default_factory=dict)

    def known_options(self, names: Collection[str]) -> None:
        """Raise ValueError for an option that is none of `names`, nor the `accuracy` of all."""
        known = {*names, ACCURACY}
        for name in self.options:
            if name not in known:
                listed = ", ".join(sorted(known))
                raise ValueError(f"the kind {self.kind} has no option {name!r}; it has: {listed}")

    def number(self, name: str, default: float | None, *, least: float, most: float) -> float:
        """Return an option as a number; ValueError if it is none, out of bounds, or missing.

        A `default` of None means that the option must be given.
        """
        text = self.options.get(name)
        if text is None:
            if default is None:
                raise ValueError(f"the kind {self.kind} needs the option {name}: ?{name}=NUMBER")
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise ValueError(f"{name}={text} must be a number from {least:g} to {most:g}")
        return value

    def stated_accuracy(self) -> float | None:
        """Return the option `accuracy` as a share of the power, None if it is not given.

        Raises ValueError for what is no percentage.
        """
        if ACCURACY not in self.options:
            return None
        return self.number(ACCURACY, None, least=0.0, most=100.0) / 100

    def host_port(self, port: int) -> tuple[str, int]:
        """Return the host and the port of an address HOST[:PORT]; `port` is that of most.

        Raises ValueError for another address.
        """
        try:
            parts = urlsplit(f"//{self.address}")
            host, port = parts.hostname or "", parts.port or port
        except ValueError:
            host = ""
        if not host or parts.path or parts.username is not None:
            raise ValueError(
                f"{self.kind}:{self.address} names no device; write {self.kind}:HOST[:PORT]"
            )
        return host, port


def parse_resource(text: str) -> Resource | None:
    """Return the parts of a resource string, or None for one of PyVISA.

    Raises ValueError for options that are no list of NAME=VALUE.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    given = match["options"] or ""
    try:
        pairs = parse_qsl(given, keep_blank_values=True, strict_parsing=bool(given))
    except ValueError:
        raise ValueError(f"{text}: write options as ?NAME=VALUE&NAME=VALUE") from None
    if len(dict(pairs)) != len(pairs):
        raise ValueError(f"{text}: an option is given twice")
    return Resource(match["kind"], match["address"], dict(pairs))


def is_official(resource: str) -> bool:
    """Tell whether a resource string is PyVISA's, behind which only official meters are driven."""
    return _FORM.fullmatch(resource) is None


BAUDS = (1200, 2400, 4800, 9600, 19200, 38400, 57600)
"""The speeds of the meter (IM WT310E-17EN, page 3-8)."""

FORMATS = ("8N1", "7O1", "7E1", "7N2")
"""Data bits, parity (none, odd, even) and stop bits, as menu items For 0 to For 3 (page 3-8)."""

HANDSHAKES = ("NONE", "XON-XOFF", "RTS-CTS")
"""Menu items HAnd 0 to HAnd 2, which the manual calls OFF-OFF, XON-XON and CS-RS (page 3-6)."""

TERMINATORS = {"CRLF": b"\r\n", "LF": b"\n", "CR": b"\r"}
"""What ends the meter's replies; it takes messages that end with LF or CR LF (page 3-8)."""

_MARK = "::INSTR@"


@dataclass(frozen=True)
class SerialLine:
    """The settings of an RS-232 line, the same at both ends; the defaults are those as delivered.

    `baud` is one of `BAUDS`, `data_format` of `FORMATS`, `handshake` of `HANDSHAKES` and
    `terminator` of `TERMINATORS`. Raises ValueError for another value.
    """

    baud: int = 9600
    data_format: str = "8N1"
    handshake: str = "NONE"
    terminator: str = "CRLF"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{value!r} is no {_words(name)}; choose {_listed(choices)}")

    @property
    def changes(self) -> str:
        """Return the words of the settings that are not those as delivered, "" for none."""
        usual = asdict(SerialLine())
        return ",".join(str(value) for name, value in asdict(self).items() if value != usual[name])


_CHOICES: dict[str, tuple[object, ...]] = {
    "baud": BAUDS,
    "data_format": FORMATS,
    "handshake": HANDSHAKES,
    "terminator": tuple(TERMINATORS),
}


def parse_line(words: str) -> SerialLine:
    """Return the line of words such as `38400,7E1`; raise ValueError that lists the words."""
    options: dict[str, Any] = {}
    for word in words.upper().replace(" ", "").split(","):
        value: object = int(word) if word.isdecimal() and word.isascii() else word
        name = next((name for name, choices in _CHOICES.items() if value in choices), None)
        if name is None:
            known = ", ".join(_listed(choices) for choices in _CHOICES.values())
            raise ValueError(f"{word!r} is no setting of a serial line; the words are {known}")
        if name in options:
            raise ValueError(f"{words!r} sets the {_words(name)} of the serial line twice")
        options[name] = value
    return SerialLine(**options)


def split_resource(text: str) -> tuple[str, SerialLine]:
    """Return the resource string for VISA, and the settings of its line.

    Raises ValueError if words follow that set no line, or if the resource is no serial port.
    """
    at = text.upper().find(_MARK)
    if at < 0:
        return text, SerialLine()
    visa, words = text[: at + len(_MARK) - 1], text[at + len(_MARK) :]
    if not visa.upper().startswith("ASRL"):
        raise ValueError(f"{text}: only a serial line (ASRL) has settings after '@'")
    return visa, parse_line(words)


def with_line(visa: str, line: SerialLine) -> str:
    """Return the resource string from which `split_resource` gets these parts."""
    return f"{visa}@{line.changes}" if line.changes else visa


def _words(name: str) -> str:
    return name.replace("_", " ")


def _listed(choices: tuple[object, ...]) -> str:
    return ", ".join(map(str, choices))
