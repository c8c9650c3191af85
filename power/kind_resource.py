# SPDX-License-Identifier: Apache-2.0
"""Resource strings of meters: those of PyVISA, and `KIND:ADDRESS?OPTION=VALUE` for all others."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

# PyVISA separates its fields by two colons, so its strings never have this form.
_FORM = re.compile(r"(?P<kind>[a-z][a-z0-9-]*):(?!:)(?P<address>[^?]*)(\?(?P<options>.*))?")


@dataclass(frozen=True)
class Resource:
    """A meter that is not addressed by PyVISA: its kind, where it is, and the kind's options."""

    kind: str
    address: str
    options: Mapping[str, str] = field(default_factory=dict)

    def known_options(self, names: Collection[str]) -> None:
        """Raise ValueError for an option that is none of `names`."""
        for name in self.options:
            if name not in names:
                listed = ", ".join(sorted(names)) or "none"
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
