# SPDX-License-Identifier: Apache-2.0
"""An event whose sessions run on a real desk, and the folder of its site."""

from __future__ import annotations

import json

import pytest

from referee.extras.publish.making.site import SiteMaker, event_of
from referee.extras.publish.site_folder import SiteFolder
from tests.support.events import desk_event
from tests.support.fakes import FakeClock


@pytest.fixture
def event(tmp_path):
    """Return an event of eight images; `event.site()` opens its site as a new run does."""
    with desk_event(tmp_path, FakeClock()) as found:
        found.folder, found.told = tmp_path / "site", []
        found.site = lambda every_s=10.0: opened(found, every_s)
        yield found


def opened(event, every_s):
    """Open an event's site as a new run does; wall clock is the event's own."""
    clock = event.contest.clock
    folder = SiteFolder(event.folder, event_of(event.contest), lambda: clock.now().utc.timestamp())
    folder.make()
    folder.open()
    return SiteMaker(event.contest, folder, every_s, event.told.append)


def renewed(event, site):
    """Renew the site some seconds later; return what was written."""
    event.contest.clock.advance(10)
    return site.renew()


def contents(folder):
    """Return each file of a folder by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def handed(path):
    """Return what a script of a site hands to its page."""
    text = path.read_text()
    assert text.startswith("published(") and text.endswith(");\n")
    return json.loads(text[len("published(") : -len(");\n")])
