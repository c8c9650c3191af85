# SPDX-License-Identifier: Apache-2.0
"""A log's lines for people and for programs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime

import pytest

from referee.programs.log_lines import JsonLines, TextLines, log_as
from referee.service.setup.config import LogSection


def record(text="hello %s", *words, fields=None, error=None):
    """Return a log record."""
    made = logging.LogRecord("referee.x", logging.INFO, "x.py", 1, text, words or ("you",), error)
    if fields is not None:
        made.fields = fields
    return made


def fault():
    """Return what `sys.exc_info` says of an exception."""
    try:
        raise ValueError("a\nb")
    except ValueError:
        return sys.exc_info()


def test_a_json_line_holds_everything_in_one_line():
    """Text, level, logger, time with zone, fields and traceback are one object on one line."""
    line = JsonLines().format(record(fields={"status": 200, "path": 'a"\n'}, error=fault()))
    assert "\n" not in line
    found = json.loads(line)
    assert ("hello you", "INFO", "referee.x") == (found["text"], found["level"], found["logger"])
    assert (200, 'a"\n') == (found["status"], found["path"])
    assert "ValueError: a\nb" in found["exception"]
    assert datetime.fromisoformat(found["utc"]).utcoffset().total_seconds() == 0


@pytest.mark.parametrize(
    ("value", "word"),
    [(200, "200"), ("/a", "/a"), ("", '""'), ("a b", '"a b"'), ("a\nb", '"a\\nb"'), ('"', '"\\""')],
)
def test_a_text_line_has_the_fields_as_words(value, word):
    """A value with spaces, quotes or line ends is in quotes, so nobody can forge a line."""
    line = TextLines().format(record(fields={"path": value}))
    assert line.endswith(f"INFO referee.x: hello you path={word}")
    assert "\n" not in line


def test_the_configuration_chooses_the_form(monkeypatch):
    """The process's handlers get the form of the configuration."""
    handler = logging.StreamHandler()
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    log_as(LogSection(format="json"))
    assert isinstance(handler.formatter, JsonLines)
    log_as(LogSection())
    assert isinstance(handler.formatter, TextLines)
