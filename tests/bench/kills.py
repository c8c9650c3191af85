# SPDX-License-Identifier: Apache-2.0
"""300 kills at random moments of real sessions: what is lost, moved, wrong, or left unscored?

`python -m tests.bench.kills --kills 30 --seed 2` plays others. As root it cuts the power of a file
system too.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.bench.killing.hall import Hall, open_hall
from tests.bench.killing.plan import Target, plan_of
from tests.bench.killing.session import Played, play

KILLS, SEED = 300, 14
_A_SESSION = 10
_LENGTHS_S = (8, 10, 12, 15)


def run(kills: int = KILLS, seed: int = SEED) -> None:
    """Play, kill, and print."""
    print(f"load {os.getloadavg()[0]:.2f}, {os.cpu_count()} processors, seed {seed}")
    played: list[Played] = []
    for turn, length_s in enumerate(_LENGTHS_S):
        share = kills * (turn + 1) // len(_LENGTHS_S) - kills * turn // len(_LENGTHS_S)
        played += play_block(length_s, share, seed + turn)
    report(played)


def play_block(length_s: int, kills: int, seed: int) -> list[Played]:
    """Play sessions of one length, one after the other, until there were so many kills."""
    sessions = -(-kills // _A_SESSION)
    with (
        tempfile.TemporaryDirectory() as name,
        open_hall(Path(name), length_s, sessions, seed) as hall,
    ):
        return [_play(hall, number, kills, sessions, seed) for number in range(sessions)]


def _play(hall: Hall, number: int, kills: int, sessions: int, seed: int) -> Played:
    chance = random.Random(f"{seed} {number}")
    count = kills * (number + 1) // sessions - kills * number // sessions
    without = [Target.POWER] if hall.disk is None else []
    length_s = float(hall.config.contest.seconds)
    plan = plan_of(chance, length_s, count, without)
    one = Played(0, length_s)
    try:
        play(hall, f"team{number}", plan, chance, one)
    except Exception as error:  # The next session must still be played.
        one.faults.append(f"the session did not go through: {error!r}")
    one.faults += [f"a start was refused: {text}" for text in hall.refused_starts]
    hall.refused_starts.clear()
    hits = ", ".join(
        f"{kill.target.value} {kill.moment.value}{kill.seconds:+.2f}" for kill, _ in one.kills
    )
    print(
        f"{length_s:.0f} s, session {one.session}: {one.acknowledged} acknowledged, {one.dark} in "
        f"the dark ({one.dark_lost} not stored), {one.verdict} ({' '.join(one.reasons)}), off by "
        f"{one.energy_error_wh * 1e6:+.1f} µWh (stated {one.uncertainty_wh * 1e6:.1f}), end "
        f"recorded {one.recorded_s * 1e3:+.0f} ms, desk {'lived' if one.desk_lived else 'dead'}, "
        f"load {one.load} [{hits}]",
        flush=True,
    )
    for fault in one.faults:
        print(f"    FAULT: {fault}", flush=True)
    return one


def report(played: Sequence[Played]) -> None:
    """Print the table of all sessions."""
    hits = Counter(kill.target for one in played for kill, _ in one.kills)
    verdicts = Counter(one.verdict for one in played)
    lived = [one for one in played if one.desk_lived]
    dead = [one for one in played if not one.desk_lived]
    print(f"\n{sum(hits.values())} kills in {len(played)} sessions")
    for target in Target:
        print(f"  {target.value:40}{hits[target]:8}")
    rows = [
        ("answers acknowledged", sum(one.acknowledged for one in played)),
        ("  told that they are late", sum(one.late for one in played)),
        ("  posts without an answer", sum(one.unanswered for one in played)),
        ("acknowledged answers lost", sum(one.lost for one in played)),
        ("replies after a power cut", sum(one.dark for one in played)),
        ("  of them acknowledged, and not stored", sum(one.dark_lost for one in played)),
        ("sessions that end unscored", sum(not one.scored for one in played)),
        *((f"verdict {name}", count) for name, count in sorted(verdicts.items())),
        ("wrong VALID", sum(one.wrong_valid for one in played)),
        ("other faults", sum(len(one.faults) - one.lost for one in played)),
    ]
    for name, value in rows:
        print(f"  {name:40}{value:8}")
    measured = [one for one in played if one.uncertainty_wh]
    errors = [abs(one.energy_error_wh) / one.uncertainty_wh for one in measured]
    part = f"{100 * max(errors, default=0.0):.3f} % of what is stated, of {len(measured)}"
    print(f"  {'largest error of an energy':40}{part}")
    error_ms = 1e3 * max((abs(one.ended_s) for one in played), default=0.0)
    print(f"  {'end against the deadline, at most':40}{error_ms:8.3f} ms")
    for name, group in (("at work", lived), ("dead", dead)):
        late = sorted(1e3 * one.recorded_s for one in group)
        if late:
            text = f"desk {name} at the deadline ({len(late)})"
            middle = late[len(late) // 2]
            print(f"  {text:40}{middle:8.0f} ms until the record, at most {late[-1]:.0f}")
    loads = sorted(float(one.load) for one in played if one.load)
    if loads:
        print(f"load at the ends of the sessions {loads[0]} to {loads[-1]}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run with the numbers of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="number of kills (default 300)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the plan (default 14)")
    given = parser.parse_args(arguments)
    run(given.kills, given.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
