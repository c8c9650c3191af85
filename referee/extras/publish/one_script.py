# SPDX-License-Identifier: Apache-2.0
"""The scripts of a page as one: a browser loads no module from a disk, and a file is a request.

It reads the plain form in which the house writes modules: named imports of files, and names that
are exported where they are declared.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from referee.errors import InputError

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) ([\w$]+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def one_script(first: str, read: Callable[[str], str]) -> str:
    """Return a script that does what a module does with all that it imports.

    `read` returns the text of a module by its path. Raises `InputError` for a module of another
    form, and for modules that import each other.
    """
    parts: dict[str, str] = {}
    _add(first, read, parts, ())
    return '(() => {\n"use strict";\n' + "".join(parts.values()) + "})();\n"


def _add(
    path: str, read: Callable[[str], str], parts: dict[str, str], trail: tuple[str, ...]
) -> None:
    """Add a module behind those that it imports."""
    if path in trail:
        raise InputError(f"The scripts {' and '.join(trail)} import each other.")
    text = read(path)
    beside = posixpath.dirname(path)

    def imported(found: re.Match[str]) -> str:
        other = posixpath.normpath(posixpath.join(beside, found[2]))
        if other not in parts:
            _add(other, read, parts, (*trail, path))
        names = re.sub(r"\bas\b", ":", found[1]).strip().rstrip(",")
        return f"const {{ {names} }} = {_variable(other)};\n"

    body = _IMPORT.sub(imported, text)
    exported = ", ".join(found[1] for found in _EXPORT.finditer(body))
    body = _EXPORT.sub("", body)
    if left := _LEFT.search(body):
        raise InputError(f"{path}: a script for files cannot have this line: {left[0]}")
    parts[path] = f"const {_variable(path)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _variable(path: str) -> str:
    return "m_" + re.sub(r"\W", "_", path)
