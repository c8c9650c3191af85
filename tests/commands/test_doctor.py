# SPDX-License-Identifier: Apache-2.0
"""`referee doctor` writes one file for a maintainer, in good times and in bad ones."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime

from referee.cli import main
from referee.service.entry.admission import token_of_session
from referee.service.people.operators import add_operator
from referee.service.setup.certificate import make_certificate
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


def members(path):
    """Return the members of a report."""
    with zipfile.ZipFile(path) as report:
        return {name: report.read(name).decode() for name in report.namelist()}


def test_the_file_has_what_is_needed_and_no_secret(tmp_path, capsys):
    """Versions, checks, sessions, audit and logs are there; passwords, keys and tokens are not."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", name="Cup")
    _, password = add_operator(contest, "Kim", "operator", "boss")
    token = token_of_session(contest.secrets.token_key, 1, bytes(16))
    config, folder = contest.config.path, contest.config.storage.folder
    keys = json.loads((folder / "secrets.json").read_text())
    contest.database.close()
    (folder / "logs").mkdir(exist_ok=True)
    tls = make_certificate(folder, config, ["localhost"], datetime.now(UTC))
    private = [path.read_text() for path in (tls.key, folder / "contest_ca.key")]
    secrets = [password, token, *keys.values()]
    (folder / "logs" / "desk.log").write_text(f"the desk began\n{' '.join(secrets)}\n")
    (folder / "logs" / "contest.log").write_text("\n".join(private))
    out = tmp_path / "x.zip"
    assert 0 == main(["doctor", "--config", str(config), "--out", str(out)])
    assert 0o600 == out.stat().st_mode & 0o777
    found = members(out)
    assert "no secrets" in capsys.readouterr().out
    assert "numpy" in json.loads(found["machine.json"])["libraries"]
    assert [] == json.loads(found["database.json"])["faults"]
    assert "findings" in json.loads(found["checks.json"])
    assert 'name = "Cup"' in found["contest.toml"] and "Kim" in found["audit.json"]
    assert "the desk began" in found["logs/desk.log"]
    secrets += [text.splitlines()[1] for text in private]
    assert [] == [secret for secret in secrets if secret in "".join(found.values())]


def test_a_broken_configuration_still_gives_a_file(tmp_path, capsys):
    """The file has the machine and the configuration as it is, and the reason is told."""
    (tmp_path / "contest.toml").write_text("[x")
    out = tmp_path / "x.zip"
    assert 0 == main(["doctor", "--config", str(tmp_path / "contest.toml"), "--out", str(out)])
    assert "[x" == members(out)["contest.toml"]
    assert "is not TOML" in capsys.readouterr().err


def test_an_event_without_a_database_gets_none(tmp_path):
    """The command makes no folder; it has nothing to tell of sessions."""
    contest = make_contest(tmp_path, FakeClock(), mode="event")
    contest.database.close()
    contest.config.database.unlink()
    out = tmp_path / "x.zip"
    assert 0 == main(["doctor", "--config", str(contest.config.path), "--out", str(out)])
    assert {"machine.json", "contest.toml"} == set(members(out))
    assert not contest.config.database.exists()


def test_the_event_of_a_later_version_gives_a_file(tmp_path, capsys):
    """The database's facts and the reason are there, and the terminal says once what is missing."""
    contest = make_contest(tmp_path, FakeClock(), mode="event")
    with contest.database.write() as connection:
        connection.execute("insert into migrations values ('ovic/0099_later')")
    contest.database.close()
    out = tmp_path / "x.zip"
    assert 0 == main(["doctor", "--config", str(contest.config.path), "--out", str(out)])
    found = members(out)
    assert "ovic/0099_later" in json.loads(found["database.json"])["migrations"]
    assert "Install the version" in json.loads(found["checks.json"])["findings"][0]["text"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Without sessions.json, audit.json: ")
    assert "which this referee" in line and "Install the version that wrote it" in line
