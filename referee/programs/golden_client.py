# SPDX-License-Identifier: Apache-2.0
"""The golden client: known detections of known images, through the real programs.

It plays a session against servers, desk, scorer and emulated meter of its own. They are the event's
programs on the event's disk, with the event's track and workers, in a folder of their own. So the
event's database, ranking and meter never see it. The load of the emulated meter is known, so the
verdict is known too.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image

from power.http_request import answered
from referee.errors import RefereeError, Unavailable
from referee.programs.hosting import claimed, hosted
from referee.programs.practice_folder import practice_config
from referee.service.preflight.finding import CheckResult, fail, ok
from referee.service.preflight.slow import GOLDEN
from referee.service.setup.config import Config, ContestSection, ImagesSection
from referee.service.setup.contest_tls import pinned_context
from referee.service.setup.lane_config import MeterSection
from referee.store.database import Database
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import all_sessions
from referee.tracks.loading import load_track
from referee.tracks.track import Delivery

MEAN_AP = 0.8125
"""The golden mAP, exactly: class 1 has AP 7/8 and class 2 has 3/4.

Class 1: three hits, four misses, then the fourth hit: 3/4 + 1/4 * 4/8. Class 2: three hits, and one
object that is never found.
"""

VERDICT = "VALID"

_SIZE = (96, 72)
_OBJECT = (16, 12, 40, 36)  # x, y, width, height: large enough for the plain threshold of 0.5
_MISSED = (56, 36, 39, 35)
_CLASS_OF = {1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2, 7: 2, 8: 2}
# image, class, confidence, found: rows of class 2 go as form fields, as the oldest clients send.
_ROWS = (
    (1, 1, 0.95, True),
    (2, 1, 0.9, True),
    (3, 1, 0.85, True),
    (1, 1, 0.8, True),
    (4, 1, 0.75, False),
    (5, 1, 0.7, True),
    (6, 1, 0.65, False),
    (4, 1, 0.6, True),
    (5, 2, 0.9, True),
    (6, 2, 0.8, True),
    (7, 2, 0.7, True),
    (8, 2, 0.6, False),
)
_SECONDS = 5
_LOAD_W = "5.0"
_TRIES = 3
_ANSWER_S = 20.0
_FORM = "application/x-www-form-urlencoded"
_SCORE_S = 60.0
_LOOK_S = 0.1


@dataclass(frozen=True)
class GoldenRun:
    """What came of a golden session."""

    mean_ap: float
    verdict: str
    reasons: tuple[str, ...]
    seconds: float


def check_golden(config: Config, tell: Callable[[str], None]) -> CheckResult:
    """Play the golden session and compare mAP and verdict; a busy machine gets three tries.

    A verdict tells of the machine's load, so it may differ once. mAP never may.
    """
    played = None
    for _ in range(_TRIES):
        try:
            played = play(config, tell)
        except (RefereeError, OSError) as error:
            remedy = "See 'referee demo' and the logs in data/logs; repair what they name."
            return fail(*GOLDEN, f"it could not play: {error}", remedy)
        if played.mean_ap != MEAN_AP or played.verdict == VERDICT:
            break
    return judge(config, played)


def judge(config: Config, played: GoldenRun | None) -> CheckResult:
    """Compare what came of the golden session with what is known."""
    if played is None:
        raise Unavailable("The golden client has not played.")
    text = f"mAP {played.mean_ap!r}, {played.verdict}, in {played.seconds:.0f} s"
    if _track(config) != config.contest.track:
        text += f"; with the rules of the track {_track(config)}, for this one has no golden score"
    if played.mean_ap != MEAN_AP:
        remedy = "Do not run an event with this program: install it again, and run its tests."
        return fail(*GOLDEN, f"{text}; mAP {MEAN_AP!r} was expected", remedy)
    if played.verdict != VERDICT:
        why = " ".join(played.reasons)
        remedy = "Close other programs: the laptop is too busy to measure. Then check again."
        return fail(*GOLDEN, f"{text}; {VERDICT} was expected. {why}".strip(), remedy)
    return ok(*GOLDEN, f"{text}, as known")


def play(config: Config, tell: Callable[[str], None]) -> GoldenRun:
    """Play one golden session in a folder of its own, and remove the folder."""
    begun = time.monotonic()
    with _folder(config.storage.folder / "golden") as folder:
        golden = _config(config, folder)
        with hosted(golden, tell) as host:
            client = _Client(host.supervisor.contest_url, golden)
            client.login()
            if load_track(golden.contest.track).delivery is not Delivery.SHOWN:
                _compare_images(client, folder)
            client.post("/result", _csv(1), "text/csv")
            client.post("/result", _form(2), _FORM)
            run = _wait_for_score(host.database)
        detail = run.detail
        return GoldenRun(
            mean_ap=float(detail[load_track(golden.contest.track).accuracy.field]),
            verdict=str(detail["verdict"]),
            reasons=tuple(detail.get("reasons", ())),
            seconds=time.monotonic() - begun,
        )


class _Client:
    """A contestant that makes only the requests it needs; each request has an end."""

    def __init__(self, url: str, config: Config) -> None:
        self._url = url
        self._token = ""
        files = config.server.contest_tls
        self._tls = None if files is None else pinned_context(files)

    def login(self) -> None:
        fields = urlencode({"username": "golden client", "password": "practice"})
        self._token = (
            self._send("/login", fields.encode(), {"Content-Type": _FORM}).decode("ascii").strip()
        )

    def get(self, path: str) -> bytes:
        return self._send(path, None, {})

    def post(self, path: str, body: bytes, media_type: str) -> None:
        self._send(path, body, {"Content-Type": media_type})

    def _send(self, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        if self._token:
            headers = headers | {"Authorization": f"Bearer {self._token}"}
        with answered(
            self._url + path,
            timeout_s=_ANSWER_S,
            tls=self._tls,
            method="GET" if body is None else "POST",
            body=body,
            headers=headers,
        ) as answer:
            content = answer.read()
        if answer.status != 200:
            said = content.decode("utf-8", "replace").strip()
            raise Unavailable(f"{path} answered {answer.status}: {said}")
        return content


@contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    """Make an empty folder of this process alone; remove it, and what a killed one left."""
    with claimed(folder):
        _empty(folder)
        try:
            yield folder
        finally:
            _empty(folder)


def _empty(folder: Path) -> None:
    """Remove all but the lock, which other processes may wait for."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".lock":
            path.unlink()


def _config(config: Config, folder: Path) -> Config:
    images = folder / "images"
    images.mkdir()
    for number in _CLASS_OF:
        Image.new("RGB", _SIZE, (20 * number, 90, 200)).save(images / f"{number}.png")
    truth = folder / "ground_truth.json"
    truth.write_text(json.dumps(_truth()), encoding="utf-8")
    return practice_config(
        data=folder,
        contest=ContestSection(
            name="Golden client",
            mode="practice",
            track=_track(config),
            seconds=_SECONDS,
            shuffle=False,
        ),
        images=ImagesSection(images, truth),
        server=replace(
            config.server, contest="127.0.0.1:0", console="127.0.0.1:0", scoreboard=None
        ),
        # The emulated load is at 120 V.
        meter=MeterSection(
            update_interval_s=0.25,
            voltage_range_v=150.0,
            current_range_a=0.5,
            emulated_load=_LOAD_W,
        ),
    )


def _track(config: Config) -> str:
    """Return the event's track, or the network track if the event's has rules of its own."""
    return config.contest.track if config.contest.track in ("network", "camera") else "network"


def _truth() -> dict[str, object]:
    width, height = _SIZE
    return {
        "images": [
            {"id": n, "file_name": f"{n}.png", "width": width, "height": height} for n in _CLASS_OF
        ],
        "categories": [{"id": 1, "name": "first"}, {"id": 2, "name": "second"}],
        "annotations": [
            {"id": n, "image_id": n, "category_id": category, "bbox": list(_OBJECT), "iscrowd": 0}
            | {"area": _OBJECT[2] * _OBJECT[3]}
            for n, category in _CLASS_OF.items()
        ],
    }


def _rows(category: int) -> list[tuple[int, int, float, int, int, int, int]]:
    rows = []
    for image, of, confidence, hits in _ROWS:
        x, y, width, height = _OBJECT if hits else _MISSED
        if of == category:
            rows.append((image, of, confidence, x, y, x + width - 1, y + height - 1))
    return rows


def _csv(category: int) -> bytes:
    lines = (",".join(str(value) for value in row) for row in _rows(category))
    return "\n".join([*lines, ""]).encode("ascii")


def _form(category: int) -> bytes:
    names = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")
    pairs = [
        (name, str(value))
        for row in _rows(category)
        for name, value in zip(names, row, strict=True)
    ]
    return urlencode(pairs).encode("ascii")


def _compare_images(client: _Client, folder: Path) -> None:
    for number in _CLASS_OF:
        if client.get(f"/image/{number}") != (folder / "images" / f"{number}.png").read_bytes():
            raise Unavailable(f"image {number} arrived with other bytes than its file has")


def _wait_for_score(database: Database) -> ScoringRun:
    """Wait until the session is over and scored."""
    deadline = time.monotonic() + _SECONDS + _SCORE_S
    while time.monotonic() < deadline:
        for session in all_sessions(database.connection):
            run = newest_scoring_run(database.connection, session.session_id)
            if run is not None:
                return run
        time.sleep(_LOOK_S)
    raise Unavailable("the session was not scored in time")
