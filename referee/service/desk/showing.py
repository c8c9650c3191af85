# SPDX-License-Identifier: Apache-2.0
"""The showing of a session's images on its lane's display, with a record of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from referee.core.instant import Instant
from referee.errors import InputError, Refusal
from referee.service.desk.logbook import Logbook
from referee.service.display.display import Display
from referee.service.display.scheduler import ShowRequest
from referee.service.setup.contest import Contest
from referee.service.setup.image_files import image_alarm, lacking, require_unchanged
from referee.service.setup.scarcity import scarcity
from referee.service.setup.session_images import frame_tag_of, image_behind
from referee.store.notices import Subject
from referee.store.sessions import SessionRecord
from referee.store.shows import ShowRecord, insert_show
from referee.tracks.camera.code import FrameLabel

if TYPE_CHECKING:
    from referee.service.display.pictures import Picture

_PAINTED = "painted"
_NEVER_SHOWN = "the image cannot be shown"


class Showing:
    """The shows of one lane; safe to use from many threads."""

    def __init__(self, contest: Contest, display: Display, logbook: Logbook) -> None:
        self._contest = contest
        self._display = display
        self._logbook = logbook

    def show(self, session: SessionRecord, image: int, requested: Instant) -> float:
        """Show an image by the contestant's number; return the session time of its paint.

        Raises `Refusal` as `Display.present` does, and with code `image_missing`. Whatever
        happens, a row of the session says so.
        """
        show = ShowRequest(session.session_id, requested.monotonic_s)
        outcome = _NEVER_SHOWN
        try:
            self._present(session, image, show)
            outcome = _PAINTED
        except Refusal as refusal:
            outcome = str(refusal)
            raise
        finally:
            self._record(session, image, show, requested, outcome)
        return self._session_time(session, show.painted_s) or 0.0

    def _present(self, session: SessionRecord, image: int, show: ShowRequest) -> None:
        entry = image_behind(self._contest, session, image)
        tag = frame_tag_of(self._contest, session.session_id)
        # The margins tell the contestant's number, and the size of the file.
        label = FrameLabel(image, entry.width, entry.height, tag)

        def picture_of(number: int) -> Picture:
            require_unchanged(entry)
            return self._display.pictures.frame(Path(entry.path), label, number % 2)

        try:
            self._display.present(show, picture_of)
        except InputError as error:
            lack = scarcity(error.__cause__)
            if lack is not None:
                raise lacking(lack) from error
            self._logbook.notify(
                session.session_id,
                "alarm",
                image_alarm(entry, error),
                Subject(image_id=entry.image_id),
            )
            raise Refusal(
                "image_missing", f"Image {image} cannot be shown: the operator is told."
            ) from error

    def _record(
        self,
        session: SessionRecord,
        image: int,
        show: ShowRequest,
        requested: Instant,
        outcome: str,
    ) -> None:
        screen = show.screen
        # A paint that was reported just after the request had failed does not count.
        painted_s = show.painted_s if outcome == _PAINTED else None
        record = ShowRecord(
            session_id=session.session_id,
            image=image,
            frame=None if show.frame is None else show.frame.number,
            screen=None if screen is None else f"{screen.width_px}x{screen.height_px}",
            utc=requested.utc.isoformat(),
            requested_s=self._session_time(session, show.requested_s) or 0.0,
            announced_s=self._session_time(session, show.announced_s),
            fetched_s=self._session_time(session, show.fetched_s),
            decoded_s=self._session_time(session, show.decoded_s),
            painted_s=self._session_time(session, painted_s),
            outcome=outcome,
        )
        self._logbook.store(lambda connection: insert_show(connection, record))

    def _session_time(self, session: SessionRecord, monotonic_s: float | None) -> float | None:
        started = session.facts.started
        if monotonic_s is None or started is None:
            return None
        return monotonic_s - started.monotonic_s
