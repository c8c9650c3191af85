# SPDX-License-Identifier: Apache-2.0
"""The one interface to whatever does the work: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

TRIES = 3
"""Workers that an item may lose before it is given up: one that kills them all must end."""


@dataclass(frozen=True)
class Lost:
    """Instead of a result: the workers died of the item, or were too slow; `why` is a sentence."""

    why: str


class Executor(Protocol):
    """Something that works on items in other processes."""

    def outcomes(
        self, work: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[_Item, _Result | Lost]]:
        """Yield each item once, with its result, in the order in which results come.

        `work` and the items travel to the workers, so both must pickle. Items begin in the order
        given. An item whose worker dies is done by another one, up to `TRIES` times. What `work`
        raises is raised here. Raises `Unavailable` if no worker is left.
        """
        ...

    @property
    def workers(self) -> str:
        """Return who works, for people: '4 processes'."""
        ...
