# SPDX-License-Identifier: Apache-2.0
"""A site is renewed step by step, whatever fails meanwhile."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.extras.publish.making.following import follow
from referee.extras.publish.site_folder import Written


class Site:
    """A site whose renewals do what a test says; after the last one somebody presses Ctrl-C."""

    def __init__(self, *results):
        self._results = [*results]

    def renew(self):
        """Return or raise what is next."""
        if not self._results:
            raise KeyboardInterrupt
        result = self._results.pop(0)
        if isinstance(result, Exception):
            raise result
        return Written(files=result)


def followed(site, command):
    """Follow until Ctrl-C; return what was told."""
    told = []
    with pytest.raises(KeyboardInterrupt):
        follow(site, 0.01, command, told.append)
    return told


def test_the_command_runs_for_the_first_site_and_after_each_change(tmp_path):
    """A renewal that has written nothing copies nothing."""
    assert [] == followed(Site(0, 2, 0, 1), f"echo copied >> {tmp_path}/log")
    assert 3 == (tmp_path / "log").read_text().count("copied")


def test_a_copy_that_failed_is_tried_without_a_change(tmp_path):
    """The host lacks the newest state until one has worked."""
    command = f"echo x >> {tmp_path}/log; test $(wc -l < {tmp_path}/log) -ge 3"
    told = followed(Site(0, 0, 0, 0), command)
    assert 3 == (tmp_path / "log").read_text().count("x")
    assert 2 == len(told)


def test_a_full_disk_is_told_once(tmp_path):
    """The site stays as it was, nothing is copied, and the next renewal that works is told."""
    full = InputError("state.json cannot be written: No space left on device.")
    told = followed(Site(full, full, OSError("gone"), 1), f"echo copied >> {tmp_path}/log")
    assert ["No space", "gone", "renewed again"] == [
        next(words for words in ("No space", "gone", "renewed again") if words in text)
        for text in told
    ]
    assert 2 == (tmp_path / "log").read_text().count("copied")
