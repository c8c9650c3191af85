# SPDX-License-Identifier: Apache-2.0
"""A numpy vector that grows at its end in constant amortised time."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


class GrowingArray(Generic[_Scalar]):
    """A vector of one dtype that grows at its end; `values` is a view of its content."""

    def __init__(self, dtype: type[_Scalar]) -> None:
        self._store: NDArray[_Scalar] = np.empty(0, dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> NDArray[_Scalar]:
        """Return a view of the values so far; a write to the view changes the vector."""
        return self._store[: self._length]

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        length = self._length + len(values)
        if length > len(self._store):
            store = np.empty(max(length, 2 * len(self._store)), dtype=self._store.dtype)
            store[: self._length] = self.values
            self._store = store
        self._store[self._length : length] = values
        self._length = length
