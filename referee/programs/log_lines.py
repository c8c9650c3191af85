# SPDX-License-Identifier: Apache-2.0
"""The lines of the logs: text for people, or one JSON object a line for programs.

A record may carry fields of its own: `logger.info("request", extra={"fields": {"status": 200}})`.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping

from referee.service.setup.config import LogSection

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class TextLines(logging.Formatter):
    """Lines for people; a record's own fields follow as `name=value`."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line without an exception's traceback."""
        fields = " ".join(f"{name}={_word(value)}" for name, value in _fields(record).items())
        line = super().formatMessage(record)
        return f"{line} {fields}" if fields else line


class JsonLines(logging.Formatter):
    """One JSON object a line: `utc`, `level`, `logger`, `text`, and the record's own fields.

    `exception` has a traceback where there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {
            "utc": f"{seconds}.{int(record.msecs):03d}+00:00",
            "level": record.levelname,
            "logger": record.name,
            "text": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_as(section: LogSection) -> None:
    """Give the process's log the form that the configuration asks for."""
    lines = JsonLines() if section.format == "json" else TextLines()
    for handler in logging.getLogger().handlers:
        handler.setFormatter(lines)


def _fields(record: logging.LogRecord) -> Mapping[str, object]:
    fields: Mapping[str, object] = getattr(record, "fields", {})
    return fields


def _word(value: object) -> str:
    """Return a value as one word, in quotes if it has spaces or quotes."""
    text = str(value)
    plain = text.isprintable() and not set(text) & set(" \"'=\\")
    return text if plain and text else json.dumps(text)
