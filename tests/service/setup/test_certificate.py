# SPDX-License-Identifier: Apache-2.0
"""A certificate of the event's own serves at once, and its CA stays."""

from __future__ import annotations

import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from referee.errors import ConfigError, InputError
from referee.service.setup.certificate import make_certificate
from referee.service.setup.contest_tls import name_to_check, server_context, usable_certificate
from referee.service.setup.private_files import make_private

NOW = datetime.now(UTC)


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a certificate for hosts in an event's folder."""
    (tmp_path / "data").mkdir()

    def make(*hosts: str):
        return make_certificate(tmp_path / "data", tmp_path / "contest.toml", hosts, NOW)

    return make


def test_it_serves_at_once_and_names_the_hosts(made):
    """A client that trusts the CA alone takes it, under each name."""
    found = usable_certificate(made("192.168.1.2", "referee.local", "[::1]"), NOW)
    assert all(found.covers(host) for host in ("192.168.1.2", "REFEREE.local", "::1", "[::1]"))
    assert not found.covers("192.168.1.3")


def hostname_taken(files, name: str) -> bool:
    """Tell whether a client that trusts the CA alone, and compares this name, takes the server."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    trusting = ssl.create_default_context(cafile=files.ca)
    client = trusting.wrap_bio(back, there, server_hostname=name)
    server = server_context(files, ssl.SSLContext).wrap_bio(there, back, server_side=True)
    for end in (client, server, client, server):
        with suppress(ssl.SSLWantReadError):
            try:
                end.do_handshake()
            except ssl.SSLCertVerificationError:
                return False
    return client.getpeercert() is not None


@pytest.mark.parametrize("hosts", [["192.168.1.2"], ["::1", "10.0.0.5"], ["referee.internal"]])
def test_a_board_that_knows_names_alone_takes_it(made, hosts):
    """The certificate has a name as well, once, and the client need not be told another address."""
    files = made(*hosts)
    assert hostname_taken(files, "referee.internal")
    assert not hostname_taken(files, "other.internal")
    assert "referee.internal" == name_to_check(files)
    (certificate,) = x509.load_pem_x509_certificates(files.certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert ["referee.internal"] == names.get_values_for_type(x509.DNSName)


def test_the_address_is_still_taken(made):
    """A client that knows addresses compares the address."""
    files = made("192.168.1.2")
    assert hostname_taken(files, "192.168.1.2")
    assert not hostname_taken(files, "192.168.1.3")


def test_a_board_with_a_late_clock_takes_it(made):
    """A year ago it held already; a system of Apple refuses more than 825 days in all."""
    files = made("a")
    usable = usable_certificate(files, NOW)
    usable_certificate(files, NOW - timedelta(days=365))
    begins = x509.load_pem_x509_certificate(files.certificate.read_bytes()).not_valid_before_utc
    assert timedelta(days=825) >= usable.until - begins


def test_keys_are_this_users_alone(made, tmp_path):
    """Keys lie in the data folder with mode 600, and certificates beside the configuration."""
    files = made("a")
    keys = [files.key, tmp_path / "data" / "contest_ca.key"]
    assert [0o600, 0o600] == [key.stat().st_mode & 0o777 for key in keys]
    assert tmp_path == files.certificate.parent == files.ca.parent
    assert b"PRIVATE" not in files.certificate.read_bytes() + files.ca.read_bytes()
    for key in keys:
        key.chmod(0o644)
    make_private(tmp_path / "data")
    assert [0o600, 0o600] == [key.stat().st_mode & 0o777 for key in keys]


def test_the_ca_stays_when_the_address_changes(made):
    """The teams keep their file; only the server's certificate and key are new."""
    files = made("10.0.0.1")
    before = files.ca.read_bytes(), files.key.read_bytes()
    found = usable_certificate(made("10.0.0.2"), NOW)
    assert found.covers("10.0.0.2")
    assert not found.covers("10.0.0.1")
    assert before[0] == files.ca.read_bytes()
    assert before[1] != files.key.read_bytes()


@pytest.mark.parametrize("missing", ["contest_ca.pem", "data/contest_ca.key"])
def test_half_a_ca_is_not_replaced(made, tmp_path, missing):
    """A new CA would be none that the teams trust, so it is not made silently."""
    made("a")
    (tmp_path / missing).unlink()
    with pytest.raises(ConfigError, match="Restore it, or move"):
        made("a")


def test_a_ca_with_another_key_is_refused(made, tmp_path):
    """Nothing is signed that no client would take."""
    files = made("a")
    (tmp_path / "data" / "contest_ca.key").write_bytes(files.key.read_bytes())
    with pytest.raises(ConfigError, match="is not the key of"):
        made("a")


@pytest.mark.parametrize(
    "host", ["", "a b", "https://a", "a..b", "-a", "300.1.1.1", "é", "a/b", "*"]
)
def test_what_is_no_host_is_refused(made, tmp_path, host):
    """A wrong name makes no file."""
    with pytest.raises(InputError, match="neither a host name nor an IP address"):
        made("a", host)
    assert not (tmp_path / "contest_ca.pem").exists()
