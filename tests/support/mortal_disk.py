# SPDX-License-Identifier: Apache-2.0
"""A disk that loses its power: an ext4 of its own, which forgets what was not synced.

The kernel's shutdown of a file system (`EXT4_IOC_SHUTDOWN`, with the flag that leaves the journal
unwritten) is what the file systems' own test suites use as a power cut. From this moment nothing
reaches the device: neither data in the page cache nor the journal. What a program still writes or
syncs fails. The next mount replays the journal and finds what had been synced, or what the kernel
had written by itself.

A sync that is under way at this moment may still return with success, though nothing is kept: 17 of
248 cuts of a bare SQLite showed that, and none lost what had been acknowledged before. So what a
program says after the cut does not count; no laptop without power would say it.

It does not show a device that lies about its own cache.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# linux/fs/ext4/ext4.h: EXT4_IOC_SHUTDOWN is _IOR('X', 125, __u32); NOLOGFLUSH is 2.
_SHUTDOWN = 0x8004587D
_LEAVE_THE_JOURNAL = 2
_FREE_S = 180.0
_AGAIN_S = 0.05
_PAUSE = threading.Event()


class Disk:
    """A mounted file system, in a file."""

    def __init__(self, folder: Path, image: Path) -> None:
        self.folder = folder
        self._image = image

    def lose_power(self) -> None:
        """Let nothing reach the disk any more."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _LEAVE_THE_JOURNAL))
        finally:
            os.close(descriptor)

    def start_again(self) -> None:
        """Mount what is on the disk; the programs that had files open there must be dead."""
        self._unmount()
        self.mount()

    def mount(self) -> None:
        """Mount the file system."""
        _run("mount", "-t", "ext4", "-o", "loop", str(self._image), str(self.folder))

    def refuse_writes(self) -> None:
        """Mount the file system read-only; no program may have a file open there for writing."""
        _run("mount", "-o", "remount,ro", str(self.folder))

    def _unmount(self) -> None:
        """Unmount; the kernel may need a moment to close the files of killed programs."""
        deadline = time.monotonic() + _FREE_S
        while True:
            try:
                _run("umount", str(self.folder))
                return
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                _PAUSE.wait(_AGAIN_S)


@contextmanager
def mortal_disk(parent: Path, mebibytes: int) -> Iterator[Disk | None]:
    """Mount a disk below a folder until the block ends; None where this user cannot mount one."""
    folder, image = parent / "disk", parent / "disk.img"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        yield None
        return
    with image.open("wb") as file:
        file.truncate(mebibytes * 2**20)
    _run("mkfs.ext4", "-q", "-m", "0", str(image))
    disk = Disk(folder, image)
    try:
        disk.mount()
    except subprocess.CalledProcessError:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=180)
