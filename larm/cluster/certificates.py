"""Certificates of a cluster: an authority of its own, and one for each agent, by which they know each other (mutual TLS).

The only file that knows cryptography here. Files are PEM; keys are readable by their owner alone. ECDSA on P-256, which every
TLS library has. Called by ``larm cluster``.
"""

import datetime
import os
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from larm.errors import StorageError, UsageError
from larm.kit.disk.atomic import write_atomically
from larm.kit.disk.disk_failure import disk_failure, disk_failures

AUTHORITY = "ca"
REVOKED = "crl.pem"
_YEARS = 10
"""Until they expire: a crawl should not end for that."""


def make_authority(folder: Path, now: datetime.datetime) -> Path:
    """``ca.pem`` and ``ca.key`` in the folder; the former is returned. Raises UsageError where there is one, StorageError."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "larm cluster")])
    others = "digital_signature content_commitment key_encipherment data_encipherment key_agreement encipher_only decipher_only"
    usage = x509.KeyUsage(**dict.fromkeys(others.split(), False), key_cert_sign=True, crl_sign=True)
    built = (
        _builder(name, name, key, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return _write(folder, AUTHORITY, key, built)


def issue(folder: Path, name: str, hosts: tuple[str, ...], now: datetime.datetime) -> Path:
    """Write ``NAME.pem`` and ``NAME.key`` beside the authority; ``hosts``: names and addresses where others reach the agent.

    The first name in its list of alternative names is the agent's. Raises UsageError.
    """
    if not name.isascii():
        raise UsageError(f"{name}: the name of an agent has letters from a to z, digits, - and . only")
    issuer, issuer_key = _issuer(folder)
    key = ec.generate_private_key(ec.SECP256R1())
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    built = (
        _builder(x509.Name([]), issuer.subject, key, now)  # etcd takes no users from clients with a common name
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name), *map(_host, hosts)]), critical=True)
        .sign(issuer_key, hashes.SHA256())
    )
    return _write(folder, name, key, built)


def revoke(folder: Path, name: str, now: datetime.datetime) -> Path:
    """Add ``NAME.pem`` to the revocation list ``crl.pem`` beside the authority. Raises UsageError or StorageError."""
    issuer, issuer_key = _issuer(folder)
    path, list_path = folder / f"{name}.pem", folder / REVOKED
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
        former = x509.load_pem_x509_crl(list_path.read_bytes()) if list_path.exists() else ()
    except FileNotFoundError as error:
        raise UsageError(f"{path}: there is no such certificate; larm cluster issue has made it") from error
    except (OSError, ValueError) as error:
        raise StorageError(f"{folder}: {path.name} or {REVOKED} can't be read: {error}") from error
    built = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.subject)
        .last_update(now - datetime.timedelta(days=1))  # clocks differ
        .next_update(now + datetime.timedelta(days=365 * _YEARS))
    )
    dates = {each.serial_number: each.revocation_date_utc for each in former} | {certificate.serial_number: now}
    for serial, date in dates.items():
        revoked = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(date).build()
        built = built.add_revoked_certificate(revoked)
    with disk_failures(list_path):
        write_atomically(list_path, built.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return list_path


def _issuer(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    authority = folder / f"{AUTHORITY}.pem"
    try:
        issuer = x509.load_pem_x509_certificate(authority.read_bytes())
        issuer_key = serialization.load_pem_private_key((folder / f"{AUTHORITY}.key").read_bytes(), None)
    except FileNotFoundError as error:
        raise UsageError(f"{folder}: no authority in it; larm cluster ca {folder} makes one") from error
    except (OSError, ValueError) as error:
        raise StorageError(f"{authority}: it can't be read: {error}") from error
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
        raise UsageError(f"{folder}/{AUTHORITY}.key: not a key of larm's")
    return issuer, issuer_key


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=365 * _YEARS))
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(folder: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Path:
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / f"{name}.pem"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data, mode in ((folder / f"{name}.key", private, 0o600), (path, _pem(certificate), 0o644)):
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
                opened.write(data)
    except FileExistsError as error:
        raise UsageError(f"{error.filename}: it is there already; remove it if nobody uses it any more") from error
    except OSError as error:
        raise disk_failure(path, error) from error
    return path


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
