# SPDX-License-Identifier: Apache-2.0
"""The work of a season on a Dask cluster; the extra `season` installs what it takes.

A worker of a cluster runs any program that a client sends it. So a cluster beyond one machine
speaks TLS, where each side shows a certificate of the same authority.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from referee.errors import InputError, Unavailable, needing
from referee.extras.season.executor import Lost

if TYPE_CHECKING:  # An extra: most seasons need no cluster.
    from distributed import Client, Future

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Those of Dask, and of the libraries that carry its messages.
_LOGGERS = ("distributed", "tornado", "asyncio")
_FETCH_S = 60.0
_LOOK_S = 1.0
_NO_RESULT_S = 3600.0


@dataclass(frozen=True)
class ClusterTls:
    """The certificate of the authority, and the client's own certificate and key; PEM files."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class Cluster:
    """An executor of the workers behind a scheduler's address, for example tls://10.0.0.1:8786.

    Without `tls` the settings are those of Dask's own configuration.
    """

    address: str
    tls: ClusterTls | None = None
    no_worker_s: float = 60.0
    """How long the cluster may be without a worker."""
    connect_s: float = 15.0
    """How long the scheduler may take to answer."""

    @property
    def workers(self) -> str:
        """Return who works, for people."""
        return f"the cluster {self.address}"

    def outcomes(
        self, work: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[_Item, _Result | Lost]]:
        """Yield each item with its result, as `Executor` says.

        The scheduler gives the item of a dead worker to another one, and gives it up after
        `distributed.scheduler.allowed-failures` deaths, a setting of Dask: 3.
        """
        if not items:
            return
        with self._client() as client:
            arrived: SimpleQueue[int] = SimpleQueue()
            futures: dict[int, Future] = {}
            for place, item in enumerate(items):
                # The scheduler takes the items in this order, and computes each of them.
                future = client.submit(work, item, pure=False, priority=-place)
                futures[place] = future
                future.add_done_callback(lambda _, place=place: arrived.put(place))
            while futures:
                place = _next(arrived, client, self)
                # Dropped at once: the cluster keeps a result as long as somebody holds it.
                yield items[place], _outcome(futures.pop(place), self.address)

    @contextmanager
    def _client(self) -> Iterator[Client]:
        with needing("a cluster", "distributed", "season"):
            from distributed import Client, Security
            from distributed.comm import resolve_address
        security = self.tls and Security(
            tls_ca_file=str(self.tls.ca),
            tls_client_cert=str(self.tls.cert),
            tls_client_key=str(self.tls.key),
            require_encryption=True,
        )
        try:
            # A client that fails over an unknown scheme is left half open, and fails again when the
            # garbage collector finds it.
            resolve_address(self.address)
            client = Client(
                self.address, security=security, timeout=self.connect_s, set_as_default=False
            )
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"no cluster answers at {self.address}: {error}") from None
        with _silent_library(), client:
            yield client


@contextmanager
def _silent_library() -> Iterator[None]:
    """Keep what Dask itself logs from the terminal during the block.

    It writes a traceback for each try to reach a scheduler that has gone. What that means for the
    season is said in one sentence.
    """
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _LOGGERS]
    before = {name: logging.getLogger(name).level for name in (*_LOGGERS, *names)}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _next(arrived: SimpleQueue[int], client: Client, cluster: Cluster) -> int:
    """Return what arrives next, as long as somebody works."""
    begun_s = seen_s = time.monotonic()
    while True:
        try:
            return arrived.get(timeout=_LOOK_S)
        except Empty:
            now_s = time.monotonic()
        if client.status == "running" and client.scheduler_info(n_workers=1)["workers"]:
            seen_s = now_s
        if now_s - seen_s > cluster.no_worker_s:
            raise Unavailable(
                f"{cluster.workers} has had no worker for {cluster.no_worker_s:g} s. What is done"
                " is kept: start workers, and give the same command again"
            )
        if now_s - begun_s > _NO_RESULT_S:
            raise Unavailable(
                f"{cluster.workers} has given no result for {_NO_RESULT_S:g} s. What is done"
                " is kept: look at its workers, and give the same command again"
            )


def _outcome(future: Future, address: str) -> Any:
    from distributed import CancelledError, KilledWorker

    try:
        return future.result(timeout=_FETCH_S)
    except KilledWorker:
        return Lost("It killed one worker of the cluster after the other.")
    except (CancelledError, OSError):
        raise Unavailable(
            f"the cluster {address} is gone. What is done is kept: give the same command again"
        ) from None
