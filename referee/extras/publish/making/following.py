# SPDX-License-Identifier: Apache-2.0
"""A site that is renewed while its event runs, and the command that copies it to a host."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.errors import RefereeError
from referee.extras.publish.making.site import SiteMaker, event_of
from referee.extras.publish.making.then import Then
from referee.extras.publish.site_folder import SiteFolder, held
from referee.service.setup.contest import Contest

Tell = Callable[[str], object]


@contextmanager
def opened_site(
    contest: Contest, path: Path, every_s: float | None, tell: Tell
) -> Iterator[SiteMaker]:
    """Hold the folder of an event's site until the block ends; one process at a time has it.

    Raises `InputError` if another one has it, or if it is no folder for this site.
    """
    folder = SiteFolder(path, event_of(contest), time.time)
    folder.make()
    with held(path):
        folder.open()
        yield SiteMaker(contest, folder, every_s, tell)


def follow(site: SiteMaker, every_s: float, command: str | None, tell: Tell) -> None:
    """Renew a site again and again; after each change run the command, to its end.

    No renewal happens while the command runs, so it copies one state. What fails is told once, and
    tried again with the next step.
    """
    then = None if command is None else Then(command, tell)
    told = ""
    due_s = time.monotonic()
    is_new = True
    while True:
        if then is not None and (is_new or then.failed):
            then.run()
        due_s = max(due_s + every_s, time.monotonic())
        threading.Event().wait(max(0.0, due_s - time.monotonic()))
        fault = ""
        try:
            is_new = site.renew().files > 0
        except (RefereeError, OSError) as error:
            is_new, fault = False, str(error)
        if fault != told:
            tell(fault or "The site is renewed again.")
        told = fault
