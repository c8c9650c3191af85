# SPDX-License-Identifier: Apache-2.0
"""The slow checks that need no meter; what they find is stored as soon as it is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from referee.errors import Unavailable
from referee.programs.golden_client import check_golden
from referee.programs.terminal import tell_on_terminal
from referee.service.preflight.contest_checks import under_way
from referee.service.preflight.durable_commit import check_commits
from referee.service.preflight.finding import Finding
from referee.service.preflight.passwords import check_passwords
from referee.service.preflight.slow import (
    COMMIT,
    GOLDEN,
    PASSWORDS,
    expected,
    keep,
    password_hashes,
)
from referee.service.preflight.versions import program_stamp
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.setup.folder_lock import lock_folder
from referee.service.setup.opened import opened_contest
from referee.service.setup.program import Launch

Key = tuple[str, str]


def run_all_slow_checks(config: Config, launch: Launch) -> None:
    """Make all of them, in the process that the desk starts."""
    run_slow_checks(config, None, tell_on_terminal)


def run_slow_checks(
    config: Config, wanted: Iterable[Key] | None, tell: Callable[[str], None]
) -> None:
    """Make the slow checks with these groups and items (None: all), and store each as it is found.

    Raises `Unavailable` while a session is armed, runs or is not settled, and `InputError` while
    another process makes the checks.
    """
    keys = None if wanted is None else set(wanted)
    with lock_folder(config.storage.folder, "checks"), opened_contest(config) as contest:
        basis = expected(contest, program_stamp(), [])
        for key, check in _checks(contest, tell):
            if key not in basis or (keys is not None and key not in keys):
                continue
            busy = under_way(contest)
            if busy:
                raise Unavailable(f"{busy} Slow checks would disturb it: wait for its end.")
            tell(f"checking: {key[1]}")
            found = [(finding, basis[key].text) for finding in check()]
            keep(contest.database, contest.clock.now(), found)


def _checks(
    contest: Contest, tell: Callable[[str], None]
) -> Iterator[tuple[Key, Callable[[], Iterable[Finding]]]]:
    config = contest.config
    yield COMMIT, lambda: [check_commits(config)]
    yield PASSWORDS, lambda: [check_passwords(password_hashes(contest))]
    for extra in present_extras(config):
        if extra.slow_check is not None:
            yield extra.slow_check, partial(extra.check, config)
    yield GOLDEN, lambda: [check_golden(config, tell)]
