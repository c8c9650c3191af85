# SPDX-License-Identifier: Apache-2.0
"""What keeps people out of a page, by axe-core: names, roles, contrast, order of headings."""

from __future__ import annotations

from typing import Any

from axe_core_python.selenium import Axe
from selenium import webdriver

_SHOWN = 3


def barriers(browser: webdriver.Chrome) -> list[str]:
    """Return what axe-core calls moderate, serious or critical on the page that is open.

    What is folded or hidden is not looked at. Of each rule the first places are told.
    """
    told: dict[str, Any] = Axe().run(browser)
    return [
        f"{fault['impact']} {fault['id']}: {node['html']} {node['failureSummary']}"
        for fault in told["violations"]
        if fault["impact"] != "minor"
        for node in fault["nodes"][:_SHOWN]
    ]
