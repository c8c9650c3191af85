# SPDX-License-Identifier: Apache-2.0
"""The draws that all bundles of one ground truth share, as a season's file holds them.

Two solutions can be compared only on the same images. So the seed of the joint draws comes from the
ground truth, and each of its bundles sees the same halves of the images. The intervals of a bundle
alone have draws of their own, whose seed comes from the bundle.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from referee.errors import InputError
from referee.extras.season.rows import JointDraws, Row
from referee.extras.season.score_energy import divisor_or_why
from referee.scoring import Energy, MapUncertainty
from referee.scoring.rare_images import RareImages
from referee.scoring.split_half import SplitHalves

Floats = NDArray[np.float64]

_FLOAT = np.dtype("<f8")

# 'parts' tell the degrees of freedom f of a difference: 4/f is the sum of their fourth powers,
# divided by the square of their sum of squares. If g sums of images take the place of n images,
# at most 3/g is added. So with 1,000 sums f is at most 2,000 and never too large, where Student's
# distribution is normal.
_MOST_PARTS = 1000


def seed_from(*words: str) -> int:
    """Return a seed below 2^48 from words; many readers of JSON keep no more than 53 bits."""
    return int.from_bytes(sha256("\n".join(words).encode()).digest()[:6], "big")


def grouped(halves: SplitHalves) -> SplitHalves:
    """Return the same with the parts of many images summed in groups, at most 1,000."""
    n = len(halves.parts)
    if n <= _MOST_PARTS:
        return halves
    sums = np.asarray(np.bincount(np.arange(n) % _MOST_PARTS, halves.parts), np.float64)
    return replace(halves, parts=sums)


def joint_fields(key: str, measured: MapUncertainty) -> JointDraws:
    """Return the field `joint` of a row; bundles with the same `key` can be compared."""
    halves = measured.halves
    fields: JointDraws = {
        "key": key,
        "seed": halves.seed,
        "draws": len(halves.halves),
        "with_truth": measured.with_truth,
        "halves": _text(halves.halves),
        "quarters": _text(halves.quarters),
        "parts": _text(halves.parts),
    }
    if halves.rare is not None:
        fields |= {"weight": halves.rare.weight, "deciding": halves.rare.deciding}
    return fields


def joint_uncertainty(row: Row) -> MapUncertainty | None:
    """Return a row's joint draws for `referee.scoring.compare`, or None for a row without mAP.

    Only rows with an equal `joint.key` may be compared; their rules may differ. Raises `InputError`
    for a row whose arrays are none.
    """
    joint, new = row["joint"], row["new"]
    if joint is None or new is None:
        return None
    try:
        draws = int(joint["draws"])
        halves = SplitHalves(
            _array(joint["halves"]).reshape(draws, 2),
            _array(joint["quarters"]).reshape(draws, 4),
            _array(joint["parts"]),
            int(joint["seed"]),
            rare=_rare(joint),
        )
        mean_ap = new["mean_ap"]
        if mean_ap is None:
            raise ValueError("there is no mAP")
        return MapUncertainty(float(mean_ap), halves, int(joint["with_truth"]))
    except (KeyError, TypeError, ValueError, NotBase64) as error:
        raise InputError(f"the joint draws of {row.get('file')} cannot be read: {error}") from None


def _rare(joint: JointDraws) -> RareImages | None:
    """Return how few images decide a row's mAP, None in a row of an earlier version."""
    if "weight" not in joint or "deciding" not in joint:
        return None
    weight, deciding = float(joint["weight"]), float(joint["deciding"])
    if not (0 < weight <= 1 and 0 <= deciding < math.inf):
        raise ValueError(f"its weight is {weight} and {deciding} images decide")
    return RareImages(weight, deciding)


def energy_of_row(row: Row) -> Energy | None:
    """Return the energy whose uncertainty a row's score has, or None; see `divisor_or_why`.

    For programs that read rows (docs/season.md).
    """
    energy = divisor_or_why(row["old"])
    return energy if isinstance(energy, Energy) else None


def _text(values: Floats) -> str:
    return b64encode(np.ascontiguousarray(values, _FLOAT).tobytes()).decode("ascii")


def _array(text: str) -> Floats:
    return np.frombuffer(b64decode(text, validate=True), _FLOAT).astype(np.float64)
