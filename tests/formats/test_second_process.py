# SPDX-License-Identifier: Apache-2.0
"""Work in a second process gives what it gives in this one, whatever becomes of that process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from referee.formats import coco_results, second_process, typed_json
from referee.formats.coco_results import parse_results
from referee.formats.faults import FormatError
from tests.support.fakes import eventually

TWO_PROCESSORS = sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def usual(count, place=-1, **odd):
    """Return results as JSON; the entry at `place` has the fields of `odd`."""
    entries = [
        {"image_id": n, "category_id": n % 7, "bbox": [n, 2.5, 3, 1e-3 * n], "score": 1 / (1 + n)}
        for n in range(count)
    ]
    entries[place] |= odd
    return json.dumps(entries).encode()


@pytest.fixture
def short_pieces(monkeypatch):
    """Let short texts count as long ones, in pieces of a few entries."""
    monkeypatch.setattr(coco_results, "LONG_TEXT", 0)
    monkeypatch.setattr(typed_json, "_PIECE", 500)


def read_by_two(content):
    """Read a list as a long file is read."""
    return coco_results.begin_results(content)()


def test_two_processes_read_what_one_reads(short_pieces):
    """Together two processes give the same bits as one."""
    content = usual(200)
    alone, both = parse_results(content), read_by_two(content)
    for name in ("image_id", "category_id", "score", "box"):
        assert getattr(alone, name).tobytes() == getattr(both, name).tobytes()


@pytest.mark.parametrize("place", [0, 199])
@pytest.mark.parametrize("score", ["high", None, True])
def test_a_fault_is_named_wherever_it_is(short_pieces, score, place):
    """An entry at either end is named by its row in the whole list."""
    with pytest.raises(FormatError, match=f"row {place + 1}, score"):
        read_by_two(usual(200, place, score=score))


def test_entries_with_objects_in_them(short_pieces):
    """Entries may hold other objects, and are as many as they are."""
    more = {"segmentation": {"size": [3, 4], "counts": "{"}}
    assert 200 == len(read_by_two(usual(200, 7, **more)))


def test_an_id_that_is_too_large(short_pieces):
    """An id beyond 64 bits names no image, at whichever end it is."""
    assert -1 == read_by_two(usual(200, 0, image_id=2**80)).image_id[0]
    assert -1 == read_by_two(usual(200, image_id=2**80)).image_id[-1]


@pytest.mark.skipif(not TWO_PROCESSORS, reason="needs a second processor and Linux")
def test_each_process_does_a_part():
    """The second process begins with the first piece, and this one with the last."""
    # A process of its own: threads that other tests leave would forbid a second one.
    program = (
        "import mmap, os\n"
        "from referee.formats import second_process\n"
        "first, doers = os.getpid(), mmap.mmap(-1, 2)\n"
        "receiver, sender = os.pipe()\n"
        "begun, begin = os.pipe()\n"
        "def work(piece):\n"
        "    doers[piece] = 1 if os.getpid() == first else 2\n"
        "    if piece == 0:\n"
        "        os.write(begin, b'x')\n"
        "        os.read(receiver, 1)  # Until the other piece is done.\n"
        "    else:\n"
        "        os.write(sender, b'x')\n"
        "finish = second_process.share(2, work)\n"
        "os.read(begun, 1)\n"
        "finish()\n"
        "print(doers[:2])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, timeout=180
    )
    assert (b"b'\\x02\\x01'\n", b"") == (done.stdout, done.stderr)


def test_a_second_process_that_dies_costs_nothing():
    """The pieces of a process that was killed are done in this one."""
    first = os.getpid()
    done = []

    def work(piece):
        if os.getpid() != first:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(piece)

    second_process.share(3, work)()
    assert [0, 1, 2] == sorted(done)


def test_a_process_with_threads_is_not_copied():
    """A copy would hold the locks of threads that it has not, so there is none."""
    stop = threading.Event()
    other = threading.Thread(target=stop.wait, args=(60.0,), name="other")
    other.start()
    try:
        doers = []
        second_process.share(2, lambda piece: doers.append(os.getpid()))()
        assert [os.getpid()] * 2 == doers
    finally:
        stop.set()
        other.join()


def test_a_worker_of_a_pool_does_the_work_itself():
    """A daemon of `multiprocessing` may have no children, so a pool's worker reads alone."""
    program = (
        "import multiprocessing\n"
        "from referee.formats import second_process\n"
        "if __name__ == '__main__':\n"
        "    work = lambda: second_process.share(2, print)()\n"
        "    fork = multiprocessing.get_context('fork')\n"
        "    worker = fork.Process(target=work, daemon=True)\n"
        "    worker.start()\n"
        "    worker.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert (b"1\n0\n", b"") == (done.stdout, done.stderr)


@pytest.mark.skipif(not TWO_PROCESSORS, reason="needs a second processor and Linux")
def test_a_second_process_ends_when_nobody_waits_for_it(tmp_path):
    """A process that is killed leaves no second one behind that waits for it."""
    program = (
        "import os, sys, time\n"
        "from referee.formats import second_process\n"
        "first = os.getpid()\n"
        "def work(piece):\n"
        "    if os.getpid() != first:\n"
        "        open(sys.argv[1], 'a').write('x')\n"
        "second_process.share(3, work)\n"
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
