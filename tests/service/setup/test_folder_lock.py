# SPDX-License-Identifier: Apache-2.0
"""A folder has one owner for each role, and anybody may ask whether it has one."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.service.setup.folder_lock import is_locked, lock_folder


def test_a_role_is_locked_while_somebody_holds_it(tmp_path):
    """Others see the lock of a role until it is released."""
    with lock_folder(tmp_path, "desk"):
        assert is_locked(tmp_path, "desk")
        assert not is_locked(tmp_path, "contest")
    assert not is_locked(tmp_path, "desk")


def test_asking_leaves_no_trace(tmp_path):
    """Asking creates no file, and the folder can be locked afterwards."""
    assert not is_locked(tmp_path, "desk")
    assert [] == list(tmp_path.iterdir())
    with lock_folder(tmp_path, "desk"):
        pass
    assert not is_locked(tmp_path, "desk")
    with lock_folder(tmp_path, "desk"), pytest.raises(InputError, match="is in use by process"):
        with lock_folder(tmp_path, "desk"):
            pass


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    """A file where the folder should be is named, and no traceback follows."""
    (tmp_path / "demo").write_text("")
    with pytest.raises(InputError, match="demo: the folder cannot be made: there is a file"):
        with lock_folder(tmp_path / "demo", "contest"):
            pass
    with pytest.raises(InputError, match="data: the folder cannot be made: Not a directory"):
        with lock_folder(tmp_path / "demo" / "data", "contest"):
            pass
