# SPDX-License-Identifier: Apache-2.0
"""The page of a recording in a real browser, served by the real program."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest
from selenium import webdriver

from power.clock import real_elapsed_s
from power.energy.verdict import EnergyResult, Verdict, note
from power.live.address import listening_socket, page_url
from power.live.feed import LiveFeed, start_feed
from power.live.records import message_line, reading_line, result_line, run_line
from power.meter import Identity, MeterSettings, Reading
from tests.support.barriers import barriers
from tests.support.browsing import text_of, wait_text
from tests.support.hits import misses_in_fonts

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SETTINGS = MeterSettings(timer_s=600, voltage_range_v=150.0, current_range_a=0.1)


@contextmanager
def served(listening: socket.socket, log: str) -> Iterator[LiveFeed]:
    """Run the program on this socket, for a run into this log."""
    feed = start_feed(["--page", str(listening.fileno())], [listening.fileno()])
    try:
        feed.send(run_line(log, Identity("YOKOGAWA", "WT310", "X", "F1"), SETTINGS))
        yield feed
    finally:
        feed.close(finish=True)


def tops(browser: webdriver.Chrome) -> list[str]:
    """Return the scales of both charts, at one moment: the page draws them anew."""
    script = "return document.querySelectorAll(`#${arguments[0]} text`)[2].textContent"
    return [browser.execute_script(script, name) for name in ("whole", "recent")]


def beyond_the_axis(browser: webdriver.Chrome) -> list[str]:
    """Return the points of the last minute's curve that lie left of its axis."""
    return list(
        browser.execute_script("""
            const axis = Number(document.querySelector("#recent line").getAttribute("x1"));
            const curve = document.querySelector("#recent .power").getAttribute("d");
            return curve.match(/[\\d.-]+(?= )/g).filter((x) => Number(x) < axis - 0.5);
        """)
    )


def parts(browser: webdriver.Chrome) -> list[int]:
    """Return in how many parts the curves of both charts are."""
    script = "return document.querySelector(`#${arguments[0]} .power`).getAttribute('d')"
    curves = [browser.execute_script(script, name) or "" for name in ("whole", "recent")]
    return [curve.count("M") for curve in curves]


def test_a_recording_is_seen_in_a_browser(
    browser: webdriver.Chrome,
    browsers: Mapping[str, webdriver.Chrome],
    make_reading: Callable[..., Reading],
) -> None:
    """Figures, curves, gaps, messages, the result, and then the next recording at the address."""

    def send(feed: LiveFeed, seconds: list[int], power_w: float) -> None:
        # An hour from now, so that no reading is ever old, however long this browser takes.
        begun_s = real_elapsed_s() + 3600.0
        for second in seconds:
            reading = make_reading(float(second), power_w=power_w, monotonic_s=begun_s + second)
            feed.send(reading_line(reading, float(second)))

    with listening_socket("127.0.0.1:0") as listening:
        url = page_url(listening)
        with served(listening, "run.csv") as feed:
            browser.get(url)
            wait_text(browser, "stage", "running")
            send(feed, [*range(1, 40)], 6.0)
            wait_text(browser, "time", "0:39 of 10:00")
            send(feed, [*range(50, 100)], 6.0)
            feed.send(message_line("the meter answers again"))
            wait_text(browser, "noticed", "after 1:39: the meter answers again")
            assert "1:39 of 10:00" == text_of(browser, "time")
            assert ["6.000 W", "150 V, 0.1 A"] == [
                text_of(browser, "power"),
                text_of(browser, "ranges"),
            ]
            assert "Times without readings: 1, 11.0 s in all" in text_of(browser, "noticed")
            assert ["8 W", "8 W"] == tops(browser)
            assert [2, 2] == parts(browser), "the gap breaks both curves"
            assert [] == beyond_the_axis(browser), "what is older than a minute is not drawn"
            assert [] == barriers(browser)
            assert {} == misses_in_fonts(browsers, url, "time", "1:39 of 10:00")
        # The program has ended. The page takes up the next one at the address by itself.
        with served(listening, "next.csv") as feed:
            send(feed, [1, 2, 3], 60.0)
            wait_text(browser, "log", "next.csv")
            wait_text(browser, "power", "60.00 W")
            assert ["80 W", "80 W"] == tops(browser)
            assert [1, 1] == parts(browser)
            assert "nothing so far" == text_of(browser, "calm")
            found = (note("gap", "One gap."),)
            feed.send(result_line(EnergyResult(Verdict.VALID, 1.5, 0.01, found)))
            wait_text(browser, "result-energy", "1.5 Wh ± 0.01 Wh")
            assert ["VALID", "note: One gap."] == [
                *(text_of(browser, "verdict"), text_of(browser, "findings")),
            ]
        loaded = browser.execute_script(
            "return performance.getEntriesByType('resource').map((one) => one.name)"
        )
        assert [] == [name for name in loaded if not name.startswith(url)], "it needs no other host"
