# SPDX-License-Identifier: Apache-2.0
"""Logins of teams: a short word that any keyboard has, and which team a word means.

A team's name may be long, in any alphabet, and may change. Its login is made of the name once, of
the letters a to z, digits and dashes. A team logs in with its login, with its name, and with each
name that it had. So no two teams share a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping

from referee.core.names import SameNames, comparable

LOGIN_MOST = 20
"""The most characters of a login."""

LOGIN_RULE = (
    f"A login is 1 to {LOGIN_MOST} characters: the letters a to z, digits, and single dashes "
    "between them."
)
"""What a login may be, for people."""

# The login of a team whose name has no Latin letter begins so; a number follows.
_NAMELESS = "team"
_HAS_LETTER = re.compile("[a-z]")
_PLAIN_WORDS = re.compile("[a-z0-9]+")
_NO_APOSTROPHES = dict.fromkeys(map(ord, "'`"))
_LOGIN = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")
_IN_WORDS = frozenset("'`\u00b4\u02b9\u02bb\u02bc\u2018\u2019")
# Unicode names these after a letter: ø is "LATIN SMALL LETTER O WITH STROKE", œ a ligature OE.
_NAMED = re.compile(
    "LATIN (?:SMALL LETTER|LETTER SMALL CAPITAL|SMALL LIGATURE) ([A-Z]{1,2})(?: |$)"
)
# Letters whose names in Unicode do not say them.
_OTHERS = {
    "\u00f0": "d",
    "\u00fe": "th",
    "\u0131": "i",
    "\u0138": "k",
    "\u014b": "n",
    "\u0254": "o",
    "\u0259": "e",
    "\u025b": "e",
    "\u0263": "g",
    "\u0292": "z",
}


class FreeLogins:
    """Logins that are made of names, one after the other, so that no two teams share a word.

    `owners` tells whose each word is, as `comparable` makes it one. No number is tried twice: teams
    whose names begin alike cost as much as others.
    """

    def __init__(self, owners: Mapping[str, int | str]) -> None:
        self._owners = dict(owners)
        self._next: dict[tuple[str, int], int] = {}

    def give(self, login: str, owner: int | str) -> None:
        """Note whose a login is."""
        self._owners[login] = owner

    def made(self, name: str, owner: int | str) -> str:
        """Return the login of the team `owner` with this name, and note it.

        Accents go, and what is no Latin letter or digit becomes a dash. A name without any Latin
        letter gets a number (`team1`). So does a login that another team has (`ants-2`).
        """
        plain = _plain(name)
        whole = _short(plain, LOGIN_MOST)
        if not _HAS_LETTER.search(plain):
            login = self._numbered(_NAMELESS, "", owner)
        elif self._is_free(whole, owner):
            login = whole
        else:
            login = self._numbered(plain, "-", owner)
        self.give(login, owner)
        return login

    def _numbered(self, plain: str, dash: str, owner: int | str) -> str:
        """Return the first free login with a number; one more digit leaves less of the name."""
        digits = 1
        while True:
            stem = _short(plain, LOGIN_MOST - len(dash) - digits) + dash
            least = 10 ** (digits - 1) + (digits == 1 and dash != "")
            number = self._next.get((stem, digits), least)
            while number < 10**digits and not self._is_free(f"{stem}{number}", owner):
                number += 1
            self._next[stem, digits] = number
            if number < 10**digits:
                return f"{stem}{number}"
            digits += 1

    def _is_free(self, login: str, owner: int | str) -> bool:
        return self._owners.get(login, owner) == owner


def clean_login(login: str) -> str | None:
    """Return a login that somebody has chosen as it is stored, or None if it cannot be one."""
    kept = login.strip().lower()
    return kept if len(kept) <= LOGIN_MOST and _LOGIN.fullmatch(kept) else None


class TeamWords:
    """The words by which teams are meant: their present names first, then all their other words.

    `others` has logins and earlier names, each with the present name of its team; teams that are
    not among the present ones count for nothing. A word that two
    teams share (events of earlier releases may have one) means a team only as exactly written.
    """

    def __init__(self, present: Collection[str], others: Iterable[tuple[str, str]] = ()) -> None:
        here = frozenset(present)
        self._present = SameNames(here)
        self._names = frozenset(map(comparable, present))
        self._exact: dict[str, str | None] = {}
        self._same: dict[str, str | None] = {}
        for word, team in others:
            if team not in here:
                continue
            for words, key in ((self._exact, word), (self._same, comparable(word))):
                words[key] = team if words.get(key, team) == team else None

    def find(self, word: str) -> str | None:
        """Return the present name of the team that a word means, or None."""
        found = self._present.find(word)
        if found is not None or comparable(word) in self._names:
            return found
        return self._exact.get(word) or self._same.get(comparable(word))


def _plain(name: str) -> str:
    """Return a name in lower-case ASCII letters and digits, with single dashes between."""
    if name.isascii():
        return "-".join(_PLAIN_WORDS.findall(name.lower().translate(_NO_APOSTROPHES)))
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    kept = (_letters(one) for one in folded if not _is_part_of_a_letter(one))
    return "-".join(_PLAIN_WORDS.findall("".join(kept)))


def _is_part_of_a_letter(character: str) -> bool:
    """Tell of accents, of what nobody sees, and of apostrophes: they part no word."""
    return character in _IN_WORDS or unicodedata.category(character) in ("Mn", "Me", "Cf")


def _letters(character: str) -> str:
    """Return the plain letters or the digit for a character, or a dash."""
    if character.isascii():
        return character
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    named = _NAMED.match(unicodedata.name(character, ""))
    return named[1].lower() if named else _OTHERS.get(character, "-")


def _short(plain: str, most: int) -> str:
    """Cut a login between two words if that leaves most of it; a last number stays.

    Two teams of one long name often differ in the number at its end alone.
    """
    if len(plain) <= most:
        return plain
    head, _, last = plain.rpartition("-")
    if head and len(last) <= 3 and last.isdigit():
        return f"{_short(head, most - len(last) - 1)}-{last}"
    whole = plain[: most + 1].rpartition("-")[0]
    return whole if len(whole) >= most * 2 // 3 else plain[:most].strip("-")
