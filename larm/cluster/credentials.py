"""Credentials: the certificate files of an agent, read again when one has changed, and the sentences for errors of TLS.

TLS verifies authority, dates and revocation, on both sides, when a connection begins; a kept connection lives less than a
minute. The agent's name is the first DNS name of its certificate, or the common name if there is none. Thread-safe.
"""

import datetime
import ssl
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import NameOID

from larm.cluster.transport import Refusal
from larm.errors import ConfigError
from larm.fetch.http_multi import ClientTls

_CLOCKS = "or compare the clocks of both machines"
_ISSUE = "issue it again with larm cluster issue"
_THEIRS = (
    ("revoked", "revoked", "its certificate is revoked"),
    ("crl has expired", "revoked", "the file cluster.crl is out of date: its issuer has to renew it"),
    ("unable to get certificate crl", "revoked", "the file cluster.crl is not of the certificate's authority"),
    ("has expired", "expired", f"its certificate has expired: {_ISSUE}, {_CLOCKS}"),
    ("not yet valid", "clock", "its certificate is not valid yet: compare the clocks of both machines"),
    ("subject name", "name", f"its certificate is that of another agent: {_ISSUE}"),
    ("did not return a certificate", "authority", "it has no certificate: set cluster.ca and cluster.certificate there"),
    ("issuer certificate", "authority", "its certificate is not of the authority in cluster.ca"),
    ("self-signed", "authority", "its certificate is not of the authority in cluster.ca"),
    ("signature failure", "authority", "its certificate is not of the authority in cluster.ca"),
    ("self signed", "authority", "its certificate is not of the authority in cluster.ca"),
    ("http request", "authority", "it uses plain HTTP: either all agents have certificates, or none has"),
    ("wrong version number", "authority", "it uses plain HTTP: either all agents have certificates, or none has"),
    ("before a request", "silent", "it refused the connection: perhaps this agent's certificate, which its log says"),
    ("not speak http", "authority", "it uses TLS: either all agents have certificates, or none has"),
)
_OURS = (
    ("certificate expired", "expired", f"it refuses this agent's certificate, which has expired: {_ISSUE}, {_CLOCKS}"),
    ("certificate revoked", "revoked", "it refuses this agent's certificate, which is revoked"),
    ("unknown ca", "authority", "it refuses this agent's certificate: it is not of the authority in its cluster.ca"),
    ("decrypt error", "authority", "it refuses this agent's certificate: it is not of the authority in its cluster.ca"),
    ("certificate required", "authority", "it wants a certificate: set cluster.ca and cluster.certificate"),
    ("bad certificate", "clock", "it refuses this agent's certificate: compare the clocks of both machines"),
)


def tls_refusal(text: str) -> Refusal | None:
    """Return the sentence for an error of a TLS library; None: it is about something else."""
    text = text.lower().replace("_", " ")
    alert = "alert" in text
    found = next((each for each in (_OURS if alert else _THEIRS) if each[0] in text), None)
    return None if found is None else Refusal(*found[1:])


def name_in(certificate: Mapping[str, Any]) -> str:
    """Return the agent's name in a certificate as `ssl` has it; empty: there is none."""
    for kind, name in certificate.get("subjectAltName", ()):
        if kind == "DNS":
            return str(name)
    return next((str(value) for part in certificate.get("subject", ()) for key, value in part if key == "commonName"), "")


class Credentials:
    """One authority, one certificate and its key, and perhaps a revocation list, as files in PEM."""

    def __init__(  # noqa: PLR0917
        self,
        authority: Path,
        certificate: Path,
        key: Path,
        crl: Path | None = None,
        members: tuple[str, ...] = (),
        log: Callable[[str], object] = lambda _: None,
    ) -> None:
        """``members``: names of certificates that are accepted; none: all of the authority. Raises ConfigError.

        ``crl``: it may be written later.

        ``log`` reports changed files that can't be read; the former ones stay in use.
        """
        # constant after construction
        self._files = (authority, certificate, key, *([crl] if crl is not None else []))
        self._crl = str(crl or "")
        self._members = members
        self._log = log
        self.name = _read(authority, certificate)
        """The agent's."""
        self._lock = threading.Lock()
        # guarded by self._lock
        self._stamp = self._stamps()
        self._revokes = False
        """There is a revocation list."""
        self._revoked = False
        """It has this certificate."""
        try:
            self._loaded = self._load()
        except (OSError, ValueError) as error:
            raise ConfigError(f"cluster.certificate: {certificate}: it can't be used: {error}") from error

    def server_context(self) -> ssl.SSLContext:
        """Return the context for connections from other agents."""
        return self._current()[0]

    def client_tls(self) -> ClientTls:
        """Return what a client shows and verifies."""
        return self._current()[1]

    def accepts(self, name: str) -> bool:
        """Return True if agents with a certificate for this name take part."""
        return bool(name) and (not self._members or name in self._members)

    def invalid(self) -> str:
        """Return why other agents refuse this certificate from now on; empty: they do not."""
        self._current()
        with self._lock:
            if self._revoked:
                return f"the certificate of {self.name} is revoked: {_ISSUE}, and copy it here"
            expired = self.ends < datetime.datetime.now(datetime.UTC)
            return f"the certificate of {self.name} has expired: {_ISSUE}, and copy it here" if expired else ""

    def _current(self) -> tuple[ssl.SSLContext, ClientTls]:
        with self._lock:
            stamp = self._stamps()
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._loaded = self._load()
                except (OSError, ValueError) as error:
                    self._log(f"the changed certificate files can't be read, the former ones stay in use: {error}")
            return self._loaded

    def _stamps(self) -> list[tuple[int, int, int]]:
        stamps = []
        for path in self._files:
            try:
                found = path.stat()
                stamps.append((found.st_ino, found.st_size, found.st_mtime_ns))
            except OSError:
                stamps.append((0, 0, 0))
        return stamps

    def _load(self) -> tuple[ssl.SSLContext, ClientTls]:
        """Raises OSError, also of TLS."""
        authority, certificate, key = self._files[:3]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0  # a resumed session would not verify the certificate again
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority)
        context.load_cert_chain(certificate, key, password="")  # or OpenSSL asks for it at the terminal
        self._revokes = self._revokes or (bool(self._crl) and Path(self._crl).exists())  # one that vanishes is an error
        if self._revokes:
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
            context.load_verify_locations(self._crl)
        own = x509.load_pem_x509_certificate(certificate.read_bytes())
        self.ends = own.not_valid_after_utc
        listed = x509.load_pem_x509_crl(Path(self._crl).read_bytes()) if self._revokes else ()
        self._revoked = any(each.serial_number == own.serial_number for each in listed)
        crl = self._crl if self._revokes else ""
        return context, ClientTls(authority.read_bytes(), certificate.read_bytes(), key.read_bytes(), crl)


def _read(authority: Path, certificate: Path) -> str:
    """Return the name in the agent's certificate. Raises ConfigError if agents would refuse it."""
    path = certificate
    try:
        chain = x509.load_pem_x509_certificates(certificate.read_bytes())
        path = authority
        authorities = x509.load_pem_x509_certificates(authority.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"cluster.certificate: {path}: it can't be read: {error}") from error
    own = chain[0]
    if not any(_issued(chain[-1], each) for each in authorities):
        raise ConfigError(f"cluster.certificate: {certificate}: it is not of the authority in {authority}")
    if own.not_valid_after_utc < datetime.datetime.now(datetime.UTC):
        raise ConfigError(f"cluster.certificate: {certificate}: it has expired: {_ISSUE}")
    names = [str(each.value) for each in own.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    for extension in own.extensions:
        if isinstance(extension.value, x509.SubjectAlternativeName):
            names = extension.value.get_values_for_type(x509.DNSName) or names
    if not names:
        raise ConfigError(f"cluster.certificate: {certificate}: it has no DNS name: larm cluster issue makes one that has")
    return names[0]


def _issued(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True
