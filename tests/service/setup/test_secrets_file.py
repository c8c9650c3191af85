# SPDX-License-Identifier: Apache-2.0
"""The keys of a contest: made once, and readable by their owner alone."""

from __future__ import annotations

import json
import stat
import threading

import pytest

from referee.errors import ConfigError
from referee.service.setup.secrets_file import load_secrets, secrets_path


def test_keys_are_made_once(tmp_path):
    """The first call makes the keys, and every later call finds them."""
    first = load_secrets(tmp_path)
    assert first == load_secrets(tmp_path)
    assert (32, 32) == (len(first.token_key), len(first.console_key))
    assert first.token_key != first.console_key


def test_each_contest_has_its_own(tmp_path):
    """Two folders never share a key."""
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    assert load_secrets(folders[0]).token_key != load_secrets(folders[1]).token_key


def test_only_the_owner_may_read(tmp_path):
    """The file has mode 600, and the folder holds no other file."""
    load_secrets(tmp_path)
    assert 0o600 == stat.S_IMODE(secrets_path(tmp_path).stat().st_mode)
    assert [secrets_path(tmp_path)] == list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o601])
def test_file_that_others_may_use_is_refused(tmp_path, mode):
    """A file that others may use is refused with the command that mends it; the keys stay."""
    keys = load_secrets(tmp_path)
    path = secrets_path(tmp_path)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=f"Run: chmod 600 {path}"):
        load_secrets(tmp_path)
    path.chmod(0o600)
    assert keys == load_secrets(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        json.dumps({"token_key": "00" * 32}),
        json.dumps({"token_key": "xyz", "console_key": "00" * 32}),
        json.dumps({"token_key": 5, "console_key": "00" * 32}),
        json.dumps({"token_key": "", "console_key": "00" * 32}),
        json.dumps({"token_key": "00" * 32, "console_key": "00" * 8}),
        "ä",
    ],
)
def test_damaged_file_is_refused(tmp_path, text):
    """A damaged file is refused and never replaced, because new keys would void tokens in use."""
    path = secrets_path(tmp_path)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="is damaged"):
        load_secrets(tmp_path)
    assert text == path.read_text(encoding="utf-8")


def test_many_that_start_together_get_the_same_keys(tmp_path):
    """Of many simultaneous callers one makes the keys, and none reads a half-written file."""
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        found, barrier = [], threading.Barrier(8)

        def load(folder=folder, found=found, barrier=barrier):
            barrier.wait(180)
            found.append(load_secrets(folder))

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(180)
        assert 8 == len(found)
        assert 1 == len(set(found))
