# SPDX-License-Identifier: Apache-2.0
"""What a step works with: the conversation with the meter, the time, and the person beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from power.errors import MeterError, MeterRefused, MeterSilent, MeterUnreachable

# A question that the meter does not know gets no reply, so a short wait is enough.
_SHORT_S = 1.0
# A state must change within this time after a command.
_CHANGE_S = 5.0
_MOST_TRIES = 3
_NO_ERRORS = "empty"
_AT_REST = ("RESET", "RES")


class StepSkipped(Exception):
    """The person leaves this step out."""


class WalkEnded(Exception):
    """The person wants to go on another time."""


@dataclass(frozen=True)
class PersonAnswer:
    """A person's answer: one of the choices, and a remark in their own words, which may be ""."""

    choice: str
    remark: str = ""


class Person(Protocol):
    """The person beside the meter. Each question may raise `StepSkipped` or `WalkEnded`."""

    def show(self, text: str) -> None:
        """Show a line."""
        ...

    def wait(self, task: str) -> None:
        """Name a task at the meter, and return when it is done."""
        ...

    def choose(self, question: str, choices: Mapping[str, str]) -> PersonAnswer:
        """Return the answer to a question; `choices` are words and what they mean."""
        ...


class Conversation(Protocol):
    """A conversation with one meter, as the driver leads it."""

    def ask(self, message: str, *, timeout_s: float | None = None) -> str:
        """Return the reply to a question; raise `MeterSilent` if there is none."""
        ...

    def tell(self, message: str) -> None:
        """Send a command without checking it."""
        ...

    def errors(self) -> Sequence[object]:
        """Empty the error queue and return its entries, each with its text as `str`."""
        ...

    def reopen(self) -> None:
        """Open the link again."""
        ...


@dataclass(frozen=True)
class StepTools:
    """The tools of a step.

    `ask` raises `MeterHolds` if the meter holds an energy that nobody has fetched; the integrations
    of the steps themselves are nobody's. `second` opens another connection to the same meter,
    closes it, and returns what happened. `voltage_ranges_v` and `current_ranges_a` are those of the
    model at the present crest factor.
    """

    link: Conversation
    ask: Callable[[], object]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    person: Person
    second: Callable[[], str]
    voltage_ranges_v: Sequence[float]
    current_ranges_a: Sequence[float]

    def asked(self, question: str) -> str:
        """Return the reply to a question, or in brackets why there is none."""
        try:
            return self.link.ask(question, timeout_s=_SHORT_S)
        except MeterSilent:
            return f"(no reply; error queue: {self.queued()})"

    def sent(self, command: str) -> str:
        """Send a command, and return whether the meter accepted it."""
        self.link.tell(command)
        errors = self.queued()
        return "accepted" if errors == _NO_ERRORS else errors

    def queued(self) -> str:
        """Empty the error queue, and return what was in it as text."""
        return ", ".join(map(str, self.link.errors())) or _NO_ERRORS

    def state(self) -> str:
        """Return the integrator's state, as the meter writes it."""
        return self.link.ask(":INTEGrate:STATe?").strip().upper()

    def await_state(self, *wanted: str, within_s: float = _CHANGE_S) -> str:
        """Return the state as soon as it is one of these, or the last one after the time."""
        end_s = self.clock() + within_s
        while (state := self.state()) not in wanted and self.clock() < end_s:
            self.sleep(0.05)
        return state

    def rest(self) -> None:
        """Bring the integrator to RESET; raise `MeterRefused` if it does not get there."""
        # Right after START the meter may lose commands, so they are sent again.
        for _ in range(_MOST_TRIES):
            if self.state().startswith("STAR"):
                self.link.tell(":INTEGrate:STOP")
            self.link.tell(":INTEGrate:RESet")
            self.link.errors()
            if self.await_state("RESET", "RES", within_s=_CHANGE_S / _MOST_TRIES) in _AT_REST:
                return
        raise MeterRefused("the integrator did not go to RESET; press RESET at the meter")

    @contextmanager
    def integrating(self, timer_s: int) -> Iterator[None]:
        """Start an integration with a timer, and bring it to RESET at every exit but Ctrl-C.

        Who presses Ctrl-C wants the end soon, so the program's own way out ends the integration.
        """
        self.rest()
        self.link.tell(":INTEGrate:MODE NORMal")
        self.link.tell(f":INTEGrate:TIMer 0,0,{timer_s}")
        self.link.errors()
        self.link.tell(":INTEGrate:STARt")
        try:
            yield
        except Exception:
            self.rest()
            raise
        self.rest()

    def await_link(self, within_s: float) -> float | None:
        """Try to open the link again and again; return after how many seconds, None for never."""
        begun_s = self.clock()
        while self.clock() - begun_s < within_s:
            try:
                self.link.reopen()
                return round(self.clock() - begun_s, 1)
            except MeterUnreachable as error:
                self.person.show(f"  not yet: {error}")
            except MeterError as error:  # a meter that starts up may answer anything
                self.person.show(f"  an odd answer: {error}")
            self.sleep(1.0)
        return None
