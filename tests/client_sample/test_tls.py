# SPDX-License-Identifier: Apache-2.0
"""The sample clients speak TLS to a server that they trust, and to no other."""

from __future__ import annotations

import http.client
import ssl

import pytest

from client_sample.client import ClientError, Untrusted, WrongUse, connector, main, no_answer


def test_https_means_tls_and_its_port():
    """An address with https gets a connection that checks certificate and name."""
    link = connector("https://referee.example", 1.0)()
    assert (http.client.HTTPSConnection, 443) == (type(link), link.port)
    assert (ssl.CERT_REQUIRED, True) == (link._context.verify_mode, link._context.check_hostname)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "127.0.0.1:1"])
def test_plain_http_takes_no_ca(url):
    """Whoever gives a CA wants TLS, so nothing is sent in plain text."""
    with pytest.raises(WrongUse, match="begins with https://"):
        connector(url, 1.0, "ca.pem")


def test_a_ca_file_that_is_none_is_named(tmp_path):
    """A file that is missing and a file of something else are told before anything is sent."""
    with pytest.raises(ClientError, match="gone.pem: No such file"):
        connector("https://127.0.0.1:1", 1.0, str(tmp_path / "gone.pem"))
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(ClientError, match="holds no certificate"):
        connector("https://127.0.0.1:1", 1.0, str(tmp_path / "ca.pem"))


@pytest.mark.parametrize("url", ["ftp://a", "https://", "https://a:b", ""])
def test_what_is_no_address_is_named(url):
    """Other schemes and broken addresses are refused."""
    with pytest.raises(ClientError, match="is not an address like"):
        connector(url, 1.0)


def test_faults_of_tls_say_what_to_do():
    """Each fault has a sentence of its own; a certificate that is not trusted has its own kind."""
    link = http.client.HTTPConnection("127.0.0.1", 9)
    untrusted = ssl.SSLCertVerificationError("x")
    untrusted.verify_message = "certificate is not yet valid"
    told = no_answer(link, untrusted)
    assert isinstance(told, Untrusted)
    assert "127.0.0.1:9 is not trusted: certificate is not yet valid" in str(told)
    plain = ssl.SSLError(1, "x")
    plain.reason = "WRONG_VERSION_NUMBER"
    assert "does not speak TLS. Use http://" in str(no_answer(link, plain))
    assert "No answer from 127.0.0.1:9: gone" == str(no_answer(link, OSError("gone")))


def test_a_server_that_speaks_no_tls_is_told(referee, capsys):
    """The client asks nothing and exits with 1."""
    url = referee.url.replace("http://", "https://")
    words = ["--user", "me", "--password", "secret", "--detector", "builtins:dict"]
    assert 1 == main(["--url", url, *words])
    assert "does not speak TLS" in capsys.readouterr().err
    assert [] == referee.requests
