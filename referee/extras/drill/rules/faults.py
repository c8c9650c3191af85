# SPDX-License-Identifier: Apache-2.0
"""The faults of a drill: what happens, what the runbook asks for, and how both are recognised."""

from __future__ import annotations

from dataclasses import dataclass

EMERGENCY = "docs/emergency.md"
"""Where operators look first when something is wrong: a page of numbered rows."""

# What operators do: actions of the console by their names in the audit, and hands at the table.
STOP, VOID, NOTE = "stop", "void", "note"
CABLE, POWER, RESET = "hand cable", "hand power", "hand reset"
TEAM, DEVICE, ROOM, COPY, START = "hand team", "hand device", "hand room", "hand copy", "hand start"

HANDS = {
    CABLE: "put the cable of the power meter back",
    POWER: "switch the power meter on; if it is on, off and on again",
    RESET: "press RESET at the power meter",
    TEAM: "tell the running team to stop all programs but its client",
    DEVICE: "look where the running team's device is plugged in, and plug it into the meter",
    ROOM: "make room on the disk",
    COPY: "copy the images from the backup again",
    START: "start the laptop and the referee again",
}
"""What hands can do in the room of a drill; no console can do it."""


@dataclass(frozen=True)
class DrillFault:
    """A fault: what happens in one line, how it is injected and over, and what is expected.

    `alarm` is a regular expression of the red bar's text; '' means that no alarm tells of it.
    `deeds` are what the runbook asks for: any of them is right, and none means that nothing is to
    be done. `harm` is what makes it worse while the fault lasts. After `lasts_s` the fault ends by
    itself, so that a drill goes on. `signs` are deeds that show attention and are not yet what the
    runbook asks for. While an `unmeasured` fault lasts, the device's energy is not measured. Deeds
    of a fault that waits for `after_session` are right when the session is over, and harm before.
    `costs` has the codes of the findings that the fault can bring about; without one it costs no
    energy. `section` is the place in the runbook.
    """

    name: str
    line: str
    injected: str
    over: str
    seen: str
    do: str
    alarm: str
    deeds: tuple[str, ...]
    harm: tuple[str, ...]
    lasts_s: float
    section: str
    signs: tuple[str, ...] = ()
    costs: frozenset[str] = frozenset()
    unmeasured: bool = False
    after_session: bool = False


_HASTY = (STOP, VOID)
_METER = (RESET, POWER)
# Codes of power/energy and of settling.
_UNREAD = frozenset(
    "few_samples final_unconfirmed gap meter_used_again no_data no_readings "
    "not_read_at_end samples_missing".split()
)
_BROKEN_OFF = frozenset(
    "cross_check meter_error meter_reset restarted stopped_short time_went_back window".split()
)

FAULTS = tuple(
    (
        DrillFault(
            "meter-unplugged",
            "somebody pulls the cable of the power meter",
            "the emulated meter drops its link and integrates on",
            "the hands put the cable back",
            "red bar: the power meter is lost, but the session goes on",
            "put the cable back; leave the meter's keys and power alone",
            r"power meter is lost|power meter sends no readings|final energy of session",
            (CABLE,),
            (*_METER, *_HASTY),
            90.0,
            f"{EMERGENCY}, row 2",
            costs=_UNREAD,
        ),
        DrillFault(
            "meter-off",
            "the power meter loses its mains",
            "the emulated meter stops in state ERROR and drops its link",
            "the hands switch the meter on",
            "red bar: the power meter is lost, then: it no longer integrates",
            "switch it on; the energy is lost, so stop the session and give the team a new one",
            r"power meter|no longer integrates",
            (STOP, VOID),
            (),
            90.0,
            f"{EMERGENCY}, rows 2 and 8",
            costs=_BROKEN_OFF | _UNREAD | {"meter_replaced"},
            signs=(POWER, CABLE),
        ),
        DrillFault(
            "meter-stopped",
            "somebody presses STOP at the power meter",
            "STOP is pressed at the emulated meter's panel",
            "the session is stopped or void",
            "red bar: the meter no longer integrates",
            "the energy is lost: stop the session, and give the team a new one",
            r"no longer integrates|cannot be read until",
            (STOP, VOID),
            (),
            120.0,
            f"{EMERGENCY}, row 8",
            costs=_BROKEN_OFF,
            signs=(RESET,),
        ),
        DrillFault(
            "on-battery",
            "the device runs on its battery, so the meter sees about 0 W",
            "the load of the emulated meter falls to 0 W",
            "the hands plug the device into the meter",
            "red bar, after some seconds: the device draws about 0 W while its requests arrive",
            "look where the device is plugged in; the energy is too small: void the session and "
            "run it again",
            r"draws about 0 W",
            (VOID,),
            (),
            120.0,
            f"{EMERGENCY}, row 9",
            costs=frozenset({"cross_check", "no_load", "no_load_at_work", "no_load_half"}),
            signs=(DEVICE, STOP),
            unmeasured=True,
        ),
        DrillFault(
            "over-range",
            "the device takes more than the meter's range",
            "the emulated meter shows over range for a while",
            "it passes by itself",
            "the meter's line on the console: over range",
            "nothing while the session runs; the verdict says what the energy is worth",
            "",
            (),
            _HASTY,
            10.0,
            "docs/console.md#what-the-figures-mean",
            costs=frozenset({"above_range", "clipping", "cross_check", "over_range", "peak_over"}),
        ),
        DrillFault(
            "flood",
            "the running team's program asks as fast as it can",
            "a second program of the team sends requests without a pause, with its token",
            "the hands tell the team, or it ends by itself",
            "images a second far above the team's pace",
            "tell the team; the session goes on, because a flood starves nobody",
            "",
            (TEAM,),
            _HASTY,
            40.0,
            f"{EMERGENCY}, row 7",
        ),
        DrillFault(
            "wifi-drop",
            "the team's client loses the network and logs in again",
            "the client is killed, and started again some seconds later",
            "the client asks again",
            "the last request grows old",
            "nothing: same session, same deadline",
            "",
            (),
            _HASTY,
            60.0,
            f"{EMERGENCY}, row 1",
        ),
        DrillFault(
            "other-team",
            "another team tries to log in while a session runs",
            "another team's name and password are sent once a second",
            "it passes by itself",
            "nothing on the console: the other team gets a clear 401",
            "nothing; if the team asks, tell it when its turn is",
            "",
            (),
            _HASTY,
            15.0,
            f"{EMERGENCY}, row 4",
        ),
        DrillFault(
            "junk",
            "the team's client sends answers that make no sense",
            "boxes of unknown images and classes, and with corners the wrong way round, are sent",
            "it passes by itself",
            "boxes that can never match, by reason, on the card",
            "nothing; tell the team if it asks",
            "",
            (),
            _HASTY,
            10.0,
            f"{EMERGENCY}, last lines",
        ),
        DrillFault(
            "image-lost",
            "an image is gone from the disk while the session runs",
            "the file of an image that comes next is taken away",
            "the hands copy the images again, after the session",
            "red bar: an image is missing; the team gets 500 for it",
            "nothing while the session runs; then put the same file back, from the backup",
            r"Image \d+[ :]",
            (COPY,),
            _HASTY,
            60.0,
            f"{EMERGENCY}, row 14",
            costs=frozenset({"images_missing"}),
            after_session=True,
        ),
        DrillFault(
            "disk-full",
            "the laptop's disk is full",
            "the kernel lets the referee's processes write to no file (RLIMIT_FSIZE)",
            "the hands make room",
            "red bar: the disk refuses the desk's records; answers get 500",
            "make room on the disk; readings wait in memory",
            r"disk refuses",
            (ROOM,),
            _HASTY,
            45.0,
            f"{EMERGENCY}, row 10",
            costs=_UNREAD,
        ),
        DrillFault(
            "desk-killed",
            "the desk's process dies",
            "kill -9 of the control desk",
            "the console answers again",
            "the page says that the desk does not answer; then: it ended and is started again",
            "wait: it comes back within seconds, and the session goes on",
            r"control desk ended",
            (),
            _HASTY,
            60.0,
            f"{EMERGENCY}, row 6",
            costs=_UNREAD,
        ),
        DrillFault(
            "server-killed",
            "the contest server's processes die",
            "kill -9 of the contest server and its workers",
            "the contest server answers again",
            "red bar: the contest server ended and is started again",
            "nothing: it comes back within seconds, and the team's client asks again",
            r"contest server.* ended",
            (),
            _HASTY,
            60.0,
            "docs/console.md#the-red-bar",
        ),
        DrillFault(
            "power-cut",
            "the laptop loses its power",
            "kill -9 of all processes of the referee; the meter goes on",
            "the hands start the referee again",
            "the console does not answer",
            "start the referee again; the session goes on if its time is not over",
            "",
            (START,),
            (*_METER,),
            90.0,
            f"{EMERGENCY}, row 11",
            costs=_UNREAD | {"rebooted"},
        ),
    )
)
"""All faults, in the order of `referee drill --list`."""

LEFT_OUT = {
    "clock jump": "needs the system's clock, and so root",
    "sleep, lid closed": "needs the whole laptop: close the lid once by hand (docs/drill.md)",
    "display closed": "yours to try in the camera track: close the window of /display",
    "two sessions for one meter": "yours to try: press Arm twice; the audit shows the refusal",
    "double click": "yours to try: press any button twice; it acts once",
    "answers at the deadline": "nothing for an operator to see or do",
}
"""Faults of the venue table that a drill does not inject, with the reason."""

BY_NAME = {fault.name: fault for fault in FAULTS}
"""All faults by their names."""
