# SPDX-License-Identifier: Apache-2.0
"""The checks of what the contest's folder holds: images, teams, sessions, and room for more."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from referee.core.counts import counted
from referee.core.open_files import descriptor_shortage, is_too_few
from referee.core.restored import RESTORED_REMEDY, NewerEvidence, restored_text
from referee.core.states import SessionState, state_of
from referee.errors import RefereeError, Unavailable
from referee.service.preflight.disk import disk_shortage, free_bytes
from referee.service.preflight.finding import CheckResult, fail, ok, warn
from referee.service.preflight.machine_facts import most_open_files
from referee.service.setup.contest import Contest
from referee.service.setup.image_counts import counts_text
from referee.service.setup.input_rule import InputFault, fault_text, way_out
from referee.service.setup.lane_words import of_lane
from referee.service.setup.scarcity import scarcity
from referee.service.teams.rehearsals import RehearsalProgress, read_progress
from referee.service.teams.roster import Roster, read_roster
from referee.store.images import ImageEntry, load_counts
from referee.store.sessions import all_sessions, unsettled_sessions

# A session of 20,000 images with 49,000 boxes, its readings and its log took 60 MB.
_SESSION_BYTES = 100 * 2**20
_UNDER_WAY = (SessionState.ARMED, SessionState.RUNNING)


def images_finding(contest: Contest, inputs: tuple[InputFault, ...] = ()) -> CheckResult:
    """Check that every image has the size and the time that it had when it was hashed.

    `inputs` are the faults of the files that scores rest on, as a running referee has found them.
    """
    item = ("contest", "images and ground truth")
    changed = changed_images(contest)
    if changed:
        text = f"{_missing(changed)}; the first is {changed[0]}"
        return fail(*item, text, "Put them back, or start the referee again.")
    if not contest.images:
        return fail(*item, "there is no image", "Start the referee: it prepares the images.")
    if inputs:  # A session may run: what the scorer has read still holds.
        return warn(*item, " ".join(map(fault_text, inputs)), way_out(inputs))
    look = contest.looked_at
    counts = counts_text(look.counts if look else load_counts(contest.database.connection))
    images = counted(len(contest.images), "image")
    classes = counted(len(contest.classes), "class", "classes")
    text = f"{images}, {classes}, as hashed: {counts}"
    return ok(*item, text)


def changed_images(contest: Contest) -> list[str]:
    """Return the paths of the images that are missing or have another size or time."""
    return [entry.path for entry in contest.images if not _unchanged(entry)]


def blockers(contest: Contest) -> list[str]:
    """Return one sentence for each condition of the folder under which no session could end well.

    Until they are gone `serve` does not say `ready`, and no rehearsal begins. Arming in an event
    asks for the whole list of findings (`listing.py`), which has these too.
    The disk must have room, and a process may open files for the connections of one address at
    least. Every image must still have the size and the modification time that it had when it was
    hashed. The meter is not checked here: preparing it is its check.
    """
    shortage = disk_shortage(contest.config)
    obstacles = [] if shortage is None else [shortage]
    files = most_open_files()
    if is_too_few(files):
        obstacles.append(f"This is too few: {descriptor_shortage(files)}. Raise 'ulimit -Hn'.")
    changed = changed_images(contest)
    if changed:
        obstacles.append(
            f"{_missing(changed)} since the start. The first is {changed[0]}: put them back, or "
            "start the referee again."
        )
    return obstacles


def _missing(images: Sequence[object]) -> str:
    words = ("image is missing or has changed", "images are missing or have changed")
    return counted(len(images), *words)


def disk_finding(contest: Contest) -> CheckResult:
    """Check that the disk has room for a session; the text changes with each tenth of a GiB."""
    config = contest.config
    free = free_bytes(config)
    text = f"{free / 2**30:.1f} GiB free"
    shortage = disk_shortage(config)
    if shortage is not None:
        return fail("machine", "disk", text, shortage)
    return ok("machine", "disk", f"{text}: room for {counted(free // _SESSION_BYTES, 'session')}")


def team_findings(contest: Contest) -> Iterator[CheckResult]:
    """Check the list of teams, and whether the next team has rehearsed."""
    if contest.config.contest.mode == "practice":
        yield ok("teams", "list", "a rehearsal: whoever has a password may log in")
        return
    try:
        roster = read_roster(contest)
    except RefereeError as error:
        yield fail("teams", "list", str(error), "Repair the file, or give new passwords.")
        return
    yield _list(contest, roster)
    yield from _rehearsal(contest, roster)


def restored_findings(newer: Sequence[NewerEvidence]) -> Iterator[CheckResult]:
    """Warn of a folder that lacks what bundles or slips beside it have."""
    if newer:
        yield warn("contest", "backup", restored_text(newer), RESTORED_REMEDY)


def session_finding(contest: Contest, *, runs: bool) -> CheckResult:
    """Tell which sessions wait or are under way; one without a running referee was forgotten."""
    now = contest.clock.now()
    states = [
        (session, state_of(session.facts, now))
        for session in all_sessions(contest.database.connection)
    ]
    live = [(session, state) for session, state in states if state in _UNDER_WAY]
    ready = [session for session, state in states if state is SessionState.READY]
    if live:
        summary = ", ".join(
            f"session {session.session_id} of '{session.team}' is {state.value}"
            for session, state in live
        )
        if runs:
            return ok("sessions", "free", summary)
        remedy = "Start the referee: it goes on. Let it end, stop it, or void it with a reason."
        return warn("sessions", "free", summary, remedy)
    if ready:
        first = ready[-1]
        summary = f"{len(ready)} READY; the first is session {first.session_id} of '{first.team}'"
        return ok("sessions", "free", f"no session is armed or runs; {summary}")
    return ok("sessions", "free", f"no session is armed or runs; {len(states)} so far")


def under_way(contest: Contest) -> str:
    """Return a sentence about a session that is armed, runs or is not settled; '' without one."""
    connection, now = contest.database.connection, contest.clock.now()
    sessions = all_sessions(connection)
    for session in sessions:
        state = state_of(session.facts, now)
        if state in _UNDER_WAY:
            return f"Session {session.session_id} of '{session.team}' is {state.value}."
    for lane in {session.lane for session in sessions}:
        for session in unsettled_sessions(connection, lane):
            return f"The energy of session {session.session_id} is not fetched yet."
    return ""


def _list(contest: Contest, roster: Roster) -> CheckResult:
    config, teams = contest.config, roster.active
    if not teams:
        remedy = f"Run: referee team add NAME {config.option}"
        return warn("teams", "list", "no team is registered", remedy)
    without = [team.name for team in teams if not team.has_password]
    if without:
        some = f"{len(without)} of {counted(len(teams), 'team has', 'teams have')}"
        text = f"{some} no password, for example '{without[0]}'"
        remedy = f"Run: referee team slips --out slips.html {config.option}"
        return warn("teams", "list", text, remedy)
    if config.teams.stat().st_mode & 0o077:
        remedy = f"Run: chmod 600 {shlex.quote(str(config.teams))}"
        return warn("teams", "list", "others may read the hashes", remedy)
    lost = [team for team in teams if team.bound_to(roster.lanes) == 0]
    if lost:
        text = (
            f"'{lost[0].name}' runs in lane '{lost[0].registration.lane}' only, which is not there"
        )
        remedy = "Declare the lane in contest.toml, or change it with 'referee team amend --lane'."
        return warn("teams", "list", text, remedy)
    return ok("teams", "list", f"{len(teams)} registered")


def _rehearsal(contest: Contest, roster: Roster) -> Iterator[CheckResult]:
    nexts = roster.next_in_lanes
    progress = read_progress(contest) if nexts else {}
    for lane, name in sorted(nexts.items()):
        item = of_lane("rehearsal of the next team", contest.config.lane(lane).name)
        yield _rehearsal_of(contest, item, name, progress[name])


def _rehearsal_of(
    contest: Contest, item: str, name: str, progress: RehearsalProgress
) -> CheckResult:
    if progress.all_done:
        return ok("teams", item, f"'{name}' has rehearsed")
    remedy = (
        "Let it rehearse before its turn: stop 'referee serve' between two sessions, and run: "
        f"referee practice --config {contest.config.path}"
    )
    *first, last = progress.missing
    steps = f"{', '.join(first)} or {last}" if first else last
    text = f"'{name}' has not {steps} in a rehearsal"
    return warn("teams", item, text, remedy)


def _unchanged(entry: ImageEntry) -> bool:
    try:
        stat = os.stat(entry.path)
    except OSError as error:
        lack = scarcity(error)
        if lack is not None:
            raise Unavailable(f"The images cannot be looked at: {lack}.") from error
        return False
    return (stat.st_size, stat.st_mtime_ns) == (entry.size_bytes, entry.modified_ns)
