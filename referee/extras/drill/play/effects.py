# SPDX-License-Identifier: Apache-2.0
"""The effect of each fault on the scene: how it begins, how the drill knows its end, how to end it.

Each effect is three functions of the scene and the session. `over` says how the fault was over, and
'' while it lasts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from referee.core.states import SessionState, state_of
from referee.extras.drill.play.host import CAN_FILL_DISK
from referee.extras.drill.play.scene import DrillScene
from referee.extras.drill.rules.faults import FAULTS, DrillFault
from referee.service.setup.session_images import image_behind
from referee.store.requests import count_fetched_images, requests_of
from referee.store.sessions import SessionRecord, load_session

# How long the team of the fault wifi-drop has no network.
_OUT_S = 10.0
# The missing image is so far ahead of the newest one that was fetched.
_AHEAD = 2
# A killed program may still answer for a moment.
_SETTLE_S = 1.5

BY_HAND, PASSED, SESSION_OVER = "by hand", "it passed by itself", "its session was over"
"""How a fault was over."""


@dataclass
class Effect:
    """A fault that has begun in a session; `begun_s` is monotonic."""

    fault: DrillFault
    scene: DrillScene
    session: SessionRecord
    begun_s: float
    session_over_s: float = 0.0

    @property
    def is_worn_out(self) -> bool:
        """Tell whether nobody has ended the fault for so long that the drill goes on without."""
        if not self.fault.after_session:
            return self.age_s > self.fault.lasts_s
        if not self.session_is_over:
            return False
        self.session_over_s = self.session_over_s or time.monotonic()
        return time.monotonic() - self.session_over_s > self.fault.lasts_s

    @property
    def age_s(self) -> float:
        """Return how long the fault has lasted."""
        return time.monotonic() - self.begun_s

    def over(self) -> str:
        """Return how the fault was over, or '' while it lasts."""
        return EFFECTS[self.fault.name].over(self)

    def end(self) -> None:
        """End the fault without anybody's hands."""
        EFFECTS[self.fault.name].end(self)

    @property
    def session_is_over(self) -> bool:
        """Tell whether the session neither is armed nor runs."""
        contest = self.scene.contest
        session = load_session(contest.database.connection, self.session.session_id)
        state = state_of(session.facts, contest.clock.now())
        return state not in (SessionState.ARMED, SessionState.RUNNING)


@dataclass(frozen=True)
class _Effect:
    begin: Callable[[Effect], None]
    over: Callable[[Effect], str]
    end: Callable[[Effect], None]


def begin(fault: DrillFault, scene: DrillScene, session: SessionRecord) -> Effect:
    """Inject a fault into a running session."""
    effect = Effect(fault, scene, session, time.monotonic())
    EFFECTS[fault.name].begin(effect)
    return effect


def possible() -> list[DrillFault]:
    """Return the faults that can be injected on this machine."""
    return [fault for fault in FAULTS if CAN_FILL_DISK or fault.name != "disk-full"]


def _nothing(effect: Effect) -> None:
    """Do nothing: what has begun passes by itself, or stays."""


def _meter(what: str) -> Callable[[Effect], None]:
    def act(effect: Effect) -> None:
        getattr(effect.scene.meters[effect.session.lane], what)()

    return act


def _by_hand(is_wrong: Callable[[Effect], bool]) -> Callable[[Effect], str]:
    return lambda effect: "" if is_wrong(effect) else BY_HAND


def _session_over(effect: Effect) -> str:
    return SESSION_OVER if effect.session_is_over else ""


def _press_stop(effect: Effect) -> None:
    effect.scene.meters[effect.session.lane].press("STOP")


def _unloaded(effect: Effect) -> str:
    if not effect.scene.meters[effect.session.lane].unloaded:
        return BY_HAND
    if effect.session_is_over:
        effect.end()  # The next team's device is plugged in.
        return SESSION_OVER
    return ""


def _over_range(effect: Effect) -> None:
    effect.scene.meters[effect.session.lane].go_over_range(effect.fault.lasts_s)


def _after_a_while(effect: Effect) -> str:
    return PASSED if effect.age_s >= effect.fault.lasts_s else ""


def _disturb(how: str, *, by_another: bool = False) -> Callable[[Effect], None]:
    def act(effect: Effect) -> None:
        teams, session = effect.scene.teams, effect.session
        team = teams.other_than(session.team) if by_another else ""
        teams.disturb(session.session_id, how, effect.fault.lasts_s, team)

    return act


def _calm(effect: Effect) -> None:
    effect.scene.teams.calm(effect.session.session_id)


def _undisturbed(effect: Effect) -> str:
    if effect.scene.teams.is_disturbed(effect.session.session_id):
        return ""
    if effect.session_is_over:
        return SESSION_OVER
    return BY_HAND if effect.age_s < effect.fault.lasts_s else PASSED


def _drop(effect: Effect) -> None:
    effect.scene.teams.drop(effect.session.session_id, _OUT_S)


def _asks_again(effect: Effect) -> str:
    if effect.session_is_over:
        return SESSION_OVER
    connection = effect.scene.contest.database.connection
    started = effect.session.facts.started
    requests = requests_of(connection, effect.session.session_id)
    if started is None or not requests or effect.age_s < _OUT_S:
        return ""
    now = effect.scene.contest.clock.now()
    newest_s = now.monotonic_s - started.monotonic_s - requests[-1].elapsed_s
    return PASSED if newest_s < effect.age_s - _OUT_S else ""


def _take_image(effect: Effect) -> None:
    contest, session = effect.scene.contest, effect.session
    fetched = count_fetched_images(contest.database.connection, session.session_id)
    number = min(contest.image_count, fetched + _AHEAD)
    entry = image_behind(contest, session, number)
    effect.scene.images.take(effect.scene.images.folder / entry.path.rpartition("/")[2])


def _fill(effect: Effect) -> None:
    effect.scene.fill_disk()


def _kill(program: str) -> Callable[[Effect], None]:
    return lambda effect: effect.scene.host.kill(program)


def _desk_answers(effect: Effect) -> str:
    host = effect.scene.host
    up = effect.age_s > _SETTLE_S and host.answers(f"{host.console}/form-key")
    return PASSED if up else ""


def _server_answers(effect: Effect) -> str:
    url = effect.scene.host.contest(effect.session.lane)
    up = effect.age_s > _SETTLE_S and effect.scene.host.answers(f"{url}/help")
    return PASSED if up else ""


def _cut(effect: Effect) -> None:
    effect.scene.host.cut_power()


def _restarted(effect: Effect) -> str:
    return BY_HAND if effect.scene.host.is_ready else ""


EFFECTS: Mapping[str, _Effect] = {
    "meter-unplugged": _Effect(
        _meter("pull_cable"),
        _by_hand(lambda effect: effect.scene.meters[effect.session.lane].cable_out),
        _meter("put_cable_back"),
    ),
    "meter-off": _Effect(
        _meter("cut_mains"),
        _by_hand(lambda effect: effect.scene.meters[effect.session.lane].is_off),
        _meter("switch_on"),
    ),
    "meter-stopped": _Effect(_press_stop, _session_over, _nothing),
    "on-battery": _Effect(_meter("unload"), _unloaded, _meter("load")),
    "over-range": _Effect(_over_range, _after_a_while, _nothing),
    "flood": _Effect(_disturb("flood"), _undisturbed, _calm),
    "wifi-drop": _Effect(_drop, _asks_again, _nothing),
    "other-team": _Effect(_disturb("logins", by_another=True), _after_a_while, _calm),
    "junk": _Effect(_disturb("junk"), _undisturbed, _calm),
    "image-lost": _Effect(
        _take_image,
        _by_hand(lambda effect: bool(effect.scene.images.taken)),
        lambda effect: effect.scene.images.put_back(),
    ),
    "disk-full": _Effect(
        _fill,
        _by_hand(lambda effect: effect.scene.disk_is_full),
        lambda effect: effect.scene.free_disk(),
    ),
    "desk-killed": _Effect(_kill("desk"), _desk_answers, _nothing),
    "server-killed": _Effect(_kill("contest"), _server_answers, _nothing),
    "power-cut": _Effect(_cut, _restarted, lambda effect: effect.scene.host.start()),
}
"""The effect of each fault, by the fault's name."""
