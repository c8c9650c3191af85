# SPDX-License-Identifier: Apache-2.0
"""What a text of a person may contain: names of people and teams, notes and reasons."""

from __future__ import annotations

import unicodedata

# The words of some scripts, and some pictures, need these two, which nobody sees.
_JOINERS = "\u200c\u200d"


def unfit_character(text: str) -> str | None:
    """Return the first character that no text of a person may have, or None.

    A text is one line that shows as it was written. So it has no control characters, no ends of
    lines, and nothing that turns the direction of what follows or that no font shows.
    """
    return next((one for one in text if not _is_fit(one)), None)


def character_name(character: str) -> str:
    """Return a character's number and name, for people who cannot see it."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def one_blank_between(text: str) -> str:
    """Return a name as it is stored: one blank between words, and no joiners."""
    return " ".join(text.translate(dict.fromkeys(map(ord, _JOINERS))).split())


def storable(text: str) -> str:
    """Return a text in which an escape such as `\\ud83d` stands for half of a surrogate pair.

    JSON, YAML and the names of files can have such a half. No database, page or file of UTF-8 can
    hold it.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_fit(character: str) -> bool:
    return (
        character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"
    )
