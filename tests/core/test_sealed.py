# SPDX-License-Identifier: Apache-2.0
"""Records that nobody can change."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from referee.core.detections import Detections, unpack
from referee.core.sealed import SealedDict, sealed_copy


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.__setitem__(1, 2),
        lambda it: it.__delitem__(1),
        lambda it: it.clear(),
        lambda it: it.pop(1),
        lambda it: it.popitem(),
        lambda it: it.setdefault(7, 1),
        lambda it: it.update({1: 2}),
        lambda it: it.__ior__({1: 2}),
    ],
)
def test_a_sealed_dict_refuses_every_change(change) -> None:
    """No method of a dict changes a sealed one, and the error says what to do."""
    sealed = SealedDict({1: 1})
    with pytest.raises(TypeError, match=r"change a copy, dict\(…\)"):
        change(sealed)
    assert {1: 1} == sealed


def test_a_sealed_dict_is_a_dict_to_others() -> None:
    """It compares, merges into a new dict, and is written, copied and pickled like any dict."""
    sealed = SealedDict({"a": 1})
    assert ({"a": 1}, {"a": 1, "b": 2}) == (sealed, {**sealed, "b": 2})
    assert ('{"a": 1}', {"a": 1, "b": 2}) == (json.dumps(sealed), sealed | {"b": 2})
    for again in (pickle.loads(pickle.dumps(sealed)), copy.deepcopy(sealed), copy.copy(sealed)):
        assert {"a": 1} == again and isinstance(again, SealedDict)


def test_a_sealed_copy_has_arrays_of_its_own() -> None:
    """Who changes the original changes no copy; the copy is read-only and not copied again."""
    mine = Detections.from_arrays([1], [1], [0.5], [[0, 0, 9, 9]])
    kept = sealed_copy(mine)
    mine.box[0, 0] = 5.0
    assert (0.0, False) == (kept.box[0, 0], kept.box.flags.writeable)
    assert sealed_copy(kept) is kept


def test_a_read_only_view_of_somebody_s_array_is_copied() -> None:
    """That a view is read-only says nothing: its owner may write."""
    owner = np.zeros((1, 4))
    view = owner.view()
    view.flags.writeable = False
    kept = sealed_copy(Detections(np.ones(1, int), np.ones(1, int), np.ones(1), view))
    owner[0] = 7.0
    assert [[0.0] * 4] == kept.box.tolist()
    assert unpack(b"").box.flags.writeable
