# SPDX-License-Identifier: Apache-2.0
"""The scripts of the pages, run alone in a real browser: no page, no desk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from selenium import webdriver

from tests.support.project_files import project_files

_RUN = """
const [module, body, values, done] = arguments;
const made = Object.getPrototypeOf(async () => {}).constructor;
(async () => {
  const rules = await import(module);
  const { world } = await import("/tests/static/world.js");
  return made("m", "a", "world", body)(rules, values, world);
})().then((result) => done({ result: result ?? null }), ({ stack }) => done({ error: stack }));
"""


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Return the address of the project's files."""
    with project_files() as found:
        yield found


@dataclass(frozen=True)
class Scripts:
    """The scripts of the folder `static` in a browser."""

    browser: webdriver.Chrome
    address: str

    def run(self, module: str, body: str, *values: Any) -> Any:
        """Run the body of a function with a module as `m` and the values as the array `a`.

        It may await. Return what it returns; an error of the script fails the test.
        """
        answer = self.browser.execute_async_script(_RUN, f"/static/{module}", body, values)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def call(self, module: str, function: str, *values: Any) -> Any:
        """Return what one function of a module makes of the values."""
        return self.run(module, f"return m.{function}(...a)", *values)


@pytest.fixture(scope="module")
def scripts(one_chromium: webdriver.Chrome, address: str) -> Scripts:
    """Return the scripts in an empty page that the tests of a file share."""
    one_chromium.get(address)
    return Scripts(one_chromium, address)


@pytest.fixture
def fresh(one_chromium: webdriver.Chrome, address: str) -> Scripts:
    """Return the scripts in an empty page of this test, whose clock and streams it may replace."""
    one_chromium.get(address)
    return Scripts(one_chromium, address)
