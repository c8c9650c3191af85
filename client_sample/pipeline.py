# SPDX-License-Identifier: Apache-2.0
"""The stages of the pipelined client: threads that fetch, recognise and post at the same time."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Callable, Counter, Iterator, List, Optional, Sequence, Tuple

from client_sample.channel import Channel
from client_sample.client import ClientError, Detector, Row, Unauthorised, say
from client_sample.session import ContestSession, LostConnection, SessionLink

_PROBLEMS_SAID = 10


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
        link = SessionLink(self._session)
        try:
            for image in self._images(link):
                if not self.images.give(image):
                    break
        finally:
            self.images.finish()
            link.close()

    def _images(self, link: SessionLink) -> Iterator[Tuple[int, bytes]]:
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
                rows = list(detector(image_id, jpeg_bytes))
                with self._lock:
                    self.seen += 1
                if rows and not self.answers.give((image_id, rows)):
                    break
        finally:
            self.answers.finish()

    def _post(self) -> None:
        link = SessionLink(self._session)
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
