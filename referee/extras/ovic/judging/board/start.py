# SPDX-License-Identifier: Apache-2.0
"""The first lines that run on a board: take the agent's code from standard input, and run it.

The board's Python gets this file as its argument (`board.py`). It may be an old Python, so this
file keeps to what any Python 3 can read, and to the standard library.

The agent has one folder, for its user alone, with a lock: so one measurement at a time runs for a
user of the board. What a killed agent left in the folder goes when the next one starts.
"""

import fcntl
import json
import os
import shutil
import stat
import sys
import tempfile

OLDEST = (3, 11)
# A greeting of the user's shell may come before this line. The referee looks for the mark.
MARK = "referee-board-1"
_CODE = "agent.zip"
_LOCK = "lock"


def main() -> None:
    """Say hello, take the code, and let the agent serve until the link ends."""
    say("hello", mark=MARK, python=sys.version.split()[0])
    if sys.version_info[:2] < OLDEST:
        needed = ".".join(map(str, OLDEST))
        return refuse("its Python is older than " + needed + ": name a newer one")
    try:
        folder = _own_folder()
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return refuse("another measurement runs on it: wait until it has ended")
    except OSError as error:
        return refuse("the agent's folder cannot be made: " + str(error))
    try:
        _serve(folder)
    finally:
        _wipe(folder)


def _serve(folder: str) -> None:
    path = os.path.join(folder, _CODE)
    try:
        _wipe(folder)
        code = _read_code()
        with open(path, "wb") as file:
            file.write(code)
    except OSError as error:
        return refuse("the agent's code cannot be stored: " + str(error))
    # The worker's process, which the agent starts, finds its code in the same place, and no other:
    # Python looks into the working folder first, and a home may hold a copy of the project.
    os.chdir(folder)
    os.environ["PYTHONPATH"] = path
    sys.path.insert(0, path)
    from referee.extras.ovic.judging.board import needs

    versions = needs.versions()
    lacks = needs.what_lacks(versions)
    if lacks:
        return refuse(lacks)
    say("libraries", libraries=versions)
    # Python imports numpy and Pillow for it.
    from referee.extras.ovic.judging.board import agent

    agent.main(folder)


def say(event: str, **fields: object) -> None:
    """Write a message, one line of JSON."""
    os.write(1, json.dumps(dict(fields, event=event)).encode() + b"\n")


def refuse(text: str) -> None:
    """Tell the referee why this board cannot measure."""
    say("failed", kind="board", text=text)


def _own_folder() -> str:
    """Return the agent's folder, which nobody else can enter; raise OSError otherwise."""
    folder = os.path.join(tempfile.gettempdir(), "referee-board-" + str(os.getuid()))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        status = os.lstat(folder)
        private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
        if status.st_uid != os.getuid() or not private:
            raise OSError(folder + " belongs to another user, or others may enter it") from None
    return folder


def _wipe(folder: str) -> None:
    for name in os.listdir(folder):
        if name == _CODE:
            os.remove(os.path.join(folder, name))
        elif name != _LOCK:
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def _read_code() -> bytes:
    """Read a line with a number of bytes, and then these bytes; take nothing beyond them."""
    head = b""
    while not head.endswith(b"\n"):
        head += _read(1)
    code = b""
    while len(code) < int(head):
        code += _read(int(head) - len(code))
    return code


def _read(most: int) -> bytes:
    chunk = os.read(0, most)
    if not chunk:
        raise OSError("the link ended")
    return chunk


if __name__ == "__main__":
    main()
