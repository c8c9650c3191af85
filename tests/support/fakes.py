# SPDX-License-Identifier: Apache-2.0
"""What the use cases are given in tests: a clock, a meter in memory, a small contest."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from PIL import Image

from power.errors import MeterBusy, MeterError, MeterUnreachable
from power.meter import Identity, IntegrationStart, IntegrationState, MeterSettings, Reading
from referee.core.instant import Instant, shifted
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.metering import LinkState, Metering
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest, prepare_contest
from referee.store.database import Database
from referee.store.images import ImageEntry, Manifest, replace_manifest

BOUND_S = 20.0
_LOOK_S = 0.005
# Each grey has a time of its own: by size and time the referee knows a file again.
_WRITTEN_NS = 1_700_000_000_000_000_000


def eventually(predicate: Callable[[], object], bound_s: float = BOUND_S) -> None:
    """Wait until the predicate holds; fail when it does not within a generous bound."""
    pause = threading.Event()
    looks = int(bound_s / _LOOK_S)
    for _ in range(looks):
        if predicate():
            return
        pause.wait(_LOOK_S)
    raise AssertionError(f"this did not come about within {bound_s:g} s")


class FakeClock:
    """A clock that stands still until it is told to go on; safe to read from many threads."""

    def __init__(self, now: Instant | None = None) -> None:
        self._now = now or Instant(5000.0, datetime(2026, 6, 7, 12, tzinfo=UTC), "this boot")
        self._lock = threading.Lock()

    def now(self) -> Instant:
        """Return the present instant."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Go on by this many seconds."""
        with self._lock:
            self._now = shifted(self._now, seconds)


class FakeMeter:
    """A meter that integrates a constant power over a fake clock, with faults on request.

    `open` is what makes a link; the instrument itself lives on when a link is closed. While
    `lost` is set nothing answers. `fail_start` and `fail_prepare` are raised by those calls.
    `crash` is raised by a reading, as a mistake in a driver would be. `reading_takes_s` moves the
    clock on at each reading, so that a session runs by itself. `calls` names what was asked,
    readings apart.
    """

    IDENTITY = Identity("YOKOGAWA", "WT310E", "C2QJ12345V", "F1.04")

    def __init__(self, clock: FakeClock, power_w: float = 5.0, reading_takes_s: float = 0.0):
        self.clock = clock
        self.power_w = power_w
        self.reading_takes_s = reading_takes_s
        self.lost = False
        self.fail_start: MeterError | None = None
        self.fail_prepare: MeterError | None = None
        self.crash: Exception | None = None
        self.calls: list[str] = []
        self.settings = MeterSettings(timer_s=0)
        self._started_s: float | None = None
        self._stopped_s: float | None = None

    def open(self) -> FakeMeter:
        """Make a link to the instrument."""
        self._answer("open")
        return self

    @property
    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        if self._started_s is None:
            return IntegrationState.RESET
        if self._stopped_s is not None:
            return IntegrationState.STOP
        over = 0 < self.settings.timer_s <= self.clock.now().monotonic_s - self._started_s
        return IntegrationState.TIMEUP if over else IntegrationState.START

    @property
    def integration_s(self) -> float:
        """Return for how long it has integrated."""
        if self._started_s is None:
            return 0.0
        end_s = self.clock.now().monotonic_s if self._stopped_s is None else self._stopped_s
        elapsed = end_s - self._started_s
        return min(elapsed, self.settings.timer_s) if self.settings.timer_s else elapsed

    @property
    def energy_wh(self) -> float:
        """Return what the integrator holds."""
        return self.power_w * self.integration_s / 3600

    def identify(self) -> Identity:
        """Return a WT310E."""
        self._answer("identify")
        return self.IDENTITY

    def prepare(self, settings: MeterSettings) -> MeterSettings:
        """Reset, and keep the settings."""
        self._answer("prepare")
        if self.fail_prepare is not None:
            raise self.fail_prepare
        if self.state is IntegrationState.START:
            raise MeterBusy("An integration runs.")
        self.settings, self._started_s, self._stopped_s = settings, None, None
        return settings

    def start(self) -> IntegrationStart:
        """Start at the clock's present instant."""
        self._answer("start")
        if self.fail_start is not None:
            raise self.fail_start
        now_s = self.clock.now().monotonic_s
        self._started_s, self._stopped_s = now_s, None
        return IntegrationStart(now_s, now_s, now_s)

    def stop(self) -> IntegrationState:
        """End the integration, unless its timer has done so."""
        self._answer("stop")
        if self.state is IntegrationState.START:
            self._stopped_s = self.clock.now().monotonic_s
        return self.state

    def attach(self) -> IntegrationState:
        """Change nothing."""
        self._answer("attach")
        return self.state

    def arrange(self) -> None:
        """Do nothing: every value is sent."""
        self._answer("arrange")

    def read(self) -> Reading:
        """Return one sample."""
        if self.lost:
            raise MeterUnreachable("No link to the meter.")
        if self.crash is not None:
            raise self.crash
        self.clock.advance(self.reading_takes_s)
        now = self.clock.now()
        return Reading(
            monotonic_s=now.monotonic_s,
            utc=now.utc,
            voltage_v=5.0,
            current_a=self.power_w / 5,
            power_w=self.power_w,
            energy_wh=self.energy_wh,
            integration_s=self.integration_s,
            state=self.state,
            voltage_range_v=self.settings.voltage_range_v,
            current_range_a=self.settings.current_range_a,
        )

    def close(self) -> None:
        """Release the link; the instrument goes on."""
        self.calls.append("close")

    def _answer(self, call: str) -> None:
        self.calls.append(call)
        if self.lost:
            raise MeterUnreachable("No link to the meter.")


SETTINGS = MeterSettings(
    timer_s=0, update_interval_s=0.1, voltage_range_v=15.0, current_range_a=5.0
)
"""Fixed ranges, and the shortest interval: a final reading takes 0.1 s."""


RESOURCE = "TCPIP::192.0.2.7::inst0::INSTR"
"""The resource in the configurations of tests: fakes stand in its place."""


def making(meter):
    """Return what makes the owner of this meter, or of none, for a lane."""
    return partial(Metering, None if meter is None else meter.open, SETTINGS)


@contextmanager
def running_desk(contest, *meters):
    """Run a control desk with a lane for each of these meters until the block ends.

    A lane whose meter is None runs without one.
    """
    desk = ControlDesk(contest, [making(meter) for meter in meters])
    desk.start()
    try:
        for lane, meter in zip(desk.lanes, meters, strict=True):
            if meter is not None and not meter.lost:
                eventually(lambda lane=lane: lane.metering.status.link is LinkState.OK)
        yield desk
    finally:
        desk.close()


def write_images(folder: Path, names, size=(32, 24)) -> None:
    """Write a small JPEG of a different grey under each name."""
    folder.mkdir(exist_ok=True)
    for shade, name in enumerate(names):
        path = folder / name
        path.write_bytes(_grey(shade % 256, size, path.suffix.lower()))
        os.utime(path, ns=(_WRITTEN_NS + shade, _WRITTEN_NS + shade))


@cache
def _grey(shade: int, size, suffix: str) -> bytes:
    """Return an image file; it is drawn once for the hundreds of contests that show it."""
    file = io.BytesIO()
    Image.new("RGB", size, (shade, 90, 200)).save(file, Image.registered_extensions()[suffix])
    return file.getvalue()


def write_truth(path: Path, images, size=(32, 24)) -> None:
    """Write COCO ground truth: a box of class 1 in each image, (own id, file name) each."""
    document = {
        "images": [
            {"id": own, "file_name": name, "width": size[0], "height": size[1]}
            for own, name in images
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": n, "image_id": own, "category_id": 1, "bbox": [n, 2, 10, 10], "iscrowd": 0}
            | {"area": 100}
            for n, (own, _) in enumerate(images, 1)
        ],
    }
    path.write_text(json.dumps(document))


def write_config(folder: Path, **contest) -> Path:
    """Write a configuration for images and truth that stand beside it, with a real meter."""
    lines = ["[contest]", *(f"{key} = {json.dumps(value)}" for key, value in contest.items())]
    lines += ["[images]", 'folder = "images"', 'ground_truth = "truth.json"']
    lines += ["[meter]", f'resource = "{RESOURCE}"']
    path = folder / "contest.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def make_contest(folder: Path, clock=None, *, images: int = 4, **contest):
    """Prepare a contest of a few images; close its database in the end."""
    names = [f"{number}.jpg" for number in range(1, images + 1)]
    write_images(folder / "images", names)
    write_truth(folder / "truth.json", list(enumerate(names, 1)))
    config = load_config(write_config(folder, **({"shuffle": False} | contest)))
    _remember_images(config, _KNOWN.get(images, ()))
    database, manifest = prepare_contest(config)
    _KNOWN[images] = manifest.images
    database.close()
    return open_contest(config, clock)


_KNOWN: dict[int, tuple[ImageEntry, ...]] = {}


def _remember_images(config, entries) -> None:
    """Store what an earlier contest found in the same images: they need not be read again."""
    config.storage.folder.mkdir(parents=True, exist_ok=True)
    moved = [replace(e, path=str(config.images.folder / Path(e.path).name)) for e in entries]
    database = Database(config.database)
    database.migrate()
    with database.write() as connection:
        replace_manifest(connection, Manifest(tuple(moved), {}, {}))
    database.close()
