# SPDX-License-Identifier: Apache-2.0
"""A photograph, and a runner that gives known outputs and keeps what it was fed."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from client_sample.models.runner import Tensor
from client_sample.models.settings import LIKE, ModelSettings
from tests.support.detector_heads import PHOTOGRAPH


class KnownRunner:
    """A model whose outputs are the same for each picture."""

    engine = "known"

    def __init__(self, outputs, metadata=None, inputs=()):
        self.inputs = list(inputs)
        self.arrays = [values for _, values in outputs]
        self.outputs = [Tensor(name, values.shape, values.dtype.name) for name, values in outputs]
        self.metadata = dict(metadata or {})
        self.fed: list[np.ndarray] = []

    def run(self, feeds):
        """Keep the feeds, and return the known outputs."""
        self.fed = list(feeds)
        for source, feed in zip(self.inputs, feeds, strict=True):
            assert source.dtype == feed.dtype.name
        return self.arrays


def settings(like=None, **given):
    """Return settings as the options give them."""
    known = ModelSettings(**given)
    return known.or_else(LIKE[like]) if like else known


@pytest.fixture(scope="session")
def photograph() -> bytes:
    """Return a red JPEG of odd sides."""
    file = io.BytesIO()
    Image.new("RGB", PHOTOGRAPH, (255, 0, 0)).save(file, "jpeg", quality=100, subsampling=0)
    return file.getvalue()
