"""Seal: what agents say to each other is signed by the keys of their certificates, so that none can speak in another's name.

Mutual TLS says that a link leads to somebody of this cluster, not to whom: the bus does not tell which link a question came by.
So each question and each answer has the sender's certificate and a signature (ECDSA on P-256), which covers the cluster, the
kind of question, whom it is for, and what is said; that of an answer covers the question as well. The name in the certificate
is that of the agent, which puts a number behind it for each directory that it begins (`larm.cluster.said.name_of`): who has
lost his directory is another agent than the one whose hosts the others look for.

Where a cluster has no certificates (on one machine, or by ``cluster.insecure``) there is no seal, and everybody is believed.
"""

import datetime
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from larm.cluster.said import Said
from larm.errors import ConfigError

_HASH = ec.ECDSA(hashes.SHA256())
_KNOWN = 1_000
"""Certificates that were found good before."""
_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(tuple[bytes, bytes, bytes])


class Seal:
    """Implements `larm.cluster.said.Sealing`. ``members``: names in certificates that are heard; none: all of the authority."""

    def __init__(self, cluster: str, authority: Path, certificate: Path, key: Path, members: tuple[str, ...] = ()) -> None:
        """Raises ConfigError."""
        own = _certificate(certificate)
        # constant after construction
        self._cluster = cluster
        self._authority = _certificate(authority)
        self._members = members
        self._bytes = own.public_bytes(serialization.Encoding.DER)
        self._key = _key(key)
        # only larm-agents
        self._known: dict[bytes, tuple[str, ec.EllipticCurvePublicKey]] = {}
        try:
            self.name, public = self._look_at(self._bytes)
        except ValueError as error:
            raise ConfigError(f"cluster.certificate: {certificate}: {error}") from error
        if public.public_numbers() != self._key.public_key().public_numbers():
            raise ConfigError(f"cluster.certificate: {key}: it is not that of {certificate}")

    def close(self, payload: bytes, *context: str) -> bytes:
        """See `Sealing`."""
        return _encode((self._bytes, self._key.sign(self._text(payload, context), _HASH), payload))

    def open(self, data: bytes, *context: str) -> Said:
        """See `Sealing`."""
        certificate, signature, payload = _decoder.decode(data)
        name, public = self._look_at(certificate)
        try:
            public.verify(signature, self._text(payload, context), _HASH)
        except InvalidSignature:
            raise ValueError(f"it comes with the certificate of {name}, who has not signed it, or not for this agent") from None
        return Said(payload, name)

    def _text(self, payload: bytes, context: tuple[str, ...]) -> bytes:
        return _encode((self._cluster, context, payload))

    def _look_at(self, data: bytes) -> tuple[str, ec.EllipticCurvePublicKey]:
        found = self._known.get(data)
        if found is not None:
            return found
        certificate = x509.load_der_x509_certificate(data)
        try:
            certificate.verify_directly_issued_by(self._authority)
        except (InvalidSignature, TypeError, ValueError):
            raise ValueError("the certificate is not of the authority of this cluster") from None
        now = datetime.datetime.now(datetime.UTC)
        if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
            raise ValueError("the certificate is not valid now")
        names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        public = certificate.public_key()
        if len(names) != 1 or not names[0].value or not isinstance(public, ec.EllipticCurvePublicKey):
            raise ValueError(
                "the certificate has no name, or its key is not on an elliptic curve: larm cluster issue makes one"
            )
        name = str(names[0].value)
        if self._members and name not in self._members:
            raise ValueError(f"the certificate is that of {name}, who is not in cluster.members")
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[data] = name, public
        return name, public


def _certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"cluster.certificate: {path}: it can't be read: {error}") from error


def _key(path: Path) -> ec.EllipticCurvePrivateKey:
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"cluster.certificate: {path}: it can't be read: {error}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ConfigError(f"cluster.certificate: {path}: not on an elliptic curve; larm cluster issue makes one")
    return key
