# SPDX-License-Identifier: Apache-2.0
"""The referee's errors: a small tree that tells a caller whose fault an error is.

A message says what is wrong and, where that helps, what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class RefereeError(Exception):
    """The base class of all errors that the referee raises on purpose."""


class InputError(RefereeError):
    """An input that cannot be used; its text names the file, line and field if they are known.

    `path` is the file, where its raiser or `about_file` has told it: for programs, which read no
    texts.
    """

    def __init__(self, *words: object, path: Path | None = None) -> None:
        super().__init__(*words)
        self.path = path


class ArgumentError(InputError, ValueError):
    """An argument of a call that cannot be used: wrong arrays, rules, levels or numbers."""


class ConfigError(InputError):
    """An unusable configuration; its text names the file, the key and what was expected.

    `fault` is the text without the file, which `path` names.
    """

    def __init__(self, fault: str, *, path: Path | None = None) -> None:
        super().__init__(fault, path=path)
        self.fault = fault

    def __str__(self) -> str:
        return self.fault if self.path is None else f"{self.path}: {self.fault}"


class MissingLibrary(InputError):
    """A library that a plain install does not bring; its text says what to install.

    `library` is what pip installs, and `extra` the extra of this package that brings it along. Both
    are told, because the command is right beside a clone and beside a wheel.
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} needs {library}: pip install {library} (the extra '{extra}')")


class Unavailable(RefereeError):
    """Another part (control desk, meter, disk) failed or did not answer in time."""


class Refusal(RefereeError):
    """The refusal of a request by a contestant or an operator; nothing was changed.

    `code` is stable and meant for programs, for example `token_invalid`. `faults` lists every
    fault of a post if there are several.
    """

    def __init__(self, code: str, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(code, message, faults)
        self.code = code
        self.message = message
        self.faults = faults

    def __str__(self) -> str:
        return self.message


@contextmanager
def about_file(path: Path) -> Iterator[None]:
    """Tell each `InputError` of the block that it is about this file, if it knows none yet."""
    try:
        yield
    except InputError as error:
        error.path = error.path or path
        raise


@contextmanager
def needing(what: str, library: str, extra: str) -> Iterator[None]:
    """Raise `MissingLibrary` where the block's imports miss a library of others."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("referee", "power", "client_sample"):
            raise
        raise MissingLibrary(what, library, extra) from None
