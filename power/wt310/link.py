# SPDX-License-Identifier: Apache-2.0
"""A conversation with the meter: open, ask, command, read the error queue, resynchronise."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence

from power.clock import real_elapsed_s
from power.errors import (
    PREPARE_AGAIN,
    SWITCH_OFF,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterSilent,
    MeterUnreachable,
)
from power.meter import Identity
from power.scpi import (
    DeviceError,
    decode,
    parse_error,
    parse_register,
    parse_word,
    without_header,
)
from power.transports.transport import Clock, Transport
from power.wt310.models import MeterModel, model_of, parse_identity

_log = logging.getLogger(__name__)

# The length of the meter's queue is not documented. More entries than this mean a broken meter.
_MOST_ERRORS = 64
_MOST_LATE_REPLIES = 4

LANGUAGES = ("WT300E", "WT300", "WT200")
"""The command modes of the meter (page 8-1); the values of WT200 have another form."""

# Query interrupted, unterminated, deadlocked (page App-3). An exchange that failed and was repeated
# leaves these codes. They say nothing about a command.
_TRANSFER_ERRORS = (410, 420, 430, 440)


class ScpiLink:
    """A conversation with one meter: one question at a time, each with its own answer.

    `events` collects the extended events that were read. `inherited` holds the errors that were in
    the meter's queue when the link was opened.

    `open_transport` opens a new wire at each call. After a time-out or a broken reply, a late
    answer may still come. So before the next question the link is resynchronised (device clear,
    `*IDN?`), and opened again if that fails. A question ends after about four time-outs at most.
    """

    def __init__(
        self,
        open_transport: Callable[[], Transport],
        *,
        timeout_s: float = 2.0,
        clock: Clock = real_elapsed_s,
    ) -> None:
        self._open_transport = open_transport
        self._timeout_s = timeout_s
        self._clock = clock
        self._end_s = math.inf
        self._transport: Transport | None = None
        self._dirty = False
        self._identity: Identity | None = None
        self._model: MeterModel | None = None
        self.events = 0
        self.inherited: list[DeviceError] = []
        self.found: dict[str, str] = {}
        self._to_remember: tuple[str, ...] = ()

    @property
    def identity(self) -> Identity:
        """Return the identity of the meter, opening a closed link first."""
        self._ready()
        if self._identity is None:
            raise MeterUnreachable("the meter has not said who it is; open the link again")
        return self._identity

    @property
    def model(self) -> MeterModel:
        """Return the ranges and elements of the meter's model, opening a closed link first."""
        self._ready()
        if self._model is None:
            raise MeterUnreachable("the meter has not said who it is; open the link again")
        return self._model

    def reopen(self) -> None:
        """Close the link if it is open, open a new one, and check the meter's identity.

        It writes only status and communication settings, so it is safe during an integration.
        """
        self.close()
        self._left_s()
        self._transport = self._open_transport()
        try:
            self._introduce(self._transport)
        except Exception:
            self.close()
            raise

    def ask(self, message: str, *, timeout_s: float | None = None) -> str:
        """Return the text of the reply to one query message."""
        return decode(self.ask_raw(message, timeout_s=timeout_s))

    def ask_raw(self, message: str, *, timeout_s: float | None = None) -> bytes:
        """Return the bytes of the reply to one query message."""
        return self._exchange(self._ready(), message, timeout_s)

    def tell(self, message: str) -> None:
        """Send a command without checking it; call `errors` to see whether the meter refused it."""
        transport = self._ready()
        self._left_s()
        try:
            transport.write(message)
        except MeterUnreachable:
            self._dirty = True
            raise

    def command(self, message: str) -> None:
        """Send a command; raise `MeterRefused` if there is an error in the queue after it.

        A refused command gives no reply. Its only trace is in the error queue (page 7-6). The
        question after each command also keeps RS-232 input below the meter's 256 bytes (page 3-6).
        """
        self.tell(message)
        errors = self.errors()
        if errors:
            raise _refusal(message, errors[0])

    def errors(self) -> list[DeviceError]:
        """Empty the meter's error queue and return the errors of commands, oldest first."""
        return self._errors(self.ask)

    def _errors(self, ask: Callable[[str], str]) -> list[DeviceError]:
        errors: list[DeviceError] = []
        for _ in range(_MOST_ERRORS):
            error = parse_error(ask(":STATus:ERRor?"))
            if error.code == 0:
                return errors
            if error.code not in _TRANSFER_ERRORS:
                errors.append(error)
        raise MeterReplyError("the meter's error queue never ends").with_remedy(SWITCH_OFF)

    @property
    def standing(self) -> bool:
        """Tell whether a link is open; its last question may have got no answer."""
        return self._transport is not None

    @property
    def touched(self) -> bool:
        """Tell whether a meter has ever answered on a link."""
        return self._identity is not None

    def remember(self, heads: Sequence[str]) -> None:
        """Note in `found` what these settings are when the first link is opened."""
        self._to_remember = tuple(heads)

    def hasten(self, timeout_s: float, end_s: float) -> None:
        """Wait at most this long for each reply from now on, and for none after `end_s`.

        After that moment of the clock every question raises `MeterSilent`, until a later call
        names a later moment. Any thread may call this.
        """
        self._timeout_s = min(self._timeout_s, timeout_s)
        self._end_s = end_s

    @property
    def end_s(self) -> float:
        """Return the moment after which no question is asked, infinite until `hasten`."""
        return self._end_s

    def distrust(self) -> None:
        """Make the next question resynchronise first, because a reply did not fit its question."""
        self._dirty = True

    def close(self) -> None:
        """Release the link; never raises. The next question opens it again."""
        transport, self._transport = self._transport, None
        try:
            if transport is not None:
                transport.close()
        except Exception:  # even after a bug in a transport the link must be opened again
            _log.exception("the link was not closed cleanly")

    def _left_s(self, timeout_s: float | None = None) -> float:
        """Return how long to wait for a reply; raise `MeterSilent` when the time is over."""
        left_s = self._end_s - self._clock()
        if left_s <= 0:
            raise MeterSilent("the time for questions to the meter is over")
        return min(left_s, self._timeout_s if timeout_s is None else timeout_s)

    def _ready(self) -> Transport:
        if self._transport is None:
            self.reopen()
        elif self._dirty:
            self._resync(self._transport)
        if self._transport is None:
            raise MeterUnreachable("the link to the meter is closed; open it again")
        return self._transport

    def _resync(self, transport: Transport) -> None:
        """Discard old replies and ask for the meter's name; if that fails, open the link again."""
        try:
            transport.clear()
            if self._who_answers(transport) == self._identity:
                self._dirty = False
                return
        except (MeterUnreachable, MeterReplyError, MeterMismatch) as error:
            _log.info("resynchronising failed, opening the link anew: %s", error)
        self.reopen()

    def _who_answers(self, transport: Transport) -> Identity:
        """Ask `*IDN?` and skip late replies to earlier questions: they do not have four fields."""
        transport.write("*IDN?")
        seen = ""
        for _ in range(_MOST_LATE_REPLIES):
            try:
                raw = transport.read(self._left_s())
            except MeterSilent:
                if seen:
                    break
                raise
            seen = raw.decode("latin-1").strip()
            if seen.count(",") == 3 and ";" not in seen:
                return parse_identity(decode(raw))
        if self._identity is not None:
            raise MeterReplyError(f"the meter answered {seen[:60]!r} where its name belongs")
        return parse_identity(seen)

    def _exchange(self, transport: Transport, message: str, timeout_s: float | None) -> bytes:
        wait_s = self._left_s(timeout_s)
        try:
            transport.write(message)
            return transport.read(wait_s)
        except BaseException:  # Ctrl-C too leaves an answer behind
            self._dirty = True
            raise

    def _introduce(self, transport: Transport) -> None:
        """Bring a new link to a known state and accept only a supported meter.

        The meter keeps HEADer and VERBose over `*RST` and power cycles (page 6-35), so they are set
        each time. The first line feed ends a partial message that a crashed client may have left.
        Latched events and old errors are read before `*CLS` clears them. `*CLS` is sent twice,
        because the first one may fail as interrupted (page 5-2).
        """
        self._dirty = False
        transport.clear()
        transport.write("")
        identity = self._who_answers(transport)
        if self._identity is not None and identity != self._identity:
            # Ask twice, because a garbled reply looks like another meter.
            identity = self._who_answers(transport)
        if self._identity is not None and identity != self._identity:
            raise MeterMismatch(
                f"{identity.model} {identity.serial} answers where {self._identity.model} "
                f"{self._identity.serial} was; connect the meter that the session began with"
            )
        model = model_of(identity)
        self.events |= parse_register(decode(self._exchange(transport, ":STATus:EESR?", None)))
        self.inherited = self._errors(
            lambda message: decode(self._exchange(transport, message, None))
        )
        if not self.found:
            for head in self._to_remember:
                reply = decode(self._exchange(transport, f"{head}?", None))
                self.found[head] = without_header(reply).strip()
        for message in (
            "\n*CLS",
            "*CLS",
            ":STATus:QMESsage ON",
            ":COMMunicate:HEADer OFF",
            ":COMMunicate:VERBose ON",
        ):
            transport.write(message)
        self._refuse_old_language(transport)
        self._identity, self._model = identity, model

    def _refuse_old_language(self, transport: Transport) -> None:
        """Refuse a meter in WT200 mode: its values have another form (page 8-1)."""
        try:
            reply = decode(self._exchange(transport, ":SYSTem:COMMunicate:COMMand?", None))
        except MeterSilent:
            # Firmware without this command would have only one language. We know of none.
            self._dirty = False
            transport.clear()
            self._who_answers(transport)
            return
        word = parse_word(reply, LANGUAGES)
        if word == "WT200":
            raise MeterMismatch(
                "the meter is in WT200 command mode; choose WT300E (or WT300) at its panel under "
                "UTILITY, Command type"
            )


def _refusal(message: str, error: DeviceError) -> MeterRefused:
    reason, remedy = _meaning(error.code)
    refused = MeterRefused(
        f'the meter refused {message} with error {error.code} "{error.text}": {reason}',
        code=error.code,
        text=error.text,
    )
    return refused.with_remedy(remedy)


def _meaning(code: int) -> tuple[str, str]:
    """Return what an error code means, and a remedy where one could destroy an energy."""
    if code in (813, 841, 842, 845):
        return "an integration runs, or is not reset", PREPARE_AGAIN
    if code == 844:
        return "no integration runs", ""
    if code in (846, 843, 847):
        return "the integration failed; check the ranges", PREPARE_AGAIN
    if code in (102, 104, 108, 109, 113, 114, 141, 222, 224, 241):
        return "this model or firmware does not know that setting or value", ""
    return "IM WT310E-17EN, appendix 1, lists the codes", ""
