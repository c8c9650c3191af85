# SPDX-License-Identifier: Apache-2.0
"""Reads what a TensorFlow Lite file holds, without running it: input, weights, work.

The file is data here. It is counted by the reader that the sample for boards uses.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from client_sample.networks import lite_rt_network
from referee.errors import InputError, MissingLibrary
from referee.extras.aiotbench.networks import ModelFacts, RanModel
from referee.formats.text import read_bytes

_MOST_BYTES = 512 << 20


def read_model(path: Path) -> RanModel:
    """Return name, SHA-256 and network of a TensorFlow Lite file.

    Raises InputError for another file, and without LiteRT.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if size > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MB")
    content = read_bytes(path)
    try:
        read = lite_rt_network(content)
    except ImportError:
        raise MissingLibrary("a TensorFlow Lite model", "ai-edge-litert", "litert") from None
    # A damaged file leads the reader anywhere in it.
    except Exception as error:
        raise InputError(
            f"{path} cannot be read as a TensorFlow Lite model of one picture: {error}"
        ) from None
    network = ModelFacts(read.width, read.height, read.parameters, read.flops)
    return RanModel(path.name, hashlib.sha256(content).hexdigest(), network)
