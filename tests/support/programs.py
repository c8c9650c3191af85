# SPDX-License-Identifier: Apache-2.0
"""Programs that some tests need and that pip cannot install."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Need:
    """A program that a bare machine lacks: its name, Debian's packages, and how to find it.

    One that is too large `in_ci` is missing there, and its tests are skipped.
    """

    name: str
    packages: str
    is_there: Callable[[], bool]
    in_ci: bool = True


def path_of(*names: str) -> str | None:
    """Return the path of the first of these programs that is installed."""
    return next((path for path in map(shutil.which, names) if path is not None), None)


def _compiles_with_libcurl() -> bool:
    """Tell whether the C compiler finds the C library's and libcurl's headers."""
    compiler = path_of("cc")
    if compiler is None:
        return False
    done = subprocess.run(
        [compiler, "-fsyntax-only", "-x", "c", "-"],
        input="#include <stdio.h>\n#include <curl/curl.h>\n",
        capture_output=True,
        text=True,
        timeout=180,
    )
    return done.returncode == 0


def chromium_path() -> str | None:
    """Return the path of Chromium, by the name that Debian or another system gives it."""
    return path_of("chromium", "chromium-browser", "google-chrome")


def headless_path() -> str | None:
    """Return the path of Chromium without windows, which Debian has apart, or else of the whole.

    It draws the same pages in less than half of the processor time. It knows no tab behind another.
    """
    # Debian's script in PATH waits for the browser, which outlives a script that a driver ends.
    names = ("/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell")
    return path_of(*names) or chromium_path()


BROWSER = Need(
    "Chromium and its driver",
    "chromium chromium-driver",
    lambda: None not in (chromium_path(), path_of("chromedriver")),
)
C_WITH_LIBCURL = Need(
    "a C compiler with libcurl's headers",
    "gcc libc6-dev libcurl4-openssl-dev",
    _compiles_with_libcurl,
)
C_COMPILER = Need("a C compiler", "gcc libc6-dev", lambda: path_of("cc") is not None)
GIT = Need("git", "git", lambda: path_of("git") is not None)
CURL = Need("curl", "curl", lambda: path_of("curl") is not None)
FISH = Need("fish", "fish", lambda: path_of("fish") is not None)
ZSH = Need("zsh", "zsh", lambda: path_of("zsh") is not None)
SSHD_PATH = path_of("sshd") or "/usr/sbin/sshd"  # Debian's users do not have its folder in PATH.
SSH = Need(
    "OpenSSH's client and server",
    "openssh-client openssh-server",
    lambda: None not in (path_of("ssh"), path_of("ssh-keygen"), path_of(SSHD_PATH)),
)

LATEX = Need(
    "LaTeX, its fonts and a reader of PDF",
    "texlive-latex-recommended texlive-xetex fonts-noto-core fonts-noto-cjk fonts-symbola"
    " poppler-utils",
    lambda: None not in (path_of("pdflatex"), path_of("xelatex"), path_of("pdftotext")),
    in_ci=False,
)


def require(need: Need) -> None:
    """Skip the test where a program is missing; under `CI=true` fail it if it belongs there.

    All skips come from one line of this file, outside of any fixture. So pytest's summary shows
    one line for each need, with the number of tests.
    """
    if need.is_there():
        return
    text = f"needs {need.name}. Install: sudo apt install {need.packages}"
    if need.in_ci and os.environ.get("CI") == "true":
        pytest.fail(text, pytrace=False)
    pytest.skip(text)
