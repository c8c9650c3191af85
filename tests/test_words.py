# SPDX-License-Identifier: Apache-2.0
"""The words that people read: pages and messages keep to the list of docs/developers.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Words that no page and no message needs, by what stands in their place.
AVOIDED = {
    "Cancel": r"\bLeave it\b(?! (out|there|running))",
    "Acknowledge": r"[>\"“]Seen[<\"” ]|\bpress(ed)? \**Seen\b",
    "Unfreeze": r"\bthaw(ed|s|ing)?\b",
    "Reopen": r"\bOpen it again\b",
    "connection lost": r"\bno news\b",
    "optional": r"\bmay be empty\b",
    "1 minute": r"\w\(s\)",
    "the fact": r"\b[Ii]t is \w+ that\b|\bof few words\b",
    "already exists": r"\bexists already\b|\bis there already\b",
}
# What only a module's message is read for; a script's 100% is a length, and so is a style's.
IN_MODULES = {
    "5 %": r"[}0-9](?<!100)%(?![\w(|}])|:\+?\.\d%\}",
}
# What a command says and helps with is read for these, too.
IN_COMMANDS = {
    "is not a": r"\b(?<!here )(is|are) no (?!longer|more\b|submission\b)[a-z]+|\bis none\b",
    "keeps integrating": r"\bintegrates on\b",
}
# CLICS's name, stored rows, and the word of earlier releases, which is understood.
KEPT = {
    *("referee/commands/scoreboard.py", "referee/extras/ceremony/stored.py"),
    *("referee/service/scoreboard/facts.py", "referee/service/scoreboard/feed_objects.py"),
    *("referee/service/scoreboard/freezing.py", "referee/store/publishing.py"),
    "referee/extras/stations/notification.py",
    # PTDaemon's own words.
    "power/ptd/session.py",
}


def messages_of(path: Path) -> Iterator[str]:
    """Yield the strings of a module but its docstrings; what is put in stands as braces.

    The docstring of a command's module is its help, so it counts.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if "commands" in path.parts:
        yield ast.get_docstring(tree) or ""
    parts = {
        id(part) for it in ast.walk(tree) if isinstance(it, ast.JoinedStr) for part in it.values
    }
    parts |= {
        id(part)
        for it in ast.walk(tree)
        if isinstance(it, ast.FormattedValue) and it.format_spec is not None
        for part in ast.walk(it.format_spec)
    }
    for node in ast.walk(tree):
        body = getattr(node, "body", [])
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            parts.add(id(body[0].value))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            if id(node) not in parts:
                yield "".join(map(_shown, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in parts:
                yield node.value


def _shown(part: ast.expr) -> str:
    """Return a part of a message: braces for a value, with the sign of a percentage."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    form = ast.unparse(part.format_spec) if getattr(part, "format_spec", None) else ""
    return "{}%" if form.endswith(("%'", '%"')) else "{}"


def texts_of(path: Path) -> Iterator[str]:
    """Yield what a page shows: a script's strings, or the whole of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        yield text
        return
    without = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    yield from re.findall(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`', without)


def sources() -> list[Path]:
    """Return the files whose words people read."""
    pages = [path for path in (ROOT / "static").rglob("*") if path.suffix in (".js", ".html")]
    modules = [path for name in ("referee", "power") for path in (ROOT / name).rglob("*.py")]
    return sorted(pages) + sorted(path for path in modules if name_of(path) not in KEPT)


def name_of(path: Path) -> str:
    """Return a file's name from the project's root."""
    return path.relative_to(ROOT).as_posix()


def avoided_in(path: Path) -> list[str]:
    """Return the words of a file that the list replaces."""
    text = path.read_text(encoding="utf-8")
    avoided = AVOIDED | IN_MODULES if path.suffix == ".py" else AVOIDED
    avoided = avoided | IN_COMMANDS if "commands" in path.parts else avoided
    if not any(re.search(pattern, text) for pattern in avoided.values()):
        return []
    read = messages_of if path.suffix == ".py" else texts_of
    return [
        f"{found[0]}: write {write}"
        for text in read(path)
        for write, pattern in avoided.items()
        for found in re.finditer(pattern, text)
    ]


def test_pages_and_messages_use_the_words_of_the_list() -> None:
    """Each word has one meaning, and is the one that people know from other programs."""
    found = {name_of(path): words for path in sources() if (words := avoided_in(path))}
    assert {} == found


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.js", 'const no = "Leave it"; // no news', 1),
        ("a.js", "show(`no news (${why})`)", 1),
        ("a.html", "<button>Seen</button>", 1),
        (
            "a.py",
            '"""Thaw it: thaw."""\n\n\ndef f():\n    """thaw"""\n    return f"{n} minute(s)"\n',
            2,
        ),
        ("a.py", 'x = "Leave it out; nobody has seen it. It is true."\n', 0),
        ("a.py", 'x = f"{share:.1%} of it", "6% of it", f"{share:.1f} % of 100 %%"\n', 2),
        ("a.py", 'x = f"{name} is no folder: there is no file."\n', 1),
    ],
)
def test_a_word_is_found_where_people_read_it(
    tmp_path: Path, name: str, text: str, count: int
) -> None:
    """Comments and docstrings of functions are for engineers."""
    path = tmp_path / "commands" / name
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert count == len(avoided_in(path))
