# SPDX-License-Identifier: Apache-2.0
"""Private keys in files of mode 600, as PEM without a password."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from referee.errors import ConfigError, InputError


def key_text(key: PrivateKeyTypes) -> bytes:
    """Return a private key as PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def read_key(path: Path) -> PrivateKeyTypes:
    """Return a private key; raise `ConfigError` if others may read it, or if it is none."""
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"{path} can be read by others: run 'chmod 600 {path}'.")
        return serialization.load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigError(f"{path} is no private key in PEM without a password: {error}.") from None


def write_once(path: Path, content: bytes) -> None:
    """Write a new file with mode 600, unless the path exists; never half a file."""
    new = _written(path, content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        os.unlink(new)


def replace_file(path: Path, content: bytes, mode: int) -> None:
    """Write a file, in the place of one that may be there; never half a file."""
    new = _written(path, content)
    os.chmod(new, mode)
    os.replace(new, path)


def _written(path: Path, content: bytes) -> str:
    """Write to a new file beside the path, with mode 600, and return its name."""
    new = ""
    try:
        descriptor, new = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if new:
            os.unlink(new)
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return new
