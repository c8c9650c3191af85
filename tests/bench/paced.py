# SPDX-License-Identifier: Apache-2.0
"""A contestant who fetches images at a fixed rate, and answers each."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

CONNECTIONS = 8


@dataclass
class Outcome:
    """The latencies of requests in ms, from when each was due, and the refusals by status."""

    images_ms: list[float] = field(default_factory=list)
    answers_ms: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def paced_session(
    port: int, token: str, count: int, rate: float, answer: Callable[[int], str]
) -> Outcome:
    """Fetch images 1 to `count`, so many a second, and post the form `answer(image)` for each."""
    outcome = Outcome()
    begun, pause = time.monotonic() + 0.1, threading.Event()
    fields = {"Authorization": f"Bearer {token}"}

    def work(first: int) -> None:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for image in range(first, count + 1, CONNECTIONS):
            due = begun + (image - 1) / rate
            pause.wait(max(0.0, due - time.monotonic()))
            _ask(link, "GET", f"/image/{image}", None, fields, outcome)
            outcome.images_ms.append(1e3 * (time.monotonic() - due))
            asked = time.monotonic()
            _ask(link, "POST", "/result", answer(image), fields | _FORM, outcome)
            outcome.answers_ms.append(1e3 * (time.monotonic() - asked))

    threads = [
        threading.Thread(target=work, args=(number,), name=f"contestant-{number}")
        for number in range(1, CONNECTIONS + 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def _ask(
    link: http.client.HTTPConnection,
    method: str,
    path: str,
    body: str | None,
    fields: dict[str, str],
    outcome: Outcome,
) -> None:
    """Send a request, and note an answer other than 200, or none."""
    try:
        link.request(method, path, body, fields)
        response = link.getresponse()
        response.read()
    except OSError as error:
        outcome.refused[type(error).__name__] += 1
        link.close()
        return
    if response.status != 200:
        outcome.refused[str(response.status)] += 1
