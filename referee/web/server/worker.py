# SPDX-License-Identifier: Apache-2.0
"""The servers' worker: one thread at a time leads, and whoever has to wait lets another lead.

The leader takes in what comes on all connections and serves the requests that are whole itself,
one after the other (the pattern Leader/Followers: D. Schmidt and others, Pattern-Oriented Software
Architecture 2). Python runs one thread at a time anyway, and threads that take turns at every
system call cost more than the requests do. A request that waits, for its client, the meter or
the disk, keeps its thread and gives the lead away, so that nobody else waits with it.
"""

from __future__ import annotations

import math
import os
import select
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import closing, nullcontext
from enum import Enum
from functools import partial
from typing import Any

from gunicorn.http import wsgi
from gunicorn.http.errors import NoMoreData, ParseException
from gunicorn.workers.base import Worker

from referee.web.server.awaiting import AwaitedBody
from referee.web.server.connections import ClientGone
from referee.web.server.crew import Crew
from referee.web.server.reception import Connection, Reception

# A leader that is this long with one request waits for something: another one takes the lead.
_PATIENCE_S = 0.01
# So many looks without a request, and the main thread looks less often.
_QUIET_LOOKS = 100
# Seconds between two signs of life for gunicorn's arbiter, and to see that it is alive.
_HEARTBEAT_S = 1.0
# Requests served before the connections are looked at again.
_BURST = 8
# Responses that are awaited are completed together with those that are awaited this much later.
_COMPANY_S = 0.003
# After so long a response that is awaited is called off, which a commit under way cannot be; and
# after so long it is asked for all the same: it says that it does not know.
_CALL_OFF_S = 15.0
_GIVE_UP_S = 45.0
_DISCARD_S = 5.0
# Seconds between two looks for what waits too long.
_LOOK_S = 0.5
# The worker ends before the arbiter, which has the same time for it, loses patience.
_RESERVE_S = 1.0


class _Outcome(Enum):
    """Name what becomes of a connection after a request."""

    KEEP = "its next request is awaited"
    CLOSE = "it is closed"
    AWAIT = "its response is awaited"


class FairWorker(Worker):  # type: ignore[misc]
    """Serve whole requests, of which one address never occupies more than 3/4 of the threads.

    Its other requests wait for their turn; nobody else's do. Threads are named `serve_N`. The
    main thread gives signs of life, and replaces a leader that is stuck.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # One more than may be away at a time: there is always one to lead.
        self._crew = Crew("serve", self.cfg.threads + 1)
        self._lock = threading.Lock()
        # Guarded by it: the thread that leads; since when it is busy (0: it is not); and how many
        # others are, because they were given a request or were stuck when they led.
        self._leader: int | None = None
        self._busy_since_s = 0.0
        self._away = 0
        # What other threads hand to the leader: requests they have served, and connections
        # whose response can be made, with the future that it awaited.
        self._served: deque[tuple[Connection, _Outcome]] = deque()
        self._ready: deque[tuple[Connection, Future[Any]]] = deque()
        # The leader's: the responses that are awaited, since when; and since when there is one
        # that nobody has tried to complete.
        self._awaited: dict[Connection, tuple[Future[Any], float]] = {}
        self._untried_since_s = math.inf
        self._was_full = False
        self._next_look_s = 0.0
        # Whether the main thread looks often, and how often it has seen nothing happen.
        self._looking = False
        self._quiet_looks = 0
        self._over = False

    # The main thread.

    def run(self) -> None:
        """Serve until told to stop, then finish what has been begun."""
        self._reception = Reception(self.cfg, self.log, self.sockets, self._step_down)
        self._reception.accept_connections(True)
        self._complete = getattr(self.app, "complete", lambda: None)
        self._crew.run(self._lead)
        stop_s = math.inf
        while not self._over and time.monotonic() < stop_s:
            self.notify()
            pause_s = _PATIENCE_S if self._looking else _HEARTBEAT_S
            self._rest(max(0.0, min(pause_s, stop_s - time.monotonic())))
            if self.ppid != os.getppid():
                self.log.info("Parent changed, shutting down: %s", self)
                self.alive = False
            self._replace_stuck_leader()
            if not self.alive and stop_s == math.inf:
                stop_s = time.monotonic() + self.cfg.graceful_timeout - _RESERVE_S
                getattr(self.app, "stop", lambda: None)()
                self._reception.wake()
        self._over = True
        self._reception.wake()

    def _rest(self, seconds: float) -> None:
        """Wait; a signal ends it, and a leader that is busy after a long rest, or at its end."""
        if select.select([self.PIPE[0]], [], [], seconds)[0]:
            os.read(self.PIPE[0], 4096)

    def _replace_stuck_leader(self) -> None:
        since_s = self._busy_since_s
        if since_s:
            self._looking = True
            self._quiet_looks = 0
            with self._lock:
                same = self._busy_since_s == since_s
                if same and time.monotonic() - since_s >= _PATIENCE_S:
                    self._appoint_another()
        elif self._looking:
            self._quiet_looks += 1
            if self._quiet_looks >= _QUIET_LOOKS:
                self._looking = False
                # Whoever became busy before this did not call.
                if self._busy_since_s:
                    self._looking = True

    # Any thread that serves.

    def _step_down(self) -> None:
        """Give the lead away, if this thread has it: it is about to wait."""
        with self._lock:
            if self._leader == threading.get_ident():
                self._appoint_another()

    def _appoint_another(self) -> None:
        """Have another thread lead, and count this one as away; called with the lock held."""
        self._leader = None
        self._busy_since_s = 0.0
        self._away += 1
        self._crew.run(self._lead)

    def _come_back(self) -> None:
        """Be away no longer."""
        with self._lock:
            self._away -= 1
        self._reception.wake()

    def _serve_away(self, conn: Connection) -> None:
        self._served.append((conn, self._serve(conn)))
        self._come_back()

    def _serve(self, conn: Connection) -> _Outcome:
        """Serve one request; whatever goes wrong ends its connection and nothing else."""
        request = None
        try:
            if conn.awaited is not None:
                response, body = conn.awaited
                conn.awaited = None
                return self._answer(conn, response, body)
            request = conn.begin()
            return self._respond(conn, request)
        except (ClientGone, NoMoreData, StopIteration):
            pass
        except (Exception, SystemExit) as error:  # What the parser refuses, and mistakes of ours.
            self._refuse(conn, request, error)
        return _Outcome.CLOSE

    def _respond(self, conn: Connection, request: Any) -> _Outcome:
        response, environ = wsgi.create(request, conn.sock, conn.client, conn.server, self.cfg)
        environ["wsgi.multithread"] = True
        body = self.wsgi(environ, response.start_response)
        if isinstance(body, AwaitedBody) and not body.future.done():
            conn.awaited = (response, body)
            return _Outcome.AWAIT
        return self._answer(conn, response, body)

    def _answer(self, conn: Connection, response: Any, body: Any) -> _Outcome:
        """Send the response, and leave the connection ready for the next request."""
        if not self.alive:
            response.force_close()
        try:
            with closing(body) if hasattr(body, "close") else nullcontext():
                for piece in body:
                    response.write(piece)
                    conn.sock.flush()
                response.close()
                conn.sock.flush()
            if response.should_close():
                return _Outcome.CLOSE
            # A body that the application left unread would be taken for the next request.
            rest_is_read = conn.parser.finish_body(deadline=time.monotonic() + _DISCARD_S)
            return _Outcome.KEEP if rest_is_read else _Outcome.CLOSE
        except (Exception, SystemExit) as error:
            if not response.headers_sent:
                raise
            # The response has begun: no other one must follow it.
            if not isinstance(error, (ClientGone, TimeoutError, ParseException)):
                self.log.exception("A response broke off")
            return _Outcome.CLOSE

    def _refuse(self, conn: Connection, request: Any, error: BaseException) -> None:
        try:
            self.handle_error(request, conn.sock, conn.client, error)
            conn.sock.flush()
        except ClientGone:
            pass
        except Exception:
            self.log.exception("An error could not be told to %s", conn.address)

    # The leader.

    def _lead(self) -> None:
        """Serve until another thread leads or the worker ends; runs in a thread of the crew."""
        me = threading.get_ident()
        with self._lock:
            self._leader = me
        try:
            while not self._over and self._lead_on(me):
                pass
        except (Exception, SystemExit):
            # A worker that nobody leads serves nobody: this one ends, and gunicorn starts another.
            self.log.exception("The worker's leader failed")
            self._over = True
        if self._over:
            self._call_main_thread()

    def _lead_on(self, me: int) -> bool:
        """Take in what has come and serve some of it; False if another thread leads now."""
        if not self._take_in(me):
            return False
        self._collect()
        self._look()
        for _ in range(_BURST):
            conn = self._next()
            if conn is None:
                break
            if not self._serve_leading(conn, me):
                return False
        return True

    def _take_in(self, me: int) -> bool:
        """Take in what has come, and wait for it if there is nothing else to do.

        Before the wait, what is awaited is completed. False if another thread leads now.
        """
        reception = self._reception
        untried = self._untried_since_s < math.inf
        if self._served or self._ready:
            reception.take_in(0.0)
        elif self._full():
            reception.take_in(_LOOK_S)
        elif untried and time.monotonic() > self._untried_since_s + _COMPANY_S:
            reception.take_in(0.0)
            return self._complete_awaited(me)
        elif reception.lines:
            reception.take_in(0.0)
        elif not untried:
            reception.take_in(_LOOK_S)
        elif not reception.take_in(0.0):
            return self._complete_awaited(me)
        return True

    def _complete_awaited(self, me: int) -> bool:
        self._untried_since_s = math.inf
        self._become_busy()
        self._complete()
        leads = self._end_busy(me)
        if not leads:
            self._come_back()
        return leads

    def _full(self) -> bool:
        """Tell whether all threads are away: requests are taken in then, and not served."""
        return bool(self._away >= self.cfg.threads)

    def _become_busy(self) -> None:
        """Have the main thread see to it that this thread does not lead while it is stuck."""
        self._busy_since_s = time.monotonic()
        if not self._looking:
            self._looking = True
            self._call_main_thread()

    def _end_busy(self, me: int) -> bool:
        """Tell whether this thread still leads."""
        with self._lock:
            leads = self._leader == me
            if leads:
                self._busy_since_s = 0.0
        return leads

    def _call_main_thread(self) -> None:
        try:
            os.write(self.PIPE[1], b".")
        except BlockingIOError:
            pass  # It is full, so the main thread wakes anyway.

    def _collect(self) -> None:
        """Take from other threads what they have served, and what can be answered now."""
        while self._served:
            self._conclude(*self._served.popleft())
        while self._ready:
            conn, future = self._ready.popleft()
            # It may have been given up, and the connection may be at another request by now.
            if conn in self._awaited and self._awaited[conn][0] is future:
                del self._awaited[conn]
                self._reception.lines.join_first(conn.address, conn)

    def _look(self) -> None:
        """End what lasts too long, and see who may connect."""
        reception, now, full = self._reception, time.monotonic(), self._full()
        if now < self._next_look_s and full == self._was_full and self.alive:
            return
        self._next_look_s = now + _LOOK_S
        self._was_full = full
        # One that can serve nobody leaves newcomers to other workers.
        reception.accept_connections(self.alive and not full)
        reception.end_long_waits()
        self._end_long_awaits(now)
        if not self.alive:
            reception.end()
            if not reception.connections:
                self._over = True

    def _end_long_awaits(self, now: float) -> None:
        for conn, (future, since_s) in list(self._awaited.items()):
            if now >= since_s + _GIVE_UP_S:
                self._make_ready(conn, future)
            elif now >= since_s + _CALL_OFF_S:
                future.cancel()

    def _next(self) -> Connection | None:
        """Return the connection that is served next, or None."""
        while not self._full():
            conn = self._reception.lines.take()
            if conn is None or conn.framing is None or conn.framing.whole:
                return conn
            # The rest of its body is still to come.
            with self._lock:
                self._away += 1
            self._crew.run(partial(self._serve_away, conn))
        return None

    def _serve_leading(self, conn: Connection, me: int) -> bool:
        """Serve a request and conclude it; False if another thread leads now."""
        self._become_busy()
        outcome = self._serve(conn)
        leads = self._end_busy(me)
        if leads:
            self._conclude(conn, outcome)
        else:
            self._served.append((conn, outcome))
            self._come_back()
        return leads

    def _conclude(self, conn: Connection, outcome: _Outcome) -> None:
        """Await the response, the next request, or the client's close."""
        self._reception.lines.leave(conn.address)
        if outcome is _Outcome.AWAIT and conn.awaited is not None:
            self._await_response(conn, conn.awaited[1].future)
        elif outcome is _Outcome.KEEP:
            self._reception.keep(conn)
        else:
            self._reception.close(conn)

    def _await_response(self, conn: Connection, future: Future[Any]) -> None:
        now = time.monotonic()
        self._awaited[conn] = future, now
        self._untried_since_s = min(self._untried_since_s, now)
        # The future keeps this for good: it must lead back to nothing of the request, or each
        # of them would wait for Python's collection of cycles, which stops everybody.
        future.add_done_callback(partial(self._make_ready, conn))

    def _make_ready(self, conn: Connection, future: Future[Any]) -> None:
        """Have a response made and sent; called in whatever thread knows that it can be."""
        self._ready.append((conn, future))
        if self._leader != threading.get_ident():
            self._reception.wake()
