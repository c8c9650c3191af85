# SPDX-License-Identifier: Apache-2.0
"""The code that a board gets: the modules that time a model here, and the agent, in one zip.

The board runs these very files. So the timed code is the same as on this machine, and nothing on
the board can be of another version of the referee.
"""

from __future__ import annotations

import base64
import inspect
import io
import shlex
import zipfile
import zlib
from importlib.resources import files

from referee.extras.ovic.judging.board import start

MODULES = (
    "__init__",
    "errors",
    "extras/__init__",
    "extras/ovic/__init__",
    "extras/ovic/judging/__init__",
    "extras/ovic/judging/benchmark",
    "extras/ovic/judging/board/__init__",
    "extras/ovic/judging/board/agent",
    "extras/ovic/judging/board/inbox",
    "extras/ovic/judging/board/needs",
    "extras/ovic/judging/confined",
    "extras/ovic/judging/jobs",
    "extras/ovic/judging/machine",
    "extras/ovic/judging/model",
    "extras/ovic/judging/wire",
    "extras/ovic/judging/worker",
    "extras/ovic/rules/__init__",
    "extras/ovic/rules/latency",
    "extras/ovic/rules/model_rules",
    "extras/ovic/rules/preprocessing",
    "service/__init__",
    "service/setup/__init__",
    "service/setup/parent",
)
"""The referee's modules that the agent and the worker import; a test holds this list."""


def agent_zip() -> bytes:
    """Return the modules as a zip that Python imports from."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name in MODULES:
            source = files("referee").joinpath(f"{name}.py").read_bytes()
            # A fixed date: the same code gives the same bytes.
            file.writestr(zipfile.ZipInfo(f"referee/{name}.py"), source, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def start_command(python: str) -> str:
    """Return the line for the board's shell that runs `start.py` with a Python.

    The text has letters, digits and a few signs that mean the same in every shell.
    """
    packed = base64.b64encode(zlib.compress(inspect.getsource(start).encode(), 9)).decode()
    code = f'import base64,zlib;exec(zlib.decompress(base64.b64decode("{packed}")))'
    return f"{shlex.quote(python)} -c '{code}'"
