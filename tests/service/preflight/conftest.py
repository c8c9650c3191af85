# SPDX-License-Identifier: Apache-2.0
"""Hashing that is fast."""

from __future__ import annotations

import argon2
import pytest

from referee.service.entry import passwords


@pytest.fixture
def cheap(monkeypatch):
    """Make hashing fast."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords.argon2, "PasswordHasher", lambda: hasher)
