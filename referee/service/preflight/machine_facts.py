# SPDX-License-Identifier: Apache-2.0
"""What this machine says about sleep, lid, power and time; `machine_rules` judges it."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

_ASK_S = 5.0
_LOGIND = ("usr/lib/systemd/logind.conf", "etc/systemd/logind.conf")
_LOGIND_PARTS = ("usr/lib/systemd", "run/systemd", "etc/systemd")
_CHRONY = ("etc/chrony/chrony.conf", "etc/chrony.conf")
_SLEEP_TARGETS = ("sleep.target", "suspend.target")
# A line of `systemd-inhibit --list` has blanks in some columns; WHAT and MODE have fixed words.
_WHAT = r"(?:sleep|shutdown|idle|handle-[a-z-]+)"
_INHIBITOR = re.compile(rf"^(\S.*?)\s{{2,}}.*\s({_WHAT}(?::{_WHAT})*)\s.*\s(block|delay)\S*\s*$")

Ask = Callable[[Sequence[str]], str | None]
"""A function that runs a command and returns its output, or None if it fails or is not there."""


@dataclass(frozen=True)
class Inhibitor:
    """A program that holds something back: `what` has words such as sleep and idle."""

    who: str
    what: frozenset[str]
    blocks: bool


@dataclass(frozen=True)
class SleepFacts:
    """What systemd's logind does; `settings` holds the keys of its configuration that are set."""

    settings: Mapping[str, str] = field(default_factory=dict)
    inhibitors: tuple[Inhibitor, ...] = ()
    masked: bool = False


@dataclass(frozen=True)
class TimeFacts:
    """The time zone, and what may set the clock; None where the machine does not say."""

    zone: str
    offset: timedelta
    offset_tomorrow: timedelta
    ntp: bool | None = None
    synchronized: bool | None = None
    steps_any_time: bool = False


@dataclass(frozen=True)
class MachineFacts:
    """All of it; `sleep` is None where nothing here can be asked about sleep.

    `on_mains` is None for a machine without a battery, `battery_percent` where it is not told.
    `open_files` is how many files a process may open at most; None is no limit.
    """

    system: str
    sleep: SleepFacts | None
    has_lid: bool
    on_mains: bool | None
    battery_percent: int | None
    time: TimeFacts
    open_files: int | None = None


def read_machine(root: Path, ask: Ask, now: datetime) -> MachineFacts:
    """Read the facts below a root folder (`/`); a file or command that is missing is no fault."""
    supplies = [_Supply.read(folder) for folder in _listed(root / "sys/class/power_supply")]
    batteries = [one for one in supplies if one.kind == "Battery" and one.scope != "Device"]
    mains = [one.online for one in supplies if one.kind in ("Mains", "USB") and one.online]
    return MachineFacts(
        system=platform.system(),
        sleep=_sleep(root, ask) if (root / "run/systemd/system").is_dir() else None,
        has_lid=bool(_listed(root / "proc/acpi/button/lid")),
        on_mains=(bool(mains) or _charging(batteries)) if batteries else None,
        battery_percent=next((one.percent for one in batteries if one.percent is not None), None),
        time=_time(root, ask, now),
        open_files=most_open_files(),
    )


def most_open_files() -> int | None:
    """Return the limit of open files up to which a process may raise its own; None is no limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def ask_command(command: Sequence[str]) -> str | None:
    """Run a command for at most five seconds and return its output, or None (see `Ask`).

    Its words are those of no language: what is read here is in every laptop the same.
    """
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=True,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout


@dataclass(frozen=True)
class _Supply:
    """A power supply as /sys/class/power_supply tells it."""

    kind: str
    scope: str
    online: bool
    status: str
    percent: int | None

    @classmethod
    def read(cls, folder: Path) -> _Supply:
        percent = _text(folder / "capacity")
        return cls(
            _text(folder / "type"),
            _text(folder / "scope"),
            _text(folder / "online") == "1",
            _text(folder / "status"),
            int(percent) if percent.isdigit() else None,
        )


def _charging(batteries: Iterable[_Supply]) -> bool:
    """Tell whether batteries say by themselves that mains feeds them."""
    return any(one.status in ("Charging", "Full", "Not charging") for one in batteries)


def _sleep(root: Path, ask: Ask) -> SleepFacts:
    files = [root / name for name in _LOGIND]
    # A drop-in overrides the main file; of two drop-ins the later name wins, whatever its folder.
    parts = [part for at in _LOGIND_PARTS for part in _listed(root / at / "logind.conf.d")]
    settings: dict[str, str] = {}
    for path in [*files, *sorted(parts, key=lambda path: path.name)]:
        settings |= _assignments(_text(path))
    listing = ask(["systemd-inhibit", "--list", "--no-pager", "--no-legend"]) or ""
    units = [root / "etc/systemd/system" / name for name in _SLEEP_TARGETS]
    return SleepFacts(
        settings=settings,
        inhibitors=tuple(_inhibitors(listing)),
        masked=any(unit.is_symlink() and str(unit.readlink()) == "/dev/null" for unit in units),
    )


def _inhibitors(listing: str) -> Iterable[Inhibitor]:
    for line in listing.splitlines():
        inhibitor = _INHIBITOR.match(line)
        if inhibitor is not None:
            what = frozenset(inhibitor.group(2).split(":"))
            yield Inhibitor(inhibitor.group(1), what, inhibitor.group(3) == "block")


def _time(root: Path, ask: Ask, now: datetime) -> TimeFacts:
    local, tomorrow = now.astimezone(), (now + timedelta(days=1)).astimezone()
    answers = _assignments(ask(["timedatectl", "show"]) or "")
    return TimeFacts(
        zone=local.tzname() or "?",
        offset=local.utcoffset() or timedelta(),
        offset_tomorrow=tomorrow.utcoffset() or timedelta(),
        ntp=_yes(answers.get("NTP")),
        synchronized=_yes(answers.get("NTPSynchronized")),
        steps_any_time=_steps_any_time(root),
    )


def _steps_any_time(root: Path) -> bool:
    """Tell whether chrony runs and may step the clock at any time (`makestep S -1`)."""
    if not (root / "run/chrony/chronyd.pid").exists():
        return False
    words = [line.split() for name in _CHRONY for line in _text(root / name).splitlines()]
    return any(
        len(line) == 3 and line[0] == "makestep" and line[2].startswith("-") for line in words
    )


def _assignments(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith(("#", ";")))
    return {key.strip(): value.strip() for key, sign, value in pairs if sign}


def _yes(value: str | None) -> bool | None:
    return None if value is None else value == "yes"


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
