# SPDX-License-Identifier: Apache-2.0
"""Malformed requests by a grammar: every route of three servers, in each state of a session.

Each request has a number: `python -m tests.bench.malformed --only N` sends it again, alone.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

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


def run(count: int = COUNT, seed: int = SEED, worker: str = "gevent", first: int = 0) -> int:
    """Send the requests, and print what was wrong; return how many were."""
    wrong, statuses, slowest_s = 0, Counter[int](), 0.0
    with arena(worker) as site, ThreadPoolExecutor(len(site.hosts)) as pool:
        begun, memory = time.monotonic(), []
        state: State | None = None
        for start in range(first, first + count, _AT_ONCE):
            if state != state_of(start):
                state = state_of(start)
                site.enter(state)
            if start - first >= len(memory) * count / 10:
                memory.append(site.memory_mb())
            for number, answer, faults in _ask_some(
                pool, site, range(start, start + _AT_ONCE), seed
            ):
                wrong += bool(faults)
                statuses[answer.status] += 1
                slowest_s = max(slowest_s, answer.seconds)
                if faults:
                    _tell(site, number, seed, answer, faults)
            for fault in site.is_well(state):
                wrong += 1
                print(f"after {start + _AT_ONCE - 1}: {fault}", flush=True)
        memory.append(site.memory_mb())
        seconds = time.monotonic() - begun
    print(f"{count} requests of {len(all_routes())} routes, {count / seconds:.0f} a second")
    print(f"statuses: {dict(sorted(statuses.items()))}; 0 is a connection closed without a head")
    print(f"slowest answer {slowest_s:.2f} s; wrong answers: {wrong}")
    print("memory in MB, at the start, after each tenth, and at the end:")
    for program in memory[0]:
        print(f"  {program:12}" + "".join(f"{row.get(program, 0):8.0f}" for row in memory))
    return wrong


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
        of_server[make_request(number, seed, site.keys(), site.hosts)[0]].append(number)

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
    parser.add_argument("--worker", choices=("gevent", "gthread"), default="gevent")
    parser.add_argument("--only", type=int, help="send this one alone, and print all of it")
    args = parser.parse_args()
    if args.only is None:
        return int(run(args.count, args.seed, args.worker, args.first) > 0)
    with arena(args.worker) as site:
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
