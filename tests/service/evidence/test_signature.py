# SPDX-License-Identifier: Apache-2.0
"""A bundle is signed by the event and by a judge; a slip binds the operator too."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import zipfile
from base64 import b64decode
from html import unescape

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.cli import main
from referee.errors import ConfigError, InputError
from referee.service.evidence.bundle import MEMBERS, write_bundle
from referee.service.evidence.slip import slip_of, slip_page, slip_page_of, slip_text
from referee.service.evidence.verify import verify_bundle
from referee.service.setup.signing_key import (
    ensure_signing_key,
    key_id,
    make_key,
    public_text,
    read_private_key,
    read_public_key,
)
from tests.service.evidence.test_verify import changed, forged, members_of
from tests.support.contests import make_contest, with_blacklist
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a contest, its public key, a signed bundle, and its slip."""
    folder = tmp_path_factory.mktemp("signed")
    contest = make_contest(folder, FakeClock(), mode="event", seconds=20)
    number = play(contest)
    write_bundle(contest, number, folder / "bundle.zip")
    (folder / "slip.txt").write_text(slip_of(contest.database.connection, number))
    contest.database.close()
    return folder


def verify(folder, path=None, **options):
    """Verify a bundle with the event's key and slip."""
    known = {"public_keys": [folder / "signing.pub"], "slip": (folder / "slip.txt").read_text()}
    path = path or folder / "bundle.zip"
    return verify_bundle(path, folder / "truth.json", **(known | options))


def test_the_event_signs_each_bundle(folder):
    """The key's private part has mode 600; public part, signature and slip fit the bundle."""
    private = folder / "data" / "signing.key"
    assert 0o600 == private.stat().st_mode & 0o777
    assert [] == verify(folder)
    secret = private.read_bytes().splitlines()[1]
    assert all(secret not in content for content in members_of(folder).values())


def test_the_envelope_is_of_the_standard(folder):
    """The envelope is DSSE, its payload an in-toto statement about the members."""
    members = members_of(folder)
    envelope = json.loads(members["manifest.json"])["envelope"]
    payload = b64decode(envelope["payload"])
    kind = envelope["payloadType"].encode()
    assert b"application/vnd.in-toto+json" == kind
    ((signature),) = envelope["signatures"]
    key = read_public_key(folder / "signing.pub")
    assert key_id(key) == signature["keyid"]
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    key.verify(b64decode(signature["sig"]), signed)
    subjects = json.loads(payload)["subject"]
    digests = json.loads(members["manifest.json"])["sha256"]
    assert digests == {subject["name"]: subject["digest"]["sha256"] for subject in subjects}
    assert set(MEMBERS) == set(digests)


def test_a_forgery_without_the_key_is_found(folder, tmp_path):
    """Where every hash was made to fit, the signature does not; without it there is none."""
    members = forged(folder, lambda table, row: row.update(text="x") if table == "notices" else 0)
    path = changed(folder, tmp_path, members, manifest=True, signed=True)
    assert "It is not what was signed" in verify(folder, path)[0].what
    findings = verify(folder, changed(folder, tmp_path, members, manifest=True))
    assert ("manifest.json", True) == (findings[0].member, "is not signed" in findings[0].what)


def test_another_key_is_no_proof(folder, tmp_path):
    """A bundle that somebody else signed is not signed by the event."""
    other = tmp_path / "other.pub"
    other.write_bytes(public_text(Ed25519PrivateKey.generate().public_key()))
    (finding,) = verify(folder, public_keys=[folder / "signing.pub", other])
    assert "No signature in it is by" in finding.what
    with pytest.raises(InputError, match="is no public key"):
        verify(folder, public_keys=[folder / "truth.json"])


def test_the_slip_binds_the_operator(folder, tmp_path):
    """Whoever holds the event's key can sign other facts, but their chain is not the slip's."""
    members = forged(folder, lambda t, row: row.update(actor="Tim") if t == "session_events" else 0)
    unsigned = changed(folder, tmp_path, members, manifest=True)
    findings = verify(folder, unsigned, public_keys=())
    assert any("No score in it has the chain" in finding.what for finding in findings)
    slip = (folder / "slip.txt").read_text()
    for odd, told in (
        (slip.replace("session 1", "session 2"), "the slip says 2"),
        (slip.replace("score ", "score 9"), "the slip says 9"),
    ):
        (finding,) = verify(folder, slip=odd)
        assert told in finding.what
    assert [] == verify(folder, slip=f"  {slip.lower().replace('-', ' ')} ")
    with pytest.raises(InputError, match="is no slip"):
        verify(folder, slip="session 1")


def test_a_judge_adds_a_signature(folder, tmp_path, capsys):
    """`referee sign` keeps the event's signature; a second time it changes nothing."""
    path, key = tmp_path / "judged.zip", tmp_path / "judge.key"
    shutil.copy(folder / "bundle.zip", path)
    assert 0 == main(["sign", "--new-key", str(key)])
    assert 2 == main(["sign", "--new-key", str(key)])
    assert 0 == main(["sign", str(path), "--key", str(key)])
    once = path.read_bytes()
    assert 0 == main(["sign", str(path), "--key", str(key)])
    assert once == path.read_bytes()
    assert "by this key already" in capsys.readouterr().out
    both = [folder / "signing.pub", tmp_path / "judge.key.pub"]
    assert [] == verify(folder, path, public_keys=both)
    with zipfile.ZipFile(path) as archive:
        assert 2 == len(json.loads(archive.read("manifest.json"))["envelope"]["signatures"])


def test_nobody_signs_a_changed_bundle(folder, tmp_path, capsys):
    """`referee sign` refuses members that are not those of manifest and earlier signature."""
    key = tmp_path / "judge.key"
    make_key(key)
    members = members_of(folder)
    members["detections.csv"] += b"1,1,1,1,1,1,1\n"
    path = changed(folder, tmp_path, members)
    assert 2 == main(["sign", str(path), "--key", str(key)])
    assert "detections.csv: found SHA-256" in capsys.readouterr().err
    (tmp_path / "odd.zip").write_bytes(b"")
    assert 2 == main(["sign", str(tmp_path / "odd.zip"), "--key", str(key)])
    assert 2 == main(["sign", "--key", str(key)])


def test_the_key_is_made_once_and_kept(tmp_path):
    """A second start keeps the key; a lost, open or odd key is told."""
    config = tmp_path / "contest.toml"
    public = ensure_signing_key(tmp_path, config)
    private, text = tmp_path / "signing.key", public.read_bytes()
    assert text == ensure_signing_key(tmp_path, config).read_bytes()
    private.chmod(0o644)
    with pytest.raises(ConfigError, match="can be read by others"):
        ensure_signing_key(tmp_path, config)
    private.unlink()
    with pytest.raises(ConfigError, match="Restore it"):
        ensure_signing_key(tmp_path, config)
    make_key(private)
    with pytest.raises(ConfigError, match="is not the public part"):
        ensure_signing_key(tmp_path, config)
    private.write_text("hello")
    with pytest.raises(ConfigError, match="is no private key"):
        read_private_key(private)
    with pytest.raises(ConfigError, match=r"cannot be read \(No such file"):
        read_private_key(tmp_path / "none.key")


def test_the_slip_is_a_page_with_a_code():
    """The page has the slip as text and as a picture, and shows no name as markup."""
    slip = slip_text(3, 0.25517, "9f3a77c102de4b5a8c11ff")
    assert "session 3 score 0.255170 chain 9F3A-77C1-02DE-4B5A-8C11" == slip
    assert "session 3 score none chain 9F3A-77C1-02DE-4B5A-8C11" == slip_text(
        3, None, "9f3a77c102de4b5a8c11ff"
    )
    page = slip_page("LPIRC", "7 June 2026", "<ants>", slip, "referee verify")
    assert slip in page and "<svg" in page and "&lt;ants&gt;" in page


@pytest.mark.parametrize("blacklist", [None, "black list.csv"])
def test_the_command_on_the_slip_proves_it(tmp_path, monkeypatch, capsys, blacklist):
    """The printed command holds as it stands, beside the bundle and the files that it names."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    if blacklist is not None:
        contest = with_blacklist(contest, "2,1\n", blacklist)
    number = play(contest)
    write_bundle(contest, number, tmp_path / f"session{number}.zip")
    (told,) = re.findall("<code>(referee .*)</code>", slip_page_of(contest, number))
    contest.database.close()
    monkeypatch.chdir(tmp_path)
    assert 0 == main(shlex.split(unescape(told))[1:]), capsys.readouterr().out
