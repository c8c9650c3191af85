# SPDX-License-Identifier: Apache-2.0
"""What commands may load, loaded once: `tests.support.finished` forks each command from here."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
from contextlib import suppress

import power
import referee
from referee.service.setup.extra import own_extras
from referee.service.setup.program import Later

# As the command lines have it: no library may begin a thread before a fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

for package in (referee, power):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        # Guests and the demo are started seldom. A module may need what an extra brings.
        if not {"__main__", "extras", "demo"} & set(found.name.split(".")):
            with suppress(ImportError):
                importlib.import_module(found.name)
for guest in own_extras().values():
    if isinstance(guest.add_console_routes, Later):  # Each desk has them.
        guest.add_console_routes.load()
importlib.import_module("gunicorn.arbiter")
gc.collect()
gc.freeze()
