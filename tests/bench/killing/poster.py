# SPDX-License-Identifier: Apache-2.0
"""A team's client that fetches and posts without pause, and remembers what it was told."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from referee.service.setup.clock import real_elapsed_s

_ANSWER_S = 15.0
_PAUSE_S = 0.03
_PAUSE = threading.Event()
# A confidence names its post: a whole number over this, which is exact.
_UNIT = 2.0**20
# An answer with no reply is posted again as often as not.
_AGAIN = 0.5

Row = tuple[float, ...]


@dataclass(frozen=True)
class Attempt:
    """One request of a post: when it was sent and answered (seconds of the boot), and the answer.

    `told` is 'stored', 'late', 'refused', or '' where no answer came. `answer` is the number that
    the referee gave to the answer, 0 where it told none.
    """

    post: int
    sent_s: float
    over_s: float
    told: str
    answer: int = 0
    status: int = 0


def rows_of(post: int, images: int) -> list[Row]:
    """Return the boxes of a post, as image, class, confidence and corners; no two are alike."""
    image, confidence = post % images + 1, (post + 1) / _UNIT
    return [
        (image, 1 + k, confidence, k, 2.0, 10.0 + post % 500, 20.0 + k) for k in range(1 + post % 3)
    ]


def post_of(confidence: float) -> int:
    """Return the number of the post with this confidence."""
    return round(confidence * _UNIT) - 1


class Poster:
    """Threads that fetch and post over connections of their own until they are stopped."""

    def __init__(self, address: str, token: str, images: int, connections: int, seed: int) -> None:
        self._host, _, port = address.rpartition(":")
        self._port, self._token, self._images = int(port), token, images
        self._stopping = threading.Event()
        self._numbers: Iterator[int] = count()
        self._attempts: list[list[Attempt]] = [[] for _ in range(connections)]
        self.refused_images: list[tuple[float, int]] = []
        self._threads = [
            threading.Thread(target=self._work, args=(k, seed), name=f"poster-{k}", daemon=True)
            for k in range(connections)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def acknowledged(self) -> bool:
        """Whether an answer was told to be stored, until now."""
        return any(one.told == "stored" for attempts in self._attempts for one in attempts)

    def stop(self) -> list[Attempt]:
        """End the threads, and return all attempts."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        return [attempt for attempts in self._attempts for attempt in attempts]

    def _work(self, number: int, seed: int) -> None:
        chance = random.Random(f"{seed} {number}")
        form = number % 2 == 1
        link = self._link()
        post: int | None = None
        while not self._stopping.is_set():
            if post is None:
                post = next(self._numbers)
            attempt = self._post(link, post, form)
            self._attempts[number].append(attempt)
            if attempt.told or chance.random() > _AGAIN:
                post = None
            if not attempt.told or not self._fetch(link, chance.randrange(self._images) + 1):
                link.close()
                link = self._link()
                self._stopping.wait(_PAUSE_S)
        link.close()

    def _link(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, self._port, timeout=_ANSWER_S)

    def _post(self, link: http.client.HTTPConnection, post: int, form: bool) -> Attempt:
        rows = rows_of(post, self._images)
        body = _form(rows) if form else _csv(rows)
        kind = "application/x-www-form-urlencoded" if form else "text/csv"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        sent_s = real_elapsed_s()
        try:
            link.request("POST", "/result", body, headers)
            response = link.getresponse()
            said = response.read()
        except (OSError, http.client.HTTPException):
            return Attempt(post, sent_s, real_elapsed_s(), "")
        over_s = real_elapsed_s()
        if response.status == 200 and not form:
            receipt = json.loads(said)
            told = "late" if receipt["late"] else "stored"
            return Attempt(post, sent_s, over_s, told, receipt["answer"], 200)
        told = "stored" if response.status == 200 else "refused"
        if b"Too late: the answer is stored" in said:
            told = "late"
        return Attempt(post, sent_s, over_s, told, 0, response.status)

    def _fetch(self, link: http.client.HTTPConnection, image: int) -> bool:
        """Fetch an image; tell whether an answer came."""
        try:
            link.request(
                "GET", f"/image/{image}", headers={"Authorization": f"Bearer {self._token}"}
            )
            response = link.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):
            return False
        if response.status != 200:
            self.refused_images.append((real_elapsed_s(), response.status))
        return True


def log_in(address: str, team: str, password: str, patience_s: float) -> str:
    """Log in as often as it takes, as a client in the hall does, and return the token."""
    host, _, port = address.rpartition(":")
    body = f"username={team}&password={password}"
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    deadline, said = time.monotonic() + patience_s, "nothing"
    while time.monotonic() < deadline:
        link = http.client.HTTPConnection(host, int(port), timeout=70)
        try:
            link.request("POST", "/login", body, kind)
            response = link.getresponse()
            said = response.read().decode()
            if response.status == 200:
                return said
        except (OSError, http.client.HTTPException) as error:
            said = repr(error)
        finally:
            link.close()
        _PAUSE.wait(_PAUSE_S)
    raise TimeoutError(f"no login within {patience_s:.0f} s: {said}")


def _csv(rows: list[Row]) -> str:
    return "".join(",".join(f"{value!r}" for value in row) + "\n" for row in rows)


_NAMES = ("image_name", "CLASS_ID", "confidence", "xmin", "ymin", "xmax", "ymax")


def _form(rows: list[Row]) -> str:
    return "&".join(
        f"{name}={value!r}" for row in rows for name, value in zip(_NAMES, row, strict=True)
    )
