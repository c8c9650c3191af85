# SPDX-License-Identifier: Apache-2.0
"""Ground truth arranged for matching: ids as positions, truth boxes by class and image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.scoring.overlap import columns, thresholds
from referee.scoring.rules import Rules

Ints = NDArray[np.int64]

NO_TRUTH = -1
"""Group of an (image, class) pair without a truth box."""

BLACKLISTED = -2
"""Group of an (image, class) pair on the blacklist."""

# A table of 2^25 entries takes 128 MiB as int32: 20,000 images of 1,600 classes still fit.
_LARGEST_TABLE = 2**25


class Positions:
    """A lookup of positions in an ascending vector of unique ids."""

    def __init__(self, ids: Ints) -> None:
        self._ids = ids
        self._table: NDArray[np.int32] | None = None
        # Python integers, because the span of two extreme int64 does not fit into an int64.
        span = int(ids[-1]) - int(ids[0]) + 1 if len(ids) else 0
        if 0 < span <= min(_LARGEST_TABLE, 16 * len(ids) + 1024):
            self._table = np.full(span + 1, -1, dtype=np.int32)
            self._table[ids - ids[0]] = np.arange(len(ids), dtype=np.int32)

    def __call__(self, values: Ints) -> Ints:
        """Return the position of each value, or -1 for a value that is not an id; shape (n,)."""
        if not len(self._ids):
            return np.full(len(values), -1, dtype=np.int64)
        if self._table is not None:
            inside = (values >= self._ids[0]) & (values <= self._ids[-1])
            place = np.where(inside, values - self._ids[0], len(self._table) - 1)
            return self._table[place].astype(np.int64)
        place = np.minimum(np.searchsorted(self._ids, values), len(self._ids) - 1)
        return np.where(self._ids[place] == values, place, -1)


class TruthIndex:
    """The m truth boxes that count, sorted by class, then image, then file order.

    Boxes of blacklisted pairs are left out. Each box has an entry in these arrays: `box` (m, 4),
    the same as `columns` (4, m), `threshold` (m,), the positions of its class and image in
    `box_class` and `box_image` (m,), and its ground-truth row in `source` (m,). `difficult` (m,)
    flags the boxes that the rules ignore; it is None if they ignore none. `class_truths` counts the
    others of each class.

    `truth` is the ground truth itself.

    The boxes of one (image, class) pair form a group; `group_start` and `group_size` tell its
    place. The boxes of class position c are the slice `class_start[c]:class_start[c+1]`.
    """

    def __init__(self, truth: GroundTruth, rules: Rules) -> None:
        self.truth = truth
        self.images = Positions(truth.image_ids)
        self.classes = Positions(truth.class_ids)
        self.class_count = len(truth.class_ids)
        self.image_ids = truth.image_ids
        self.image_count = len(truth.image_ids)
        pair = self._pair_of(truth.box_image_id, truth.box_class_id)
        if len(pair) and pair.min() < 0:
            row = int(np.argmin(pair))
            raise InputError(
                f"ground-truth box {row + 1} (image {truth.box_image_id[row]}, class"
                f" {truth.box_class_id[row]}) is of an image or class that is not listed:"
                " list it, or leave the box out"
            )
        black = self._blacklisted(truth.blacklist.reshape(-1, 2))
        kept = np.flatnonzero(~np.isin(pair, black))
        order = kept[np.argsort(pair[kept], kind="stable")]
        self.source: Ints = order
        self.box = truth.box[order]
        self.columns = columns(self.box)
        self.threshold = thresholds(self.box, rules)
        groups, start, size = np.unique(pair[order], return_index=True, return_counts=True)
        self.group_start, self.group_size = start.astype(np.int64), size.astype(np.int64)
        self.box_class: Ints = pair[order] // max(self.image_count, 1)
        self.box_image: Ints = pair[order] % max(self.image_count, 1)
        self.class_start = np.searchsorted(self.box_class, np.arange(self.class_count + 1))
        ignores = rules.ignore_difficult and truth.difficult is not None
        self.difficult = truth.difficult[order] if ignores and truth.difficult is not None else None
        self.class_truths: Ints = np.bincount(
            self.box_class[self.to_find()], minlength=self.class_count
        )
        self._group_keys, self._group_codes = _sorted_codes(groups, black)
        self._group_table = self._make_table()

    def to_find(self) -> Ints:
        """Return the positions of the boxes that are not ignored, ascending."""
        if self.difficult is None:
            return np.arange(len(self.box), dtype=np.int64)
        return np.flatnonzero(~self.difficult)

    def _blacklisted(self, listed: Ints) -> Ints:
        """Return the pair numbers of a blacklist (k, 2), ascending; an unknown id has none."""
        if not len(listed):  # numpy.unique loads numpy.ma, which takes some 25 ms.
            return np.empty(0, dtype=np.int64)
        pairs = np.unique(self._pair_of(listed[:, 0], listed[:, 1]))
        return pairs[pairs >= 0]

    def _pair_of(self, image_id: Ints, class_id: Ints) -> Ints:
        """Return the pair number of each (image id, class id), or -1 if one is not listed."""
        return self.pair(self.images(image_id), self.classes(class_id))

    def pair(self, image: Ints, klass: Ints) -> Ints:
        """Return the number of each (image position, class position) pair, or -1; shape (n,)."""
        return np.where((image >= 0) & (klass >= 0), klass * self.image_count + image, -1)

    def group(self, pair: Ints) -> Ints:
        """Return the group of each pair number, NO_TRUTH or BLACKLISTED; shape (n,)."""
        if self._group_table is not None:
            return self._group_table[pair].astype(np.int64)
        if not len(self._group_keys):
            return np.full(len(pair), NO_TRUTH, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._group_keys, pair), len(self._group_keys) - 1)
        return np.where(self._group_keys[at] == pair, self._group_codes[at], NO_TRUTH)

    def _make_table(self) -> NDArray[np.int32] | None:
        """Return a table of the groups of all pairs, or None if it would be too large.

        One more entry at the end serves pair number -1.
        """
        pairs = self.class_count * self.image_count
        if pairs > _LARGEST_TABLE:
            return None
        table = np.full(pairs + 1, NO_TRUTH, dtype=np.int32)
        table[self._group_keys] = self._group_codes
        return table


def _sorted_codes(groups: Ints, black: Ints) -> tuple[Ints, Ints]:
    """Return the pair numbers with truth or on the blacklist, ascending, and the group of each."""
    keys = np.concatenate([groups, black])
    codes = np.concatenate([np.arange(len(groups)), np.full(len(black), BLACKLISTED)])
    order = np.argsort(keys)
    return keys[order], codes[order]
