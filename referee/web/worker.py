# SPDX-License-Identifier: Apache-2.0
"""The servers' worker: one thread at a time leads, and whoever has to wait lets another lead.

The leader takes in what comes on all connections and serves the requests that are whole itself,
one after the other (the pattern Leader/Followers: D. Schmidt and others, Pattern-Oriented Software
Architecture 2). Python runs one thread at a time anyway, and threads that take turns at every
system call cost more than the requests do. A request that waits, for its client, the meter or
the disk, keeps its thread and gives the lead away, so that nobody else waits with it.
"""

from __future__ import annotations

import errno
import math
import os
import select
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Any

from gunicorn.http import wsgi
from gunicorn.http.errors import NoMoreData
from gunicorn.workers.base import Worker

from referee.web.awaiting import AwaitedBody
from referee.web.reception import Connection, Reception

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
# Then the response is asked for: it waits, and says what is wrong.
_AWAITED_S = 10.0
_DISCARD_S = 5.0
_GONE = (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN)


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
        # One more than may serve at a time: there is always one to lead.
        self._pool = ThreadPoolExecutor(self.cfg.threads + 1, "serve")
        self._lock = threading.Lock()
        # Guarded by it: the thread that leads, since when it is at one request (0: at none), and
        # how many other threads serve requests or were stuck when they led.
        self._leader: int | None = None
        self._busy_since_s = 0.0
        self._away = 0
        # Served by other threads; and those whose response can be made.
        self._handed_back: deque[tuple[Connection, _Outcome]] = deque()
        self._resumable: deque[tuple[Connection, AwaitedBody]] = deque()
        # The leader's: the responses that are awaited, and until when; since when the first has
        # been awaited that nobody has tried to complete; and the connections whose turn it is.
        self._awaited: dict[Connection, tuple[AwaitedBody, float]] = {}
        self._awaiting_since_s = math.inf
        self._turn_taken: set[Connection] = set()
        # Whether the main thread looks often, and how often it has seen nothing happen.
        self._looking = False
        self._quiet_looks = 0
        self._over = False

    # The main thread.

    def run(self) -> None:
        """Serve until told to stop, then finish what has been begun."""
        self._reception = Reception(self.cfg, self.sockets, self._step_down)
        self._complete = getattr(self.app, "complete", lambda: None)
        self._pool.submit(self._lead)
        stop_s = math.inf
        while not self._over and time.monotonic() < stop_s:
            self.notify()
            self._rest(_PATIENCE_S if self._looking else _HEARTBEAT_S)
            if self.ppid != os.getppid():
                self.log.info("Parent changed, shutting down: %s", self)
                self.alive = False
            self._replace_stuck_leader()
            if not self.alive and stop_s == math.inf:
                stop_s = time.monotonic() + self.cfg.graceful_timeout
                self._reception.wake()
        self._over = True
        self._reception.wake()
        self._pool.shutdown(wait=False)

    def _rest(self, seconds: float) -> None:
        """Wait; a signal ends it, and a leader that is busy after a long rest, or at its end."""
        if select.select([self.PIPE[0]], [], [], seconds)[0]:
            os.read(self.PIPE[0], 4096)

    def _replace_stuck_leader(self) -> None:
        since_s = self._busy_since_s
        if since_s:
            self._quiet_looks = 0
            with self._lock:
                same = self._busy_since_s == since_s
                if same and time.monotonic() - since_s >= _PATIENCE_S:
                    self._appoint_another()
        elif self._looking:
            self._quiet_looks += 1
            if self._quiet_looks >= _QUIET_LOOKS:
                self._looking = False
                # Whoever became busy in between did not see that.
                self._looking = self._busy_since_s > 0.0

    # Any thread that serves.

    def _step_down(self) -> None:
        """Give the lead away, if this thread has it: it is about to wait."""
        with self._lock:
            if self._leader == threading.get_ident():
                self._appoint_another()

    def _appoint_another(self) -> None:
        """Have another thread lead; called with the lock held."""
        self._leader = None
        self._busy_since_s = 0.0
        self._away += 1
        self._pool.submit(self._lead)

    def _serve_away(self, conn: Connection) -> None:
        self._hand_back(conn, self._serve(conn))

    def _hand_back(self, conn: Connection, outcome: _Outcome) -> None:
        self._handed_back.append((conn, outcome))
        self._come_back()

    def _come_back(self) -> None:
        with self._lock:
            self._away -= 1
        self._reception.wake()

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
        except (NoMoreData, StopIteration):
            pass
        except OSError as error:
            if error.errno not in _GONE and not isinstance(error, TimeoutError):
                self.log.exception("A connection of %s failed", conn.address)
        except Exception as error:  # What the parser refuses, and mistakes of ours.
            self._refuse(conn, request, error)
        return _Outcome.CLOSE

    def _respond(self, conn: Connection, request: Any) -> _Outcome:
        response, environ = wsgi.create(request, conn.sock, conn.client, conn.server, self.cfg)
        environ["wsgi.multithread"] = True
        if not self.alive:
            response.force_close()
        body = self.wsgi(environ, response.start_response)
        if isinstance(body, AwaitedBody) and not body.future.done():
            conn.awaited = (response, body)
            return _Outcome.AWAIT
        return self._answer(conn, response, body)

    def _answer(self, conn: Connection, response: Any, body: Any) -> _Outcome:
        """Send the response, and leave the connection ready for the next request."""
        try:
            for piece in body:
                response.write(piece)
                conn.sock.flush()
            response.close()
            conn.sock.flush()
        except Exception as error:
            if not response.headers_sent or isinstance(error, OSError):
                raise
            # The response has begun: another one must not be put into it.
            self.log.exception("A response broke off")
            return _Outcome.CLOSE
        finally:
            if hasattr(body, "close"):
                body.close()
        if response.should_close():
            return _Outcome.CLOSE
        # A body that the application left unread would be taken for the next request.
        rest_is_read = conn.parser.finish_body(deadline=time.monotonic() + _DISCARD_S)
        return _Outcome.KEEP if rest_is_read else _Outcome.CLOSE

    def _refuse(self, conn: Connection, request: Any, error: Exception) -> None:
        self.handle_error(request, conn.sock, conn.client, error)
        try:
            conn.sock.flush()
        except OSError:
            pass

    # The leader.

    def _lead(self) -> None:
        """Serve until another thread leads or the worker ends; runs in a thread of the pool."""
        me = threading.get_ident()
        with self._lock:
            self._leader = me
        try:
            while not self._over and self._lead_on(me):
                pass
        except Exception:
            # A worker that nobody leads serves nobody: this one ends, and gunicorn starts another.
            self.log.exception("The worker's leader failed")
            self._over = True
        if self._over:
            self._call_main_thread()

    def _lead_on(self, me: int) -> bool:
        """Take in what has come and serve some of it; False if this thread is to stop."""
        if not self._take_in(me):
            return False
        while self._handed_back:
            self._conclude(*self._handed_back.popleft())
        if self._reception.look():
            self._ask_for_late_responses()
        if not self.alive:
            self._reception.refuse_newcomers()
            self._over = not self._reception.connections
        for _ in range(_BURST):
            conn = self._next()
            if conn is None:
                break
            if not self._serve_leading(conn, me):
                return False
        return True

    def _take_in(self, me: int) -> bool:
        """Take in what has come; if there is nothing to do, complete what is awaited, or rest.

        False if another thread leads now.
        """
        reception = self._reception
        if not self._may_rest():
            reception.take_in(0.0)
        elif not self._awaited or self._full():
            reception.take_in(math.inf)
        elif not reception.take_in(0.0) or (time.monotonic() > self._awaiting_since_s + _COMPANY_S):
            self._awaiting_since_s = math.inf
            self._become_busy()
            self._complete()
            if not self._end_busy(me):
                self._come_back()
                return False
            if self._may_rest():  # Another thread is at it, and will say when it is done.
                reception.take_in(math.inf)
        return True

    def _may_rest(self) -> bool:
        if self._handed_back:
            return False
        return self._full() or not (self._resumable or self._reception.lines)

    def _full(self) -> bool:
        """Tell whether all threads wait for something: then nobody is served, but taken in."""
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

    def _next(self) -> Connection | None:
        """Return the connection that is served next, or None."""
        while self._resumable and not self._full():
            conn, body = self._resumable.popleft()
            # It may have been asked for already, because it took too long.
            if conn in self._awaited and self._awaited[conn][0] is body:
                del self._awaited[conn]
                return conn
        while not self._full():
            taken = self._reception.lines.take()
            if taken is None:
                return None
            self._turn_taken.add(taken)
            if taken.framing is None or taken.framing.whole:
                return taken
            # The rest of its body is still to come.
            with self._lock:
                self._away += 1
            self._pool.submit(self._serve_away, taken)
        return None

    def _serve_leading(self, conn: Connection, me: int) -> bool:
        """Serve a request and conclude it; False if another thread leads now."""
        self._become_busy()
        outcome = self._serve(conn)
        leads = self._end_busy(me)
        if leads:
            self._conclude(conn, outcome)
        else:
            self._hand_back(conn, outcome)
        return leads

    def _conclude(self, conn: Connection, outcome: _Outcome) -> None:
        """Await the response, the next request, or the client's close."""
        if conn in self._turn_taken:
            self._turn_taken.discard(conn)
            self._reception.lines.leave(conn.address)
        if outcome is _Outcome.AWAIT:
            self._await_response(conn)
        elif outcome is _Outcome.KEEP:
            self._reception.keep(conn)
        else:
            self._reception.close(conn)

    def _await_response(self, conn: Connection) -> None:
        if conn.awaited is None:
            return
        body = conn.awaited[1]
        now = time.monotonic()
        self._awaited[conn] = body, now + _AWAITED_S
        self._awaiting_since_s = min(self._awaiting_since_s, now)
        body.future.add_done_callback(lambda future: self._resume(conn, body))

    def _ask_for_late_responses(self) -> None:
        now = time.monotonic()
        for conn, (body, until_s) in self._awaited.items():
            if until_s <= now:
                self._resume(conn, body)

    def _resume(self, conn: Connection, body: AwaitedBody) -> None:
        """Have a response made and sent; called in whatever thread knows that it can be."""
        first = not self._resumable
        self._resumable.append((conn, body))
        if first and self._leader != threading.get_ident():
            self._reception.wake()
