# SPDX-License-Identifier: Apache-2.0
"""The follower of one station: it looks at the feed, and knows how long the station is silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from referee.errors import InputError
from referee.extras.stations.address import StationAddress
from referee.extras.stations.link import FeedRequest
from referee.extras.stations.notification import StationFault, read_notifications
from referee.extras.stations.station_state import SavedState, StationState, after, load, save

# What a station does not number, such as an edit of contest.toml, is noticed after this time.
_WHOLE = timedelta(minutes=10)
# A station without news is written this often: the next board tells since when it is silent.
_SAVE = timedelta(seconds=30)


@dataclass(frozen=True)
class Followed:
    """A station as the board knows it; `fault` says what was wrong at the newest look, or ''."""

    address: StationAddress
    saved: SavedState
    fault: str = "it has not answered yet"


class StationFollower:
    """The follower of a station; one thread calls `look`, any thread reads `followed`.

    `folder` keeps what it knows; None keeps nothing. It never sends anything but questions.
    """

    def __init__(
        self,
        address: StationAddress,
        look: FeedRequest,
        clock: Callable[[], datetime],
        folder: Path | None,
        tell: Callable[[str], object],
    ) -> None:
        self._look, self._clock, self._folder, self._tell = look, clock, folder, tell
        saved = SavedState() if folder is None else load(folder, address.url)
        self._saved: datetime | None = saved.heard
        self._followed = Followed(address, saved)

    @property
    def followed(self) -> Followed:
        """Return the station as it is known now."""
        return self._followed

    def look(self) -> Followed:
        """Ask the station what is new, and return what is known now.

        A look that fails changes nothing of what is known: an answer is taken whole or not at all.
        """
        old = self._followed
        try:
            followed = Followed(old.address, self._asked(old.saved), "")
        except StationFault as error:
            followed = replace(old, fault=str(error))
        self._tell_change(old, followed)
        self._followed = followed
        if not followed.fault:
            self._save(old.saved, followed.saved)
        return followed

    def _asked(self, saved: SavedState) -> SavedState:
        """Return what is known after a look at the feed, from the newest token on if there is one.

        A station that does not know the token has another history: a new event, or a copy from
        before. Then all of it is read, and takes the place of what was known.
        """
        now, known, url = self._clock(), saved.known, self._followed.address.url
        history = known.history
        if known.token is not None:
            answer = self._look(url, known.token)
            if answer.status == 200 and _is_recent(saved.whole, now, _WHOLE):
                notifications = read_notifications(answer.content)
                return replace(saved, known=after(known, notifications), heard=now)
            history += answer.status != 200
        answer = self._look(url, None)
        if answer.status != 200:
            raise StationFault("it refuses to give its feed from the beginning")
        notifications = read_notifications(answer.content)
        return SavedState(after(StationState(history=history), notifications), now, now)

    def _tell_change(self, old: Followed, new: Followed) -> None:
        name = new.address.name
        if new.fault and new.fault != old.fault:
            self._tell(f"{name}: {new.fault}.")
        elif old.fault and not new.fault:
            self._tell(f"{name}: answers.")
        if new.saved.known.history != old.saved.known.history:
            self._tell(
                f"{name}: its records have another history now: another event, or a database that "
                "was restored. The board has begun again with this station."
            )

    def _save(self, old: SavedState, new: SavedState) -> None:
        now = new.heard
        if self._folder is None or now is None:
            return
        changed = new.known != old.known or new.whole != old.whole
        if not changed and _is_recent(self._saved, now, _SAVE):
            return
        try:
            save(self._folder, self._followed.address.url, new)
            self._saved = now
        except InputError as error:
            # The board goes on from memory. A new one would read the station again.
            self._followed = replace(self._followed, fault=f"the board cannot keep it: {error}")


def _is_recent(moment: datetime | None, now: datetime, within: timedelta) -> bool:
    """Tell whether a moment is near; one in the future is none, because somebody set the clock."""
    return moment is not None and timedelta() <= now - moment < within
