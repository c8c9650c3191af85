# SPDX-License-Identifier: Apache-2.0
"""What keeps people out of a page, by axe-core: names, roles, contrast, order of headings."""

from __future__ import annotations

from typing import Any

from axe_core_python.selenium import Axe
from selenium import webdriver

from tests.support.running import PATIENCE_S

_SHOWN = 3
# What another theme may change: the rest of axe-core's rules are about the elements.
_OF_COLOUR = ["color-contrast", "link-in-text-block"]


def barriers(browser: webdriver.Chrome, only_colours: bool = False) -> list[str]:
    """Return what axe-core calls moderate, serious or critical on the page that is open.

    What is folded or hidden is not looked at. Of each rule the first places are told.
    `only_colours` asks the rules alone that depend on the theme, which takes a part of the time.
    """
    browser.set_script_timeout(PATIENCE_S)
    told: dict[str, Any] = Axe().run(
        browser, options={"runOnly": _OF_COLOUR} if only_colours else None
    )
    return [
        f"{fault['impact']} {fault['id']}: {node['html']} {node['failureSummary']}"
        for fault in told["violations"]
        if fault["impact"] != "minor"
        for node in fault["nodes"][:_SHOWN]
    ]
