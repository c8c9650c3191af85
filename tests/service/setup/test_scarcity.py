# SPDX-License-Identifier: Apache-2.0
"""Errors of the whole machine, told apart from those of a file."""

from __future__ import annotations

import errno

import pytest

from referee.service.setup.scarcity import scarcity


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_what_the_machine_lacks_is_no_fault_of_a_file(number) -> None:
    """An error of the whole machine is told apart from one of a file."""
    assert scarcity(OSError(number, "lack")) == "lack"
    assert scarcity(FileNotFoundError(errno.ENOENT, "gone")) is None
    assert scarcity(ValueError()) is None
