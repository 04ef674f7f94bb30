"""RealEtcd: an etcd of one or more members on loopback, whose members a test kills, stops and starts again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from larm.cluster.etcd import Etcd, Found, Get, Login, Tls
from larm.kit.clock import SystemClock
from tests.cluster.web_of_hosts import free_ports

needs_etcd = pytest.mark.skipif(
    not shutil.which("etcd") or not shutil.which("etcdctl"), reason="needs etcd (Debian: etcd-server, etcd-client)"
)


class Member:
    """One process."""

    def __init__(self, name: str, command: Sequence[str], client: str, folder: Path) -> None:
        self.name, self.client = name, client
        self._command, self._log = command, folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert self.process is None
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def stop(self) -> None:
        """As a machine that hangs."""
        self.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class RealEtcd:
    """``tls``: PEM files of the members, which then want certificates of ``ca`` too if ``mutual``."""

    def __init__(
        self, folder: Path, members: int = 1, tls: Tls | None = None, mutual: bool = False, options: Sequence[str] = ()
    ) -> None:
        ports = free_ports(2 * members)
        scheme = "https" if tls else "http"
        names = [f"m{number}" for number in range(members)]
        peers = {name: f"http://127.0.0.1:{ports[2 * number]}" for number, name in enumerate(names)}
        self.tls = tls
        self.members: list[Member] = []
        for number, name in enumerate(names):
            client = f"{scheme}://127.0.0.1:{ports[2 * number + 1]}"
            command = ["etcd", "--name", name, "--data-dir", str(folder / name), "--log-level", "error"]
            command += ["--listen-client-urls", client, "--advertise-client-urls", client, "--unsafe-no-fsync"][:4]
            command += ["--listen-peer-urls", peers[name], "--initial-advertise-peer-urls", peers[name]]
            command += ["--initial-cluster", ",".join(f"{each}={url}" for each, url in peers.items())]
            command += ["--heartbeat-interval", "50", "--election-timeout", "500", *options]
            if tls:
                command += ["--cert-file", tls.certificate, "--key-file", tls.key]
            if tls and mutual:
                command += ["--client-cert-auth", "--trusted-ca-file", tls.ca]
            self.members.append(Member(name, command, client, folder))

    @property
    def endpoints(self) -> list[str]:
        return [member.client for member in self.members]

    def client(self, tls: Tls | None = None, login: Login | None = None) -> Etcd:
        return Etcd(self.endpoints, tls or self.tls, login)

    def wait(self) -> None:
        """Until every member answers."""
        for member in self.members:
            answering(Etcd([member.client], self.tls))

    def __enter__(self) -> RealEtcd:
        for member in self.members:
            member.start()
        try:
            self.wait()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for member in self.members:
            member.kill()


def users(etcd: RealEtcd, cluster: str, tls: Tls | None = None) -> None:
    """Turn on etcd's users: ``agent`` with the password ``secret`` may read and write the keys of the cluster."""
    options = [f"--endpoints={etcd.endpoints[0]}"]
    if tls:
        options += [f"--cacert={tls.ca}", f"--cert={tls.certificate}", f"--key={tls.key}"]
    for words in (
        "user add root:secret",
        "user grant-role root root",
        "user add agent:secret",
        "role add agents",
        f"role grant-permission agents --prefix=true readwrite larm/{cluster}/",
        "user grant-role agent agents",
        "auth enable",
    ):
        command = ["etcdctl", *options, *words.split()]
        subprocess.run(command, env={**os.environ, "ETCDCTL_API": "3"}, check=True, capture_output=True)


def with_common_name(folder: Path, name: str) -> Tls:
    """A certificate of the authority in the folder, as others make them."""
    issuer = x509.load_pem_x509_certificate((folder / "ca.pem").read_bytes())
    signer = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder(issuer.subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(issuer.not_valid_before_utc)
        .not_valid_after(issuer.not_valid_after_utc)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(signer, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(private)
    return Tls(str(folder / "ca.pem"), str(folder / f"{name}.pem"), str(folder / f"{name}.key"))


def answering(client: Etcd) -> None:
    """Returns when it answers a read that needs a quorum; closes the client."""
    try:
        until(lambda: isinstance(client.txn((), [Get("x")]), Found))
    finally:
        client.close()


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """It comes true."""
    clock, never = SystemClock(), threading.Event()
    end = clock.monotonic() + seconds
    while not holds():
        assert clock.monotonic() < end, "it did not come true"
        never.wait(0.02)
