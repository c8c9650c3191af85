# SPDX-License-Identifier: Apache-2.0
"""Files for TLS that cannot serve are refused in one sentence that names the file."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from referee.errors import ConfigError
from referee.service.setup.contest_tls import (
    ca_words,
    name_to_check,
    pinned_context,
    server_context,
    shake_hands,
    usable_certificate,
)
from tests.support.certificates import DAY, self_signed

# OpenSSL compares with the machine's own clock, so the tests' certificates hold at this moment.
NOW = datetime.now(UTC)


def fault(files, now=NOW):
    """Return why files cannot be used."""
    with pytest.raises(ConfigError) as error:
        usable_certificate(files, now)
    return str(error.value)


def test_good_files_tell_names_and_end(tmp_path):
    """Names are those that clients compare: an address, a name, a name below a wildcard."""
    found = usable_certificate(self_signed(tmp_path, NOW), NOW)
    assert (NOW + DAY).replace(microsecond=0) == found.until
    told = ("127.0.0.1", "left.example.org", "LEFT.example.org")
    others = ("127.0.0.2", "example.org", "a.left.example.org", "localhost")
    assert all(found.covers(host) for host in told)
    assert not any(found.covers(host) for host in others)


def test_a_file_that_is_missing_is_named(tmp_path):
    """Certificate, key and CA are each named if they cannot be read."""
    files = self_signed(tmp_path, NOW)
    gone = tmp_path / "gone.pem"
    for name in ("certificate", "key", "ca"):
        assert f"{gone} cannot be read (No such file" in fault(replace(files, **{name: gone}))


def test_a_file_of_something_else_is_named(tmp_path):
    """A key in the certificate's place and the reverse are no riddle."""
    files = self_signed(tmp_path, NOW)
    swapped = replace(files, certificate=files.key)
    assert f"{files.key} holds no certificate in PEM" in fault(swapped)
    files.certificate.chmod(0o600)
    swapped = replace(files, key=files.certificate)
    assert f"{files.certificate} is no private key in PEM" in fault(swapped)


def test_a_key_that_others_may_read_is_refused(tmp_path):
    """The sentence has the command that repairs it."""
    files = self_signed(tmp_path, NOW)
    files.key.chmod(0o640)
    assert f"can be read by others. Run: chmod 600 {files.key}" in fault(files)


def test_a_key_with_a_password_is_refused(tmp_path):
    """Nobody is there to type it when a server starts again."""
    files = self_signed(tmp_path, NOW)
    locked = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    files.key.write_bytes(locked)
    assert "without a password" in fault(files)


def test_the_key_of_another_certificate_is_refused(tmp_path):
    """Both files are named, because either may be the wrong one."""
    files = self_signed(tmp_path / "one", NOW)
    other = self_signed(tmp_path / "other", NOW)
    text = fault(replace(files, key=other.key))
    assert str(other.key) in text
    assert f"is not the key of {files.certificate}" in text


@pytest.mark.parametrize(
    ("days", "words"), [(2, "has expired on"), (-2, "is not valid before"), (-2, "clock right?")]
)
def test_a_certificate_that_does_not_hold_now_is_refused(tmp_path, days, words):
    """The sentence has the day, and asks for the clock where that may be the fault."""
    assert words in fault(self_signed(tmp_path, NOW), NOW + days * DAY)


def test_a_ca_that_has_expired_is_refused(tmp_path):
    """The teams' clients look at the CA's days too."""
    files = self_signed(tmp_path / "one", NOW)
    old = self_signed(tmp_path / "old", NOW, begins=-3 * DAY, ends=-DAY)
    assert f"{old.certificate}: a certificate has expired" in fault(
        replace(files, ca=old.certificate)
    )


def test_what_a_client_would_refuse_is_refused(tmp_path):
    """A CA of somebody else, and a certificate for clients, end a handshake in memory."""
    files = self_signed(tmp_path / "one", NOW)
    other = self_signed(tmp_path / "other", NOW)
    text = fault(replace(files, ca=other.certificate))
    assert f"A client that trusts {other.certificate} refuses {files.certificate}" in text
    wrong = self_signed(tmp_path / "wrong", NOW, usages=(ExtendedKeyUsageOID.CLIENT_AUTH,))
    assert "refuses" in fault(wrong)
    usable_certificate(replace(files, ca=files.certificate), NOW)


def test_a_client_here_takes_this_server_alone(tmp_path):
    """The address does not count, the certificate does, and so does one that the CA made before."""
    files, other = self_signed(tmp_path / "one", NOW), self_signed(tmp_path / "other", NOW)
    shake_hands(server_context(files, ssl.SSLContext), pinned_context(files))
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(server_context(other, ssl.SSLContext), pinned_context(files))
    with_ca = replace(files, ca=other.certificate)
    shake_hands(server_context(other, ssl.SSLContext), pinned_context(with_ca))


def test_the_ca_has_words_for_the_teams(tmp_path):
    """Name and digest, as OpenSSL prints it; a CA that all know has none."""
    files = self_signed(tmp_path, NOW)
    assert "" == ca_words(files) == ca_words(None)
    name, digest = ca_words(replace(files, ca=files.certificate)).split(", SHA-256 ")
    assert ("server.pem", 32) == (name, len(bytes.fromhex(digest.replace(":", ""))))


def test_the_name_to_check_is_one_that_a_board_can_compare(tmp_path):
    """A certificate of another CA with an address and a wildcard has none, and no TLS has none."""
    assert "" == name_to_check(None)
    assert "" == name_to_check(self_signed(tmp_path, NOW))


def test_old_versions_and_renegotiation_are_off(tmp_path):
    """TLS 1.2 is the oldest version, and a client cannot ask for a second handshake."""
    context = server_context(self_signed(tmp_path, NOW), ssl.SSLContext)
    assert ssl.TLSVersion.TLSv1_2 == context.minimum_version
    assert context.options & ssl.OP_NO_RENEGOTIATION
