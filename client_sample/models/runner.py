# SPDX-License-Identifier: Apache-2.0
"""What a library that runs models has to offer, whichever it is."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple


class Tensor(NamedTuple):
    """An input or output of a model; a length that the model leaves open is None.

    A quantized one means `(number - zero) * scale`; a scale of 0 is none.
    """

    name: str
    shape: Tuple[Optional[int], ...]
    dtype: str
    scale: float = 0.0
    zero: int = 0


def threads_words(threads: int) -> str:
    """Return a number of threads for a person."""
    return "1 thread" if threads == 1 else f"{threads} threads"


class RunFailed(ValueError):
    """The library could not run a model; its text is the library's own, in one line."""


class ModelRunner(Protocol):
    """A loaded model; one belongs to one thread.

    `metadata` is what its exporter wrote into the file. `engine` says for a person what runs it.
    """

    inputs: List[Tensor]
    outputs: List[Tensor]
    metadata: Dict[str, str]
    engine: str

    def run(self, feeds: Sequence[Any]) -> List[Any]:
        """Return the outputs' arrays, as numbers, for an array for each input.

        Raises RunFailed.
        """
