# SPDX-License-Identifier: Apache-2.0
"""The table of teams that an organiser imports: CSV with a header, one line for each solution."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from referee.core.counts import counted
from referee.core.logins import LOGIN_RULE, clean_login
from referee.core.names import comparable
from referee.core.written_text import one_blank_between, unfit_character
from referee.errors import InputError
from referee.formats.faults import FormatError
from referee.formats.lines import refuse_other_text

NAME_MOST = 100
"""The most characters in a team's name, and in its organisation's."""

_COLUMNS = ("team", "organisation", "prizes", "sessions", "lane", "login")
_YES_NO = {"": True, "yes": True, "no": False}
_FAULTS_TOLD = 20


@dataclass(frozen=True)
class TeamLine:
    """A line of the table; `line` is its number in the file, for messages.

    `sessions` is false for a team that hands in models only. `lane` is the only lane where the
    team runs, as the table writes it; '' means any. `login` is '' if it is made from the name.
    """

    line: int
    name: str
    organisation: str = ""
    prizes: bool = True
    sessions: bool = True
    lane: str = ""
    login: str = ""


def clean_name(name: str) -> str | None:
    """Return a name as it is stored, or None if it cannot be used.

    Blanks around it are dropped, and several in a row become one. The name must be 1 to
    `NAME_MOST` printable characters, and something of it must show.
    """
    kept = "" if unfit_character(name) else one_blank_between(name)
    return kept if 0 < len(kept) <= NAME_MOST and comparable(kept) else None


def parse_team_table(content: bytes, source: str) -> list[TeamLine]:
    """Parse a whole table, or raise one `InputError` that names each fault with its line.

    The header names the columns in any order: `team` is required; `organisation`, `prizes` and
    `sessions` (yes or no, yes if empty), `lane` (any if empty) and `login` (made from the name if
    empty) may be missing. Empty lines are skipped. A comma or a semicolon separates the fields, as
    spreadsheets write them; the header decides.
    """
    text = _decoded(content, source)
    header = text.partition("\n")[0]
    separator = ";" if ";" in header and "," not in header else ","
    try:
        rows = list(_numbered_rows(text, separator))
    except csv.Error as error:
        raise InputError(f"{source}: is not a table of text ({error}).") from error
    if not rows:
        raise InputError(f"{source}: is empty. Its first line must name the columns: team, …")
    columns = _columns(rows[0][1], source)
    faults: list[str] = []
    lines = [_parse_row(number, row, columns, faults) for number, row in rows[1:]]
    teams = [line for line in lines if line is not None]
    faults += _doubles(teams)
    if not teams and not faults:
        faults.append("no line names a team")
    if faults:
        raise InputError(faults_text(source, faults))
    return teams


def faults_text(source: str, faults: list[str]) -> str:
    """Return one text that names each fault of a file; a long list is cut."""
    listed = faults[:_FAULTS_TOLD]
    if len(faults) > len(listed):
        listed.append(f"and {len(faults) - len(listed)} more faults")
    return f"{source}: nothing was imported.\n" + "\n".join(f"  {fault}" for fault in listed)


def _decoded(content: bytes, source: str) -> str:
    try:
        refuse_other_text(content)
    except FormatError as error:
        raise InputError(f"{source}: {error}.") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source}: line {line} is not UTF-8. Save the table as 'CSV UTF-8'."
        ) from error


def _numbered_rows(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows, first = [], 1
    for row in reader:
        if any(field.strip() for field in row):
            rows.append((first, row))
        first = reader.line_num + 1
    return rows


def _columns(header: list[str], source: str) -> list[str]:
    columns = [name.strip().casefold() for name in header]
    unknown = [name for name in columns if name not in _COLUMNS]
    if unknown:
        hint = " The referee makes the passwords." if "password" in unknown else ""
        raise InputError(
            f"{source}: line 1: there is no column '{unknown[0]}'. The columns are "
            f"{', '.join(_COLUMNS)}.{hint}"
        )
    if "team" not in columns or len(set(columns)) < len(columns):
        raise InputError(f"{source}: line 1 must name the column 'team', and each column once.")
    return columns


def _parse_row(
    number: int, row: list[str], columns: list[str], faults: list[str]
) -> TeamLine | None:
    """Parse a row; append what is wrong with it to `faults`."""
    if len(row) != len(columns):
        faults.append(
            f"line {number}: has {counted(len(row), 'field')}, and the header {len(columns)}"
        )
        return None
    fields = dict(zip(columns, row, strict=True))
    name = clean_name(fields["team"])
    if name is None:
        faults.append(f"line {number}: a team's name must be 1 to {NAME_MOST} printable characters")
    written = fields.get("organisation", "")
    organisation = clean_name(written) if written.strip() else ""
    if organisation is None:
        faults.append(
            f"line {number}: the organisation must be at most {NAME_MOST} printable characters"
        )
    prizes = _yes_or_no(number, fields, "prizes", faults)
    sessions = _yes_or_no(number, fields, "sessions", faults)
    chosen = fields.get("login", "")
    login = clean_login(chosen) if chosen.strip() else ""
    if login is None:
        faults.append(f"line {number}: '{chosen}' is no login. {LOGIN_RULE}")
    if name is None or organisation is None or prizes is None or sessions is None or login is None:
        return None
    lane = fields.get("lane", "").strip()
    return TeamLine(number, name, organisation, prizes, sessions, lane, login)


def _yes_or_no(number: int, fields: dict[str, str], column: str, faults: list[str]) -> bool | None:
    answer = _YES_NO.get(fields.get(column, "").strip().casefold())
    if answer is None:
        faults.append(f"line {number}: {column} must be yes or no, not '{fields[column]}'")
    return answer


def _doubles(lines: list[TeamLine]) -> list[str]:
    """Return a fault for each line whose team an earlier line has named."""
    faults = []
    seen: dict[str, TeamLine] = {}
    for line in lines:
        first = seen.setdefault(comparable(line.name), line)
        if first is not line:
            other = "" if first.name == line.name else f", in line {first.line} as '{first.name}'"
            faults.append(
                f"line {line.line}: '{line.name}' stands there twice{other}. One registration is "
                "one solution: give the second a name of its own"
            )
    return faults + _shared_logins(lines, seen)


def _shared_logins(lines: list[TeamLine], names: Mapping[str, TeamLine]) -> list[str]:
    """Return a fault for each line whose login is another line's login or name."""
    faults = []
    seen: dict[str, TeamLine] = {}
    for line in lines:
        if not line.login:
            continue
        first = seen.setdefault(line.login, line)
        named = names.get(line.login, line)
        if first is not line:
            faults.append(f"line {line.line}: the login '{line.login}' is in line {first.line} too")
        elif named is not line and comparable(named.name) != comparable(line.name):
            faults.append(
                f"line {line.line}: the login '{line.login}' is the name of the team in line "
                f"{named.line}"
            )
    return faults
