# SPDX-License-Identifier: Apache-2.0
"""Records that nobody can change: a frozen dataclass alone still has arrays and dicts that can."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Record = TypeVar("_Record")


class SealedDict(dict[_Key, _Value]):
    """A dict that refuses every change; `dict(it)` is a copy that can be changed.

    It is a dict, and no proxy of one, so that it is pickled, copied and written as JSON.
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "this dict belongs to a result, which never changes: change a copy, dict(…)"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return SealedDict, (dict(self),)


def seal(record: object) -> None:
    """Make the arrays of a frozen dataclass read-only, and its dicts sealed; for `__post_init__`.

    The arrays must be its own: an array is replaced by a view of it, and who keeps the array could
    change it.
    """
    for name, value in vars(record).items():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            object.__setattr__(record, name, _read_only(value))
        elif type(value) is dict:
            object.__setattr__(record, name, SealedDict(value))


def sealed_copy(record: _Record) -> _Record:
    """Return a dataclass with copies of its arrays and dicts, which nobody can change.

    What is read-only down to its memory is not copied.
    """
    changed: dict[str, object] = {}
    for field in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray) and not _is_fixed(value):
            kept = value.copy()
            kept.flags.writeable = False
            changed[field.name] = kept
        elif type(value) is dict:
            changed[field.name] = SealedDict(value)
    return replace(record, **changed) if changed else record  # type: ignore[type-var]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _is_fixed(array: NDArray[Any]) -> bool:
    """Tell whether no array that shares this one's memory can be written to."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes)
