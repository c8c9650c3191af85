# SPDX-License-Identifier: Apache-2.0
"""The stages of the pipelined client: threads that fetch, recognise and post at the same time."""

from __future__ import annotations

import collections
import threading
import time
from functools import partial
from typing import (
    Callable,
    Counter,
    Deque,
    Generic,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

from client_sample.client import ClientError, Detector, Row, Unauthorised, rows_of, say
from client_sample.session import ContestSession, LostConnection, SessionConnection

_PROBLEMS_SAID = 10

Item = TypeVar("Item")


class Channel(Generic[Item]):
    """A queue between threads; at most `room` items wait in it.

    Each of the `givers` calls `finish` after its last item. When all have finished, the takers get
    the remaining items and then empty lists. `abandon` ends both sides at once and drops the
    waiting items.
    """

    def __init__(self, room: int, givers: int = 1) -> None:
        self._room = room
        self._givers = givers
        self._items: Deque[Item] = collections.deque()
        self._abandoned = False
        self._changed = threading.Condition()
        self.starved_s = 0.0  # seconds that all takers together have waited

    def __len__(self) -> int:
        """Return the number of waiting items."""
        return len(self._items)

    def give(self, item: Item) -> bool:
        """Wait for room and put an item in; return False if the queue is abandoned."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._items) < self._room or self._abandoned)
            if not self._abandoned:
                self._items.append(item)
                self._changed.notify_all()
            return not self._abandoned

    def __iter__(self) -> Iterator[Item]:
        """Take items one by one until the end."""
        while True:
            items = self.take()
            if not items:
                return
            yield items[0]

    def take(self, most: int = 1) -> List[Item]:
        """Wait for an item, then return up to `most` items; an empty list means the end."""
        with self._changed:
            if not self._ready():
                started = time.monotonic()
                self._changed.wait_for(self._ready)
                self.starved_s += time.monotonic() - started
            items = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._changed.notify_all()
            return items

    def finish(self) -> None:
        """Say that one giver is done."""
        with self._changed:
            self._givers -= 1
            self._changed.notify_all()

    def abandon(self) -> None:
        """Drop the waiting items and wake all waiting threads."""
        with self._changed:
            self._abandoned = True
            self._items.clear()
            self._changed.notify_all()

    def _ready(self) -> bool:
        return bool(self._items) or self._abandoned or self._givers <= 0


class Pipeline:
    """The stages of one session, with public counters of images, boxes and posts.

    Each of the `detectors` gets a thread of its own. `ahead` bounds the images that wait for a
    detector, and also the answers that wait to be posted. `batch` bounds the images in one post.
    """

    def __init__(
        self,
        session: ContestSession,
        detectors: Sequence[Detector],
        *,
        by_hundreds: bool = False,
        fetchers: int = 2,
        ahead: int = 200,
        batch: int = 100,
    ) -> None:
        self._session = session
        self._by_hundreds = by_hundreds
        self._batch = batch
        self._first_ids = iter(range(1, session.images + 1, 100 if by_hundreds else 1))
        self._lock = threading.Lock()
        self.images: Channel[Tuple[int, bytes]] = Channel(ahead, givers=fetchers)
        self.answers: Channel[Tuple[int, List[Row]]] = Channel(ahead, givers=len(detectors))
        self.seen = self.boxes = self.posts = 0
        self.flagged: Counter[str] = Counter()
        self.problems: List[str] = []
        self.error: Optional[Exception] = None
        self.session_over = False
        stages: List[Tuple[str, Callable[[], None]]] = [("post", self._post)]
        stages += [("fetch", self._fetch)] * fetchers
        stages += [("detect", partial(self._recognise, detector)) for detector in detectors]
        self.threads = [
            threading.Thread(target=self._guard, args=stage, name=f"client-{stage[0]}", daemon=True)
            for stage in stages
        ]

    def start(self) -> None:
        """Start all stages."""
        for thread in self.threads:
            thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds`; return whether all stages have ended."""
        end = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)

    def stop_fetching(self) -> None:
        """Fetch no more images; answers of fetched images are still posted."""
        self.images.abandon()

    def stop(self) -> None:
        """Stop every stage after the answer to its present request."""
        self._session.stopped.set()
        self.images.abandon()
        self.answers.abandon()

    def _guard(self, name: str, stage: Callable[[], None]) -> None:
        try:
            stage()
        except Unauthorised:
            self.session_over = True
            self.stop()
        except Exception as error:  # the main thread waits for this one and reports the error
            if not self._session.stopped.is_set():
                self.error = self.error or error
            self.stop_fetching()
            if name == "post":
                self.stop()

    def _fetch(self) -> None:
        link = SessionConnection(self._session)
        try:
            for image in self._images(link):
                if not self.images.give(image):
                    break
        finally:
            self.images.finish()
            link.close()

    def _images(self, link: SessionConnection) -> Iterator[Tuple[int, bytes]]:
        while True:
            with self._lock:
                first_id = next(self._first_ids, 0)
            if not first_id:
                return
            try:
                if self._by_hundreds:
                    yield from link.archive(first_id).items()
                else:
                    yield first_id, link.image(first_id)
            except (Unauthorised, LostConnection):
                raise
            except ClientError as error:
                self._complain(str(error))  # skip this image and go on with the others

    def _recognise(self, detector: Detector) -> None:
        try:
            for image_id, jpeg_bytes in self.images:
                rows = rows_of(detector, image_id, jpeg_bytes)
                with self._lock:
                    self.seen += 1
                if rows and not self.answers.give((image_id, rows)):
                    break
        finally:
            self.answers.finish()

    def _post(self) -> None:
        link = SessionConnection(self._session)
        try:
            for answers in iter(lambda: self.answers.take(self._batch), []):
                try:
                    receipt = link.post(answers)
                except (Unauthorised, LostConnection):
                    raise
                except ClientError as error:
                    self._complain(str(error))
                    continue
                if receipt.get("late"):
                    raise Unauthorised("the answer came too late")
                self.posts += 1
                self.boxes += sum(len(rows) for _, rows in answers)
                self.flagged.update(flag["reason"] for flag in receipt.get("flagged", ()))
        finally:
            link.close()

    def _complain(self, text: str) -> None:
        with self._lock:
            self.problems.append(text)
        if len(self.problems) <= _PROBLEMS_SAID:
            say(text)
