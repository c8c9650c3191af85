# SPDX-License-Identifier: Apache-2.0
"""The packages that are installed beside the referee, and those that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator

from referee.formats.answer_formats import installed_formats
from referee.plugins import installed_beside, unread, words_of
from referee.service.preflight.finding import CheckResult, ok, warn
from referee.service.setup.extra import installed_extras

_REMEDY = "Repair the package, or uninstall it. The contest runs without what it brings."


def package_findings() -> Iterator[CheckResult]:
    """Tell what packages bring beside the referee; one that cannot be used is a WARN.

    There is no finding where nothing is installed beside it.
    """
    brought = [words_of(plugin) for plugin in installed_beside()]
    faults = {
        fault.plugin: fault.fault
        for found in (installed_extras(), installed_formats())
        for fault in found.faults
    }
    for plugin, fault in faults.items():
        yield warn("machine", plugin.package, f"{words_of(plugin)}: {fault}", _REMEDY)
    for unusable in unread():
        yield warn(
            "machine", "packages", f"{unusable.package} is unreadable: {unusable.what}", _REMEDY
        )
    if brought and not unread():
        yield ok("machine", "packages", "; ".join(brought))
