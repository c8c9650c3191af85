# SPDX-License-Identifier: Apache-2.0
"""Fixtures and settings that every part of the tests shares."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from power.logs.journal import JOURNAL_VARIABLE
from referee.commands.options import VARIABLE
from tests.support.fonts import FAMILIES, FONTS, found_families
from tests.support.libraries import reason_to_skip
from tests.support.mortal_disk import Disk, mortal_disk
from tests.support.programs import BROWSER, Need, require
from tests.support.teams import free_hashes
from tests.support.troubles import TROUBLES, Troubles

if TYPE_CHECKING:  # The core of the tests has no browser.
    from selenium import webdriver

    Chromiums = Callable[[str], webdriver.Chrome]

_TESTS = Path(__file__).parent
_SHARED_DATA = _TESTS.resolve().parents[1] / "shared" / "data"

# A property test shows that a result is right, never how fast it comes. On a busy machine the
# first input is slow, and a check of speed would fail for that alone.
#
# Nor does it fail by chance: everybody's run has the same inputs. `make bench ARGS=properties`
# looks for others, and what it finds becomes an `@example` of its test.
_NEVER_TOO_SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("referee", _NEVER_TOO_SLOW, derandomize=True, database=None)
settings.register_profile(
    "roaming", _NEVER_TOO_SLOW, derandomize=False, max_examples=1000, print_blob=True
)
settings.load_profile("referee")


# Files of whole programs that take longest. Of the others, a file and the folders that wait most.
_LONGEST = tuple(
    "whole_event console_windows ovic_service lifecycle accessibility practice console_page "
    "camera_display venue_table".split()
)
_WAITING = ("test_page_commands.py", "power", "client_sample", "web")
# The tests of whole programs begin within this share of the run, so that none is left to the end.
_SHARE = 0.75


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let somebody run all tests of pages in one font."""
    parser.addoption("--font", choices=list(FAMILIES), help="the font in which pages are tested")


def pytest_configure(config: pytest.Config) -> None:
    """Let the tests' programs feel Ctrl-C, also where a script runs the tests in its background.

    A shell starts such programs with SIGINT ignored, and their children inherit that. The programs
    share a journal of runs that is not this computer's, unless they test a real meter.
    """
    if config.getoption("--meter", None) is None:
        folder = tempfile.mkdtemp()
        config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))
        os.environ[JOURNAL_VARIABLE] = os.path.join(folder, "runs.jsonl")
    os.environ.pop(VARIABLE, None)  # No test is about an event of the person who runs it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector rest while the tests are collected.

    Modules and their syntax trees hold no garbage, and it would walk them again and again: that is
    half of the time of a first collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a file whose import lacks a library that only an extra brings."""
    report = yield
    if report.outcome == "failed":
        reason = reason_to_skip(report.call.excinfo.value.__cause__)
        if reason is not None:
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 1, f"Skipped: {reason}")
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mix files of whole programs, which wait, with the many short ones, which compute.

    The files that take longest come first, so that no worker is left alone with one of them.
    """
    files = list(dict.fromkeys(item.path for item in items))
    rooms = {file: file.relative_to(_TESTS).parts[0] for file in files}
    whole = [file for file in files if rooms[file] == "e2e"]
    short = [file for file in files if rooms[file] != "e2e"]
    whole.sort(key=lambda file: _place(file.stem.removeprefix("test_"), _LONGEST))
    short.sort(key=lambda file: _place(rooms[file], _WAITING))
    places = {file: _SHARE * n / len(whole) for n, file in enumerate(whole)}
    places |= {file: n / len(short) for n, file in enumerate(short)}
    items.sort(key=lambda item: places[item.path])


def _place(name: str, first: tuple[str, ...]) -> int:
    """Return the place of a name among those that come first, or the place behind them."""
    return first.index(name) if name in first else len(first)


def pytest_collection_finish() -> None:
    """Spare the garbage collector the thousands of tests, which stay until the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs that a test needs before any of its fixtures is made."""
    needs: list[Need] = [need for mark in item.iter_markers("needs") for need in mark.args]
    if item.get_closest_marker("browser") is not None:
        needs.append(BROWSER)
    for need in needs:
        require(need)


@pytest.fixture(autouse=True)
def troubles() -> Iterator[Troubles]:
    """Collect what the code under test logs of its troubles, so that waits can end by them."""
    TROUBLES.forget()
    loggers = [logging.getLogger(name) for name in ("referee", "power")]
    for logger in loggers:
        logger.addHandler(TROUBLES)
    yield TROUBLES
    for logger in loggers:
        logger.removeHandler(TROUBLES)


@pytest.fixture(scope="module", autouse=True)
def cheap_hashes() -> Iterator[None]:
    """Let the hash of a password cost nothing, where a module does not say otherwise."""
    with free_hashes():
        yield


@pytest.fixture(scope="session")
def one_chromium(chromiums: Chromiums, pytestconfig: pytest.Config) -> webdriver.Chrome:
    """Return the browser of all tests of this process: to start one takes seconds.

    Its pages look the same on each machine: it has one family of fonts, if it is there.
    """
    return chromiums(pytestconfig.getoption("--font") or next(iter(found_families()), ""))


@pytest.fixture(scope="session")
def chromiums() -> Iterator[Chromiums]:
    """Return what gives the browser of a family of fonts, one for all tests of this process."""
    from tests.support.browsing import chromium

    with ExitStack() as stack:
        yield cache(lambda font: stack.enter_context(chromium(font=font)))


@pytest.fixture
def browsers(chromiums: Chromiums) -> Iterator[Mapping[str, webdriver.Chrome]]:
    """Return a browser for each font, for what must fit its place in all of them."""
    from tests.support.browsing import fresh_window

    require(FONTS)
    found = {font: chromiums(font) for font in FAMILIES}
    for browser in found.values():
        browser.get_log("browser")
    yield found
    for browser in found.values():
        fresh_window(browser)


@pytest.fixture(scope="module")
def browser(one_chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """Return the browser with a window that the tests of a module share."""
    from tests.support.browsing import fresh_window

    one_chromium.get_log("browser")  # It has the complaints of other modules' pages.
    yield one_chromium
    fresh_window(one_chromium)


@pytest.fixture
def terminal_that_can_close() -> Iterator[None]:
    """Let this process and its children feel SIGHUP, even if the tests run behind nohup."""
    closed = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, closed)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real photographs, detections and models; skip where there is none."""
    if not _SHARED_DATA.is_dir():
        pytest.skip("the folder of real data is not beside the project")
    return _SHARED_DATA


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Disk]:
    """Return a file system that can lose its power; skip where none can be mounted."""
    with mortal_disk(tmp_path, 64) as disk:
        if disk is None:
            pytest.skip("a disk that loses its power cannot be mounted here: run the tests as root")
        yield disk
