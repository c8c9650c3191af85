# SPDX-License-Identifier: Apache-2.0
"""Libraries that are older than the program asks for are named, with the version that it needs."""

from __future__ import annotations

from importlib import metadata

import pytest

import referee
from referee.service.preflight import versions


@pytest.mark.parametrize(
    ("requirement", "installed", "expected"),
    [
        ("flask>=3.1", "3.1.0", ()),
        ("flask>=3.1", "3.10", ()),
        ("flask>=3.1", "3.0.9", ("flask 3.0.9, 3.1 is needed",)),
        ("flask>=3.1", "3.1rc1", ("flask 3.1rc1, 3.1 is needed",)),
        ("flask>=3.1", "3.2rc1", ()),
        ("gunicorn[gevent]>=27.0", "26.9", ("gunicorn 26.9, 27.0 is needed",)),
        ("gevent>=26.9", None, ("gevent is missing",)),
        ('pandas>=2.2; extra == "pandas"', None, ()),
        ('matplotlib>=3.9; extra == "event"', None, ()),
        (
            'matplotlib>=3.9; extra == "event"',
            "3.8",
            ("matplotlib 3.8, 3.9 is needed",),
        ),
        ('tomli>=2.0; python_version < "3.11"', None, ()),
    ],
)
def test_a_library_that_is_too_old_is_named(monkeypatch, requirement, installed, expected):
    """What the program needs counts, and what an event needs if it is there."""

    def version(name):
        if installed is None:
            raise metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(metadata, "requires", lambda package: [requirement])
    monkeypatch.setattr(metadata, "version", version)
    assert expected == versions.outdated.__wrapped__()


def test_a_program_that_runs_from_its_folder_has_no_outdated_library(monkeypatch):
    """Without an installed package nobody says what is needed."""

    def requires(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "requires", requires)
    assert () == versions.outdated.__wrapped__()


def test_the_stamp_is_that_of_the_programs_own_files(monkeypatch, tmp_path):
    """Another source file changes the stamp; what Python compiles beside it does not."""
    monkeypatch.setattr(referee, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "rules.py").write_text("ONE = 1\n")
    before = versions.program_stamp()
    (tmp_path / "core" / "__pycache__").mkdir()
    (tmp_path / "core" / "__pycache__" / "rules.py").write_text("compiled")
    assert before == versions.program_stamp()
    (tmp_path / "core" / "rules.py").write_text("ONE = 11\n")
    assert before != versions.program_stamp()
