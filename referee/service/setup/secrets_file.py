# SPDX-License-Identifier: Apache-2.0
"""The keys of a contest, in a file that only its owner can read."""

from __future__ import annotations

import json
import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path

from referee.errors import ConfigError
from referee.service.setup.whole_files import write_once

_KEY_BYTES = 32
_MOST_BYTES = 4096


@dataclass(frozen=True)
class Secrets:
    """The keys of a contest: one signs contestants' tokens, one signs operators' forms."""

    token_key: bytes
    console_key: bytes


def secrets_path(folder: Path) -> Path:
    """Return the path of the keys in a contest's folder."""
    return folder / "secrets.json"


def load_secrets(folder: Path) -> Secrets:
    """Return the keys of a contest's folder; the first call makes them.

    Raises `ConfigError` if other users may read the file or if it is damaged. Damaged keys are not
    replaced, because new keys would invalidate every token that was given out.
    """
    path = secrets_path(folder)
    if not path.exists():
        _make(path)
    return _read(path)


def _make(path: Path) -> None:
    """Write new keys; of several processes that start together, one makes them."""
    keys = {name: secrets.token_hex(_KEY_BYTES) for name in ("token_key", "console_key")}
    write_once(path, json.dumps(keys).encode("ascii"))


def holds_keys(path: Path) -> bool:
    """Tell whether a file has a contest's keys, whoever may read it; it is read to a bound."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return False
        _parsed(path)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _read(path: Path) -> Secrets:
    if path.stat().st_mode & 0o077:
        raise ConfigError(f"{path} can be read by others. Run: chmod 600 {shlex.quote(str(path))}")
    try:
        return _parsed(path)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} is damaged. Restore it, or delete it; deleting it makes every token invalid."
        ) from error


def _parsed(path: Path) -> Secrets:
    keys = json.loads(path.read_text(encoding="ascii"))
    secrets = Secrets(bytes.fromhex(keys["token_key"]), bytes.fromhex(keys["console_key"]))
    if min(len(secrets.token_key), len(secrets.console_key)) < _KEY_BYTES:
        raise ValueError("a key is too short")
    return secrets
