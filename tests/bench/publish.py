# SPDX-License-Identifier: Apache-2.0
"""A site's renewals for 10, 50 and 200 teams: time and bytes; and its page from nginx alone.

Each session has a reading a second and an answer. Seconds are those of the processor, so that other
programs change little. `packed` is what a copy that packs sends, or a browser gets: gzip of each
file. The referee is stopped when nginx serves the page, and a browser shows it.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from power.meter import IntegrationState
from referee.core.detections import Detections, pack
from referee.extras.publish.making.site import SiteMaker, event_of
from referee.extras.publish.site_folder import SiteFolder
from referee.store.answers import Answer, insert_answer
from referee.store.sessions import create_session, record_event
from tests.bench.serving_peers import nginx_site
from tests.support.browsing import chromium
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.many_teams import name_of, register_teams, write_result
from tests.support.running import eventually

TEAMS = tuple(map(int, os.environ.get("PUBLISH_BENCH_TEAMS", "10,50,200").split(",")))
IMAGES = 8
SECONDS = 600
RUNNING = 2


@dataclass(frozen=True)
class Cost:
    """What a renewal cost: processor seconds, files, their bytes, and the bytes packed."""

    cpu_s: float
    files: int
    size: int
    packed: int

    def __str__(self) -> str:
        return (
            f"{self.cpu_s:8.2f} s {self.files:5} files {self.size:11,} B {self.packed:10,} packed"
        )


def run() -> None:
    """Print what the renewals of each size of an event cost, and what a viewer gets."""
    for teams in TEAMS:
        with tempfile.TemporaryDirectory() as name:
            _event(Path(name), teams)


def _event(folder: Path, teams: int) -> None:
    clock = FakeClock()
    contest = make_contest(folder, clock, images=IMAGES, mode="event", seconds=SECONDS)
    register_teams(contest, teams)
    for number in range(1, teams):
        _play(contest, number, teams)
    site = folder / "site"
    found = SiteFolder(site, event_of(contest), time.time)
    found.make()
    found.open()
    maker = SiteMaker(contest, found, 10.0, print)

    def renew() -> None:
        clock.advance(10)
        maker.renew()

    def more(what: str, act: Callable[[], object]) -> None:
        act()
        print(f"{teams:4} teams, {what:26} {_cost(site, renew)}", flush=True)

    more("the first time", lambda: None)
    more("nothing is new", lambda: None)
    more("one more result", lambda: _play(contest, teams, teams))
    more(f"{RUNNING} sessions have begun", lambda: _begin(contest))
    more("their figures have moved", lambda: None)
    contest.database.close()
    _page(folder, site, teams)


def _play(contest, number: int, teams: int) -> None:
    """Write a whole session: readings, an answer, energy and score."""
    accuracy = 0.2 + 0.5 * (number * 7919 % teams) / teams
    session = write_result(contest, name_of(number), accuracy, 0.3 + number / 1000)
    found = max(1, round(accuracy * IMAGES))
    rows = [(k, 1, 0.9, k, 2, k + 9, 11) for k in range(1, found + 1)]
    content = pack(Detections.from_rows(rows))
    with contest.database.write() as connection:
        insert_answer(connection, Answer(session, 1.0, "", False, "form", "", found, 0, content))
        connection.executemany(
            "insert into readings (session_id, elapsed_s, monotonic_s, utc, boot_id, voltage_v,"
            " current_a, power_w, energy_wh, integration_s, state, absent, flags)"
            " values (?, ?, ?, 'then', 'boot', 5.0, 0.4, ?, ?, ?, ?, '', '')",
            [
                (
                    session,
                    s,
                    s,
                    1.8 + (s * number % 17) / 20,
                    s / 1800,
                    s,
                    IntegrationState.START.value,
                )
                for s in range(SECONDS)
            ],
        )


def _begin(contest) -> None:
    """Let sessions run; they stay until the end of the bench."""
    for lane in range(1, RUNNING + 1):
        now = contest.clock.now()
        with contest.database.write() as connection:
            number = create_session(
                connection,
                team=name_of(lane),
                length_s=SECONDS,
                order_seed=1,
                now=now,
                lane=lane,
                track=contest.track.name,
            )
            for kind in ("armed", "started"):
                record_event(connection, number, kind, now, actor="Kim")


def _cost(site: Path, renew: Callable[[], object]) -> Cost:
    before = _status(site)
    begun = time.process_time()
    renew()
    cpu_s = time.process_time() - begun
    contents = [path.read_bytes() for path, at in _status(site).items() if before.get(path) != at]
    packed = sum(len(gzip.compress(content)) for content in contents)
    return Cost(cpu_s, len(contents), sum(map(len, contents)), packed)


def _status(site: Path) -> dict[Path, tuple[int, int]]:
    files = (path for path in site.rglob("*") if path.is_file())
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def _page(folder: Path, site: Path, teams: int) -> None:
    """Print what a browser loads from nginx, and when its ranking stands."""
    with nginx_site(folder, site) as port:
        if port is None:
            print("nginx is not installed")
            return
        with chromium() as browser:
            browser.get(f"http://127.0.0.1:{port}/")
            shown = "return document.querySelectorAll('#entries tr[data-team]').length"
            eventually(lambda: browser.execute_script(shown) >= teams, "the ranking")
            loaded = "return performance.getEntriesByType('resource').map((one) => one.toJSON())"
            asked = browser.execute_script(loaded)
    view = json.loads((site / "state.json").read_bytes())["files"]["view"]
    ended_ms = max(one["responseEnd"] for one in asked if view in one["name"])
    pointer = next(one for one in asked if "state.json" in one["name"])
    print(
        f"{teams:4} teams, the page from nginx: {1 + len(asked)} requests, "
        f"{sum(one['transferSize'] for one in asked):,} B packed, ranking after {ended_ms:.0f} ms; "
        f"each look {pointer['transferSize']} B",
        flush=True,
    )
