# SPDX-License-Identifier: Apache-2.0
"""What is read piece by piece, by one process or two, is what is read at once."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from referee.formats import coco_results, fast_reading, json_text
from referee.formats.coco_results import parse_results
from referee.formats.fast_reading import Pieces, begin_rows
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
    monkeypatch.setattr(fast_reading, "_LONG", 0)
    monkeypatch.setattr(json_text, "_PIECE", 500)


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


@pytest.mark.parametrize("long", [0, 1000])
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["#1#2#3", "#4#5", "#6#7#8#9"], [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (["#1##", "##", "#2#3#4#"], [1, 2, 3, 4]),
        (["##1", "#2", "#3"], [1, 2, 3]),
        ([""], []),
        (["#1", "#x", "#2"], None),
        ([], None),
    ],
)
def test_pieces_that_are_not_full_move_together(monkeypatch, texts, expected, long):
    """Rows come piece after piece without gaps; a piece may have fewer than its signs."""
    monkeypatch.setattr(fast_reading, "_LONG", long)

    def read(piece, room):
        if b"x" in piece:
            return None
        digits = [int(digit) for digit in piece.decode().replace("#", "")]
        for column in room(len(digits)):
            column.T[...] = digits
        return len(digits)

    ends = [0, *itertools.accumulate(map(len, texts))]
    spans = [slice(start, end) for start, end in itertools.pairwise(ends)]
    rows = begin_rows(Pieces("".join(texts).encode(), spans, b"#", read))()
    if expected is None:
        assert rows is None
    else:
        image_id, class_id, confidence, box = rows
        assert expected == image_id.tolist() == class_id.tolist() == confidence.tolist()
        assert [[value] * 4 for value in expected] == box.tolist()


@pytest.mark.skipif(not TWO_PROCESSORS, reason="needs a second processor and Linux")
def test_each_process_does_a_part():
    """The second process begins with the first piece, and this one with the last."""
    # A process of its own: threads that other tests leave would forbid a second one.
    program = (
        "import mmap, os\n"
        "from referee.formats import fast_reading\n"
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
        "finish = fast_reading.share(2, work)\n"
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

    fast_reading.share(3, work)()
    assert [0, 1, 2] == sorted(done)


def test_a_process_with_threads_is_not_copied():
    """A copy would hold the locks of threads that it has not, so there is none."""
    stop = threading.Event()
    other = threading.Thread(target=stop.wait, args=(60.0,), name="other")
    other.start()
    try:
        doers = []
        fast_reading.share(2, lambda piece: doers.append(os.getpid()))()
        assert [os.getpid()] * 2 == doers
    finally:
        stop.set()
        other.join()


def test_a_worker_of_a_pool_does_the_work_itself():
    """A daemon of `multiprocessing` may have no children, so a pool's worker reads alone."""
    program = (
        "import multiprocessing\n"
        "from referee.formats import fast_reading\n"
        "if __name__ == '__main__':\n"
        "    work = lambda: fast_reading.share(2, print)()\n"
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
        "from referee.formats import fast_reading\n"
        "first = os.getpid()\n"
        "def work(piece):\n"
        "    if os.getpid() != first:\n"
        "        open(sys.argv[1], 'a').write('x')\n"
        "fast_reading.share(3, work)\n"
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
