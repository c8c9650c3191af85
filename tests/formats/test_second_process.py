# SPDX-License-Identifier: Apache-2.0
"""Work in a second process gives what it gives in this one, whatever becomes of that process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from itertools import chain

import pytest

from referee.formats import coco_results, second_process, typed_json
from referee.formats.coco_results import parse_results
from referee.formats.coco_results_usual import UsualColumns
from referee.formats.faults import FormatError
from tests.support.fakes import eventually

TWO_PROCESSORS = sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def usual(count, **odd):
    """Return results as JSON; the last entry has the fields of `odd`."""
    entries = [
        {"image_id": n, "category_id": n % 7, "bbox": [n, 2.5, 3, 1e-3 * n], "score": 1 / (1 + n)}
        for n in range(count)
    ]
    entries[-1] |= odd
    return json.dumps(entries).encode()


@pytest.fixture
def halved(monkeypatch):
    """Let short texts count as long ones, and return the texts decoded in this process."""
    decoded = []
    original = UsualColumns.fill

    def noted(columns, first, texts):
        texts = list(texts)
        decoded.extend(texts)
        return original(columns, first, texts)

    monkeypatch.setattr(UsualColumns, "fill", noted)
    monkeypatch.setattr(coco_results, "_LARGE", 0)
    monkeypatch.setattr(typed_json, "_PIECE", 500)
    return decoded


def test_two_processes_read_what_one_reads(halved):
    """Each process decodes one half of the entries, and together they give the same bits."""
    content = usual(200)
    alone = parse_results(content)
    halved.clear()
    both = parse_results(content, large=True)
    for name in ("image_id", "category_id", "score", "box"):
        assert getattr(alone, name).tobytes() == getattr(both, name).tobytes()
    here = len(list(chain.from_iterable(map(json.loads, halved))))
    # A thread that another test left in this process forbids a second one.
    assert (80 < here < 120) if second_process._is_of_use() else here == 200


@pytest.mark.parametrize("score", ["high", None, True])
def test_a_fault_in_the_other_half_is_named(halved, score):
    """An entry that only the second process saw is named by its index in the whole list."""
    with pytest.raises(FormatError, match=r"result \[199\], score"):
        parse_results(usual(200, score=score), large=True)


def test_an_id_that_is_too_large_in_the_other_half(halved):
    """An id beyond 64 bits names no image, in whichever half it is."""
    assert -1 == parse_results(usual(200, image_id=2**80), large=True).image_id[-1]


def test_a_second_process_that_dies_costs_nothing():
    """The work of a process that was killed is done again in this one."""
    first = os.getpid()

    def work():
        if os.getpid() != first:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    assert "done" == second_process.begin(work)()


def test_a_process_with_threads_is_not_copied():
    """A copy would hold the locks of threads that it has not, so there is none."""
    stop = threading.Event()
    other = threading.Thread(target=stop.wait, args=(60.0,), name="other")
    other.start()
    try:
        assert os.getpid() == second_process.begin(os.getpid)()
    finally:
        stop.set()
        other.join()


@pytest.mark.skipif(not TWO_PROCESSORS, reason="needs a second processor and Linux")
def test_a_second_process_ends_when_nobody_waits_for_it(tmp_path):
    """A process that is killed leaves no second one behind that waits to send its result."""
    program = (
        "import os, sys, time\n"
        "from referee.formats import second_process\n"
        "first = os.getpid()\n"
        "def work():\n"
        "    if os.getpid() != first:\n"
        "        open(sys.argv[1], 'a').write('x')\n"
        "    return bytes(2**22)\n"
        "second_process.begin(work)\n"
        "sys.stdin.read()\n"
    )
    told = tmp_path / "told"
    with subprocess.Popen(
        [sys.executable, "-c", program, told], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        eventually(told.exists)
        process.kill()
        # Its output ends when the last process that has it ends.
        assert b"" == process.communicate(timeout=180)[0]
