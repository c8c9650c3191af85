# SPDX-License-Identifier: Apache-2.0
"""The canvas of the display: what is painted, and what is not told as painted."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

# Two pictures of 2x1 pixels. `frames` has who waits for the next frame of the browser.
BEGIN = """
const canvas = document.createElement("canvas");
const painter = new m.Painter(canvas);
painter.resize({ width: 2, height: 1, ratio: 1 });
const pictures = { red: [255, 0, 0, 255], blue: [0, 0, 255, 255], short: [] };
const held = {};
globalThis.fetch = async (url) => {
  const [name] = url.split("?");
  await held[name];
  const one = pictures[name] ?? [];
  const bytes = async () => new Uint8ClampedArray([...one, ...one]).buffer;
  return { ok: name !== "none", arrayBuffer: bytes };
};
const frames = [];
globalThis.requestAnimationFrame = (act) => frames.push(act);
const soon = () => new Promise((done) => { setTimeout(done); });
const frame = async () => {
  while (!frames.length) await soon();
  frames.shift()(0);
};
const shown = () => [...canvas.getContext("2d").getImageData(0, 0, 1, 1).data];
"""
BLACK, RED, BLUE = [0, 0, 0, 255], [255, 0, 0, 255], [0, 0, 255, 255]


def test_a_picture_is_told_when_the_browser_has_it(fresh: Scripts) -> None:
    """Two frames later, with the time of each step."""
    body = """
    const moments = [100, 110, 130, 160];
    Object.defineProperty(performance, "now", { value: () => moments.shift() });
    let done = false;
    const told = painter.paint("red").finally(() => { done = true; });
    await frame();
    await soon();
    const early = done;
    await frame();
    return [early, shown(), await told];
    """
    steps = {"fetch_ms": 10, "decode_ms": 20, "paint_ms": 30}
    assert [False, RED, steps] == fresh.run("display/painter.js", BEGIN + body)


def test_the_canvas_has_a_pixel_for_each_of_the_screen(fresh: Scripts) -> None:
    """A screen that is scaled has more of them than the page has lengths."""
    body = """
    painter.resize({ width: 30, height: 12, ratio: 1.5 });
    return [canvas.width, canvas.height, canvas.style.width, canvas.style.height];
    """
    assert [30, 12, "20px", "8px"] == fresh.run("display/painter.js", BEGIN + body)


def test_a_picture_that_was_blackened_before_its_frame_is_not_told(fresh: Scripts) -> None:
    """The screen never showed it, so it counts as not shown."""
    body = """
    const told = painter.paint("red");
    await frame();
    painter.black();
    await frame();
    return [shown(), await told];
    """
    assert [BLACK, None] == fresh.run("display/painter.js", BEGIN + body)


def test_a_slow_picture_is_never_painted_over_a_newer_one(fresh: Scripts) -> None:
    """It came while another was to be shown already."""
    body = """
    let release;
    held.red = new Promise((done) => { release = done; });
    const old = painter.paint("red");
    const told = painter.paint("blue");
    await frame();
    await frame();
    await told;
    release();
    return [await old, shown()];
    """
    assert [None, BLUE] == fresh.run("display/painter.js", BEGIN + body)


@pytest.mark.parametrize("name", ["none", "short"])
def test_a_refusal_and_a_wrong_size_are_not_painted(fresh: Scripts, name: str) -> None:
    """What the screen shows stays."""
    body = "return [await painter.paint(a[0]), shown()];"
    assert [None, BLACK] == fresh.run("display/painter.js", BEGIN + body, name)
