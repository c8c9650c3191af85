# SPDX-License-Identifier: Apache-2.0
"""The rules about the laptop: sleep, lid, battery, time zone and clock; they ask nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from referee.core.open_files import descriptor_shortage, is_too_few
from referee.service.preflight.clock_jumps import Jump
from referee.service.preflight.finding import CheckResult, fail, note, ok, warn
from referee.service.preflight.machine_facts import MachineFacts, SleepFacts, TimeFacts

_GROUP = "machine"
# What logind does where nobody has set it (logind.conf(5)).
_LID_DEFAULT = "suspend"
_HARMLESS = ("ignore", "lock")
_INHIBIT = (
    "Start the referee with: systemd-inhibit --what=sleep:idle:handle-lid-switch referee serve …"
)
_BY_HAND = "Switch off sleep in the system's settings, plug the laptop in, and leave the lid open."
_LISTED = 3
_MORE_FILES = (
    "Raise the hard limit, and start the referee again: 'ulimit -Hn 4096' in root's terminal, "
    "LimitNOFILE=4096 in a systemd unit, or 'hard nofile 4096' in /etc/security/limits.conf."
)


def machine_findings(facts: MachineFacts, jumps: Sequence[Jump] | None) -> Iterator[CheckResult]:
    """Judge what the machine says, and the jumps of its clock; None while no referee runs.

    What keeps the laptop awake is started together with the referee.
    """
    runs = jumps is not None
    yield _sleep(facts, runs=runs)
    yield _lid(facts, runs=runs)
    yield _power(facts)
    yield _zone(facts.time)
    yield _setter(facts.time)
    yield open_files_finding(facts.open_files)
    if jumps is not None:
        yield _jumps(jumps)


def open_files_finding(files: int | None) -> CheckResult:
    """Compare the limit of open files with the connections that the servers want to take."""
    shortage = descriptor_shortage(files)
    if shortage is None:
        return ok(_GROUP, "open files", "as many as the servers' connections need")
    return (fail if is_too_few(files) else warn)(_GROUP, "open files", shortage, _MORE_FILES)


def _sleep(facts: MachineFacts, *, runs: bool) -> CheckResult:
    if facts.sleep is None:
        return note(_GROUP, "sleep", f"{facts.system} without logind does not tell", _BY_HAND)
    if facts.sleep.masked:
        return ok(_GROUP, "sleep", "switched off (its systemd target is masked)")
    keeper = _blocker(facts.sleep, "sleep")
    if keeper:
        return ok(_GROUP, "sleep", f"held back by {keeper}")
    if not runs:
        return note(_GROUP, "sleep", "the referee does not run", _INHIBIT)
    action = facts.sleep.settings.get("IdleAction", "ignore")
    text = "nothing keeps this laptop awake"
    if action not in _HARMLESS and not _blocker(facts.sleep, "idle"):
        text += f"; when idle it does: {action}"
    return warn(_GROUP, "sleep", text, _INHIBIT)


def _lid(facts: MachineFacts, *, runs: bool) -> CheckResult:
    if facts.sleep is None:
        return note(_GROUP, "lid", f"{facts.system} without logind does not tell", _BY_HAND)
    if not facts.has_lid:
        return ok(_GROUP, "lid", "this machine has none")
    keeper = _blocker(facts.sleep, "handle-lid-switch")
    if keeper:
        return ok(_GROUP, "lid", f"closing it does nothing: {keeper} handles it")
    settings = facts.sleep.settings
    action = settings.get("HandleLidSwitch", _LID_DEFAULT)
    if facts.on_mains:
        action = settings.get("HandleLidSwitchExternalPower", action)
    if action in _HARMLESS or facts.sleep.masked:
        return ok(_GROUP, "lid", f"closing it is harmless ({action})")
    if not runs:
        return note(_GROUP, "lid", "the referee does not run", f"{_INHIBIT} Leave the lid open.")
    return warn(_GROUP, "lid", f"closing it does: {action}", f"{_INHIBIT} Leave the lid open.")


def _power(facts: MachineFacts) -> CheckResult:
    if facts.on_mains is None:
        return ok(_GROUP, "power", "this machine tells of no battery")
    if facts.on_mains:
        return ok(_GROUP, "power", "on mains")
    left = "" if facts.battery_percent is None else f", {facts.battery_percent} % left"
    return warn(_GROUP, "power", f"on battery{left}", "Plug the laptop in.")


def _zone(time: TimeFacts) -> CheckResult:
    text = f"{time.zone}, {_offset(time.offset)}; the evidence has UTC"
    if time.offset != time.offset_tomorrow:
        return warn(
            _GROUP,
            "time zone",
            f"{text}; within a day it becomes {_offset(time.offset_tomorrow)}",
            "Sessions are not affected. Tell the teams which time the running order means.",
        )
    return ok(_GROUP, "time zone", text)


def _setter(time: TimeFacts) -> CheckResult:
    if time.steps_any_time:
        return warn(
            _GROUP,
            "clock setting",
            "chrony may step the clock at any time (makestep … -1)",
            "Let it step at its start only: 'makestep 1 3' in chrony.conf, then restart chrony.",
        )
    if time.ntp is None:
        return note(
            _GROUP,
            "clock setting",
            "no timedatectl tells what sets the clock",
            "Compare the laptop's clock with a good one, and let nothing set it during sessions.",
        )
    if time.ntp and not time.synchronized:
        return warn(
            _GROUP,
            "clock setting",
            "NTP is on and has found no server yet",
            "It may step the clock when it finds one. Set the time, then run: "
            "timedatectl set-ntp false",
        )
    text = "set by NTP" if time.ntp else "nothing sets it by itself"
    return ok(_GROUP, "clock setting", text)


def _jumps(jumps: Sequence[Jump]) -> CheckResult:
    if not jumps:
        return ok(_GROUP, "clock", "no jump and no sleep seen while the referee ran")
    listed = "; ".join(str(jump) for jump in jumps[-_LISTED:])
    return warn(
        _GROUP,
        "clock",
        f"{len(jumps)} since the start: {listed}",
        "Sessions are timed by another clock, so they go on. Look which program sets the clock, or "
        "what sent the laptop to sleep; a session that slept is SUSPECT.",
    )


def _blocker(sleep: SleepFacts, what: str) -> str:
    """Return the program that blocks something, or ''; one that only delays it does not count."""
    return next(
        (
            inhibitor.who
            for inhibitor in sleep.inhibitors
            if inhibitor.blocks and what in inhibitor.what
        ),
        "",
    )


def _offset(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
