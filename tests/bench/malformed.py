# SPDX-License-Identifier: Apache-2.0
"""Malformed requests by a grammar: every route of three servers, in each state of a session.

Each request has a number: `python -m tests.bench.malformed --only N` sends it again, alone.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.bench.malformed_answers import Answer, exchange, faults_of
from tests.bench.malformed_arena import Arena, State, arena
from tests.bench.malformed_requests import make_request
from tests.bench.malformed_routes import all_routes

COUNT, SEED = 200_000, 14
# The states take turns: these many requests each.
_TURNS: tuple[tuple[State, int], ...] = (("before", 200), ("running", 2000), ("after", 300))
_ROUND = sum(length for _, length in _TURNS)
# So many go out between two looks at the servers. Each server gets its own one after another.
_AT_ONCE = 100
_SHOWN = 300


@dataclass
class Figures:
    """What was seen so far: `memory` has a row for each tenth of the requests."""

    sent: int = 0
    wrong: int = 0
    slowest_s: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    memory: list[dict[str, float]] = field(default_factory=list)

    def show(self, seconds: float) -> None:
        """Print all of it."""
        rate = self.sent / seconds
        print(f"{self.sent} requests of {len(all_routes())} routes, {rate:.0f} a second")
        print(f"statuses: {dict(sorted(self.statuses.items()))}; 0 is a connection closed at once")
        print(f"slowest answer {self.slowest_s:.2f} s; wrong answers: {self.wrong}")
        print("memory in MB, at the start, after each tenth, and at the end:")
        for program in self.memory[0]:
            row = "".join(f"{found.get(program, 0):8.0f}" for found in self.memory)
            print(f"  {program:12}{row}")


def run(
    count: int = COUNT,
    seed: int = SEED,
    first: int = 0,
    leave_out: Sequence[str] = (),
) -> int:
    """Send the requests, and print what was wrong; return how many were. Ctrl-C ends it early."""
    figures = Figures()
    with arena(leave_out) as site, ThreadPoolExecutor(len(site.hosts)) as pool:
        begun = time.monotonic()
        try:
            _send(pool, site, figures, range(first, first + count), seed)
        except KeyboardInterrupt:
            print("stopped early")
        figures.memory.append(site.memory_mb())
        figures.show(time.monotonic() - begun)
    return figures.wrong


def _send(
    pool: ThreadPoolExecutor, site: Arena, figures: Figures, numbers: range, seed: int
) -> None:
    state: State | None = None
    for start in numbers[::_AT_ONCE]:
        if state != state_of(start):
            state = state_of(start)
            site.enter(state)
        if start - numbers.start >= len(figures.memory) * len(numbers) / 10:
            figures.memory.append(site.memory_mb())
        some = range(start, min(start + _AT_ONCE, numbers.stop))
        for number, answer, faults in _ask_some(pool, site, some, seed):
            figures.sent += 1
            figures.statuses[answer.status] += 1
            figures.slowest_s = max(figures.slowest_s, answer.seconds)
            figures.wrong += bool(faults)
            if faults:
                _tell(site, number, seed, answer, faults)
        for fault in site.is_well(state):
            figures.wrong += 1
            print(f"before {some.stop}: {fault}", flush=True)


def state_of(number: int) -> State:
    """Return the session's state for a request."""
    place = number % _ROUND
    for state, length in _TURNS:
        if place < length:
            return state
        place -= length
    raise AssertionError("the turns fill the round")


def _ask_some(
    pool: ThreadPoolExecutor, site: Arena, numbers: range, seed: int
) -> Iterator[tuple[int, Answer, list[str]]]:
    """Send requests to the three servers at once, each server's in order."""
    of_server: dict[str, list[int]] = {name: [] for name in site.hosts}
    for number in numbers:
        server = make_request(number, seed, site.keys(), site.hosts)[0]
        if server not in site.left_out:
            of_server[server].append(number)

    def ask_one_server(mine: list[int]) -> list[tuple[int, Answer, list[str]]]:
        return [(number, *ask(site, number, seed)) for number in mine]

    for answered in pool.map(ask_one_server, of_server.values()):
        yield from answered


def ask(site: Arena, number: int, seed: int) -> tuple[Answer, list[str]]:
    """Send one request; return its answer and what is wrong with it."""
    server, raw = make_request(number, seed, site.keys(), site.hosts)
    before = site.facts(server)
    answer = exchange(site.address(server), raw)
    faults = faults_of(raw, answer)
    # An answer after the end is stored, and its client is told 401, as the old referee told it.
    if answer.status >= 400 and b"Too late" not in answer.received:
        after = site.facts(server)
        changed = [name for name in before if before[name] != after[name]]
        if changed:
            faults.append(f"refused, and yet {', '.join(changed)} changed")
    return answer, faults


def _tell(site: Arena, number: int, seed: int, answer: Answer, faults: list[str]) -> None:
    server, raw = make_request(number, seed, site.keys(), site.hosts)
    print(f"request {number} to the {server}: {'; '.join(faults)}")
    print(f"  sent      {raw[:_SHOWN]!r}\n  received  {answer.received[:_SHOWN]!r}", flush=True)


def main() -> int:
    """Send all requests, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="how many requests")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed, other requests")
    parser.add_argument(
        "--leave-out",
        nargs="*",
        default=(),
        choices=("contest", "console", "scoreboard"),
        help="the servers that get no requests; on a busy machine the scoreboard takes minutes",
    )
    parser.add_argument("--only", type=int, help="send this one alone, and print all of it")
    args = parser.parse_args()
    if args.only is None:
        wrong = run(args.count, args.seed, args.first, args.leave_out)
        return int(wrong > 0)
    with arena() as site:
        site.enter("running")
        site.enter(state_of(args.only))
        server, raw = make_request(args.only, args.seed, site.keys(), site.hosts)
        answer, faults = ask(site, args.only, args.seed)
        print(
            f"{server}: {raw!r}\n\n{answer.received!r}\n\n{'; '.join(faults) or 'as it should be'}"
        )
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
