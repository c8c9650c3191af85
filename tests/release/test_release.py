# SPDX-License-Identifier: Apache-2.0
"""What a release rests on: one commit and its tag, steady bytes, and the lowest libraries."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from tests.release.build import ReleaseError, require_tag, steady
from tests.release.trial import lowest, required

SETTINGS = """
[options]
install_requires =
    # the contest server
    gunicorn[gevent]>=27.0
    numpy>=2.0
[options.extras_require]
# frames
camera =
    opencv-python-headless>=4.14,<5
"""


def sdist(hour_s: int, user: str, names: tuple[str, ...]) -> bytes:
    """Return an sdist of these files, made at an hour by a user."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uname = len(name), hour_s, user
            tar.addfile(member, io.BytesIO(name.encode()))
    return gzip.compress(file.getvalue(), mtime=hour_s)


def test_an_sdist_tells_neither_the_hour_nor_the_user_of_its_making() -> None:
    """Two sdists of the same files have the same bytes, whoever made them and when."""
    one = sdist(1_700_000_000, "kim", ("a", "b/c"))
    other = sdist(1_800_000_000, "alex", ("b/c", "a"))
    assert one != other
    assert steady(one, 1_000_000_000) == steady(other, 1_000_000_000)
    with tarfile.open(fileobj=io.BytesIO(steady(one, 1_000_000_000))) as tar:
        assert [("a", b"a"), ("b/c", b"b/c")] == [
            (it.name, content.read())
            for it in tar.getmembers()
            if (content := tar.extractfile(it)) is not None
        ]


def test_the_lowest_libraries_are_those_of_the_settings() -> None:
    """A constraint has the lower bound of each library, of the extras that are asked for too."""
    assert ["gunicorn==27.0", "numpy==2.0"] == lowest(required(SETTINGS, []))
    assert "opencv-python-headless==4.14" in lowest(required(SETTINGS, ["camera"]))


def test_a_tag_of_another_version_is_no_release() -> None:
    """A commit without a tag is a trial, one with the version's tag a release."""
    assert "tag v1.0.0" == require_tag(("fast", "v1.0.0"), "1.0.0")
    assert "git tag v1.0.0" in require_tag(("fast",), "1.0.0")
    with pytest.raises(ReleaseError, match="v1.0.1 is not v1.0.0"):
        require_tag(("v1.0.1",), "1.0.0")
