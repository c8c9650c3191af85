# SPDX-License-Identifier: Apache-2.0
"""The meter's integrator: its state, START, STOP and RESET, each confirmed by the meter."""

from __future__ import annotations

import logging
from collections.abc import Callable

from power.errors import MeterBusy, MeterHolds, MeterRefused, MeterReplyError, MeterSilent
from power.meter import IntegrationStart, IntegrationState, IntegrationStop, Leave
from power.scpi import DeviceError, parse_word
from power.transports.transport import Clock
from power.wt310 import output
from power.wt310.link import ScpiLink

_log = logging.getLogger(__name__)

# For this time after the start some commands fail, as users of real meters found.
BUSY_WINDOW_S = 0.2
STATE_DEADLINE_S = 5.0
# A STOP without effect is sent again after this time. A repeat does no harm: it gives error 844.
STOP_PATIENCE_S = 2.0
_MOST_STOPS = 3
_POLL_S = 0.05


class Integrator:
    """The integrator behind one link; each call ends within a bounded time."""

    def __init__(self, link: ScpiLink, clock: Clock, sleep: Callable[[float], None]) -> None:
        self._link = link
        self._clock = clock
        self._sleep = sleep
        self._stop_patience_s = STOP_PATIENCE_S
        self._stop_sent_s: float | None = None
        self.last_stop: IntegrationStop | None = None

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        return IntegrationState(parse_word(self._link.ask(":INTEGrate:STATe?"), output.STATES))

    def require_reset(self) -> None:
        """Raise `MeterBusy` or `MeterRefused` unless the state is RESET."""
        state = self.state()
        if state is IntegrationState.START:
            raise MeterBusy("an integration runs on this meter already; if it is yours, stop it")
        if state is not IntegrationState.RESET:
            raise MeterRefused(
                f"the integrator is in state {state.value}, not RESET; prepare the meter first"
            )

    def start(self) -> IntegrationStart:
        """Send START, and return once the meter confirms it; the state must be RESET."""
        self._stop_sent_s = self.last_stop = None
        sent_s = self._clock()
        self._link.tell(":INTEGrate:STARt")
        written_s = self._clock()
        self._sleep(BUSY_WINDOW_S)
        state = self._await_state({IntegrationState.START}, STATE_DEADLINE_S)
        confirmed_s = self._clock()
        errors = self._link.errors()
        if state is not IntegrationState.START or errors:
            raise _not_started(state, errors)
        return IntegrationStart(sent_s, written_s, confirmed_s)

    def stop(self) -> IntegrationState:
        """End a running integration, with up to three STOPs, and return its last state."""
        state = self.state()
        for _ in range(_MOST_STOPS):
            if state is not IntegrationState.START:
                break
            # Of several STOPs nobody knows which one the meter has carried out.
            self._stop_sent_s = self._stop_sent_s or self._clock()
            self._link.tell(":INTEGrate:STOP")
            state = self._await_state(
                set(IntegrationState) - {IntegrationState.START}, self._stop_patience_s
            )
            self._note_stop(state)
            # The timer may end after our question and before our STOP. The meter then refuses.
            for error in self._link.errors():
                _log.info("STOP in state %s gave %s %s", state.value, error.code, error.text)
        self._note_stop(state)
        if state is IntegrationState.START:
            raise MeterRefused(
                f"the meter still integrates after {_MOST_STOPS} commands to stop; press STOP "
                "at its panel"
            )
        return state

    def _note_stop(self, state: IntegrationState) -> None:
        """Note when the meter first showed the end that our STOP has brought."""
        if self._stop_sent_s is None or self.last_stop is not None:
            return
        if state is IntegrationState.STOP:
            self.last_stop = IntegrationStop(self._stop_sent_s, self._clock())

    def reset(self, leave: Leave) -> None:
        """Set energy and time to zero; raise `MeterBusy` while an integration runs.

        Raises `MeterHolds` if there is a result and nobody has asked the rule.
        """
        state = self.state()
        if state is IntegrationState.START:
            raise MeterBusy(
                "an integration runs on this meter; wait for its end, or stop it if it is yours"
            )
        if state is IntegrationState.RESET:
            return
        if not leave.wipes:
            raise MeterHolds(
                f"the integrator is in state {state.value}, and this program has not asked whether "
                "its energy may be wiped. To fetch and judge it: python -m power rescue RESOURCE"
            ).with_remedy("if nobody needs that energy: python -m power rescue RESOURCE --discard")
        self._link.errors()
        self._link.tell(":INTEGrate:RESet")
        state = self._await_state({IntegrationState.RESET}, STATE_DEADLINE_S)
        if state is not IntegrationState.RESET:
            raise MeterRefused(
                f"the integrator stays in state {state.value} "
                f"({_queue_text(self._link.errors())}); press RESET at the meter's panel"
            )

    def hasten(self, timeout_s: float) -> None:
        """Send a STOP without effect again after half of this time."""
        self._stop_patience_s = min(self._stop_patience_s, timeout_s / 2)

    def _await_state(self, wanted: set[IntegrationState], patience_s: float) -> IntegrationState:
        """Poll until the meter has a wanted state or the time is over; return the last state.

        A question without a valid answer is repeated until the time is over.
        """
        deadline_s = self._clock() + patience_s
        while True:
            try:
                state = self.state()
            except (MeterSilent, MeterReplyError):
                if self._clock() >= min(deadline_s, self._link.end_s):
                    raise
                self._link.distrust()
            else:
                if state in wanted or self._clock() >= deadline_s:
                    return state
            self._sleep(_POLL_S)


def _queue_text(errors: list[DeviceError]) -> str:
    if not errors:
        return "its error queue is empty"
    return ", ".join(f'error {error.code} "{error.text}"' for error in errors)


def _not_started(state: IntegrationState, errors: list[DeviceError]) -> MeterRefused:
    first = errors[0] if errors else None
    return MeterRefused(
        f"the integration did not start: state {state.value}, {_queue_text(errors)}; "
        "prepare the meter again",
        code=first.code if first else 0,
        text=first.text if first else "",
    )
