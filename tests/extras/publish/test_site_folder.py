# SPDX-License-Identifier: Apache-2.0
"""The folder of a site: a pointer leads to whole contents, and no other folder is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.errors import InputError
from referee.extras.publish import site_folder as module
from referee.extras.publish.site_folder import KEPT_S, SiteFolder, held, named_by, script
from tests.extras.publish.conftest import contents

EVENT = "ab12"


class Clock:
    """A clock in the hands of a test."""

    def __init__(self):
        self.now_s = 1e9

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    """Return the wall clock of the folders."""
    return Clock()


def opened(path, clock, event=EVENT):
    """Open a site's folder as a new run does."""
    folder = SiteFolder(path, event, clock)
    folder.make()
    folder.open()
    return folder


def publish(folder, text, **pages):
    """Put one content and some pages in force; return the content's path."""
    name = folder.put("data", "view", "js", script(json.dumps({"text": text})))
    for page, content in pages.items():
        folder.page(f"{page}.html", content.encode())
    folder.commit({"event": EVENT, "key": text, "files": {"view": name}})
    return name


@pytest.mark.parametrize("name", ["notes.txt", "index.html", "state.json", "data"])
def test_a_folder_of_somebody_else_is_refused(tmp_path, clock, name):
    """Whatever it holds stays as it is."""
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="Nothing was changed"):
        SiteFolder(tmp_path, EVENT, clock).make()
    assert {name: b"mine"} == contents(tmp_path)


def test_the_site_of_another_event_is_refused(tmp_path, clock):
    """Two events in one folder would take each other's pages away."""
    publish(opened(tmp_path, clock), "one")
    before = contents(tmp_path)
    with pytest.raises(InputError, match="site of another event"):
        SiteFolder(tmp_path, "cd34", clock).make()
    assert before == contents(tmp_path)


def test_one_process_at_a_time_renews_a_site(tmp_path):
    """The second one is told."""
    with held(tmp_path), pytest.raises(InputError, match="another process"), held(tmp_path):
        pass
    with held(tmp_path):
        pass


def test_an_old_content_stays_for_an_hour(tmp_path, clock):
    """A reader with an old pointer still finds it; the next run counts from when it left."""
    folder = opened(tmp_path, clock)
    old = publish(folder, "one")
    clock.now_s += 3 * KEPT_S
    publish(folder, "two")
    assert (tmp_path / old).exists()
    clock.now_s += KEPT_S - 1
    publish(folder, "three")
    assert (tmp_path / old).exists()
    clock.now_s += 1
    publish(folder, "four")
    assert not (tmp_path / old).exists()


def test_a_next_run_keeps_what_its_pointer_had_named(tmp_path, clock):
    """It leaves with that run's first set, however old its file is."""
    old = publish(opened(tmp_path, clock), "one")
    clock.now_s = (tmp_path / old).stat().st_mtime + 3 * KEPT_S
    folder = opened(tmp_path, clock)
    new = publish(folder, "two")
    assert (tmp_path / old).exists()
    clock.now_s += KEPT_S
    publish(folder, "two")
    assert {new} == {name for name in contents(tmp_path) if name.startswith("data/")}


def test_what_somebody_chose_to_publish_leaves_at_once(tmp_path, clock):
    """Images and bundles do not wait for readers of an old pointer."""
    folder = opened(tmp_path, clock)
    for kind in ("images", "bundles"):
        folder.put(kind, "one", "zip", b"1")
    publish(folder, "one")
    publish(folder, "two")
    assert [] == [name for name in contents(tmp_path) if not name.startswith(("data/", "state"))]


def test_files_of_people_in_a_site_stay(tmp_path, clock):
    """Only what has the form of our names is ever removed."""
    publish(opened(tmp_path, clock), "one")
    for name in ("CNAME", "data/notes.txt", "teams/extra.html", "bundles/readme.zip"):
        (tmp_path / name).write_text("mine")
    clock.now_s += 9 * KEPT_S
    folder = opened(tmp_path, clock)
    publish(folder, "two")
    clock.now_s += 9 * KEPT_S
    publish(folder, "three")
    assert 4 == sum(content == b"mine" for content in contents(tmp_path).values())


def test_what_is_there_is_not_written_again(tmp_path, clock):
    """Neither by this run nor by the next one; a half content of a power cut is."""
    folder = opened(tmp_path, clock)
    name = publish(folder, "one", index="page")
    status = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    publish(folder, "one", index="page")
    publish(opened(tmp_path, clock), "one", index="page")
    assert status == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:5])
    publish(opened(tmp_path, clock), "one", index="page")
    assert whole == (tmp_path / name).read_bytes()


def test_at_each_moment_the_pointer_leads_to_whole_contents(tmp_path, clock, monkeypatch):
    """A disk that is full at any write leaves the old set or the new one, never half of one."""
    write = module.replace_file
    folder = opened(tmp_path, clock)
    publish(folder, "old", index="old")
    left = 0

    def failing(path: Path, content: bytes, mode: int):
        nonlocal left
        if left == 0:
            raise InputError(f"{path} cannot be written: No space left on device.")
        left -= 1
        write(path, content, mode)

    monkeypatch.setattr(module, "replace_file", failing)
    for writes in range(9):
        left = writes
        try:
            publish(folder, f"new {writes}", index=f"new {writes}", about="about")
            done = True
        except InputError:
            folder.drop()
            done = False
        found = named_by(folder)
        assert 1 == len(found) and all(folder.keep(name) for name in found)
        folder.drop()
        text = folder.read_json(*found)["text"]
        assert text.startswith("new" if done else ("old", "new"))
    assert done


def test_the_pointer_is_replaced_last(tmp_path, clock, monkeypatch):
    """A copy that is made in the order of writing is right at each moment."""
    folder = opened(tmp_path, clock)
    order = []
    write = module.replace_file
    note = lambda path, *rest: (order.append(path.name), write(path, *rest))  # noqa: E731
    monkeypatch.setattr(module, "replace_file", note)
    publish(folder, "one", index="page")
    assert ["state.js", "state.json"] == order[-2:]
    assert 4 == len(order)


def test_a_pointer_of_anything_leads_nowhere(tmp_path, clock):
    """A folder that somebody has written into chooses no path outside the site, and no end."""
    folder = opened(tmp_path, clock)
    (tmp_path / "data/a.js").write_text(
        'published({"a": "data/a.js", "b": ["data/../../x.js"]});\n'
    )
    (tmp_path / "state.json").write_text(json.dumps({"event": EVENT, "files": {"v": "data/a.js"}}))
    assert {"data/a.js", "data/../../x.js"} == named_by(folder)
    assert not folder.keep("data/../../x.js") and not folder.keep("/etc/passwd")
    for text in ("[]", "no JSON", "\ufeff{}", '"text"'):
        (tmp_path / "state.json").write_text(text)
        assert {} == folder.pointer()
