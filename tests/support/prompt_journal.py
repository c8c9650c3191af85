# SPDX-License-Identifier: Apache-2.0
"""A journal without a thread: what is noted is written before the caller goes on."""

from __future__ import annotations


class PromptJournal:
    """The part of a `Journal` that takes notes."""

    def __init__(self, database):
        self._database = database

    def note(self, write, row):
        """Write a row at once."""
        with self._database.write() as connection:
            write(connection, [row])
