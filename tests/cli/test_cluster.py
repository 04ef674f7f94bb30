"""larm cluster: certificates, and what an agent says of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.cli import run
from larm.cluster.files import IDENTITY
from larm.cluster.identity import Identity, write_identity
from larm.crawldir.state import QUEUES
from larm.testing.web import SyntheticWeb


def test_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cryptography")
    folder = tmp_path / "certificates"
    assert run(["cluster", "issue", str(folder), "one"]) == 2
    assert "larm cluster ca" in capsys.readouterr().err
    assert run(["cluster", "ca", str(folder)]) == 0
    assert run(["cluster", "issue", str(folder), "one", "--host", "192.0.2.1", "--host", "one.example"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["ca.key", "ca.pem", "one.key", "one.pem"]
    assert run(["cluster", "issue", str(folder), "one"]) == 2
    assert "there already" in capsys.readouterr().err
    assert run(["cluster", "issue", str(folder), "../one"]) == 2


def test_a_revoked_certificate_is_listed_and_its_name_can_be_issued_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cryptography")
    from cryptography import x509

    folder = str(tmp_path)
    run(["cluster", "ca", folder])
    assert run(["cluster", "revoke", folder, "one"]) == 2
    assert run(["cluster", "revoke", folder, "ca"]) == 2
    run(["cluster", "issue", folder, "one"])
    old = x509.load_pem_x509_certificate((tmp_path / "one.pem").read_bytes())
    assert run(["cluster", "revoke", folder, "one"]) == 0
    assert "crl.pem: copy it beside ca.pem on all machines" in capsys.readouterr().err
    assert run(["cluster", "issue", folder, "one"]) == 0
    new = x509.load_pem_x509_certificate((tmp_path / "one.pem").read_bytes())
    revoked = x509.load_pem_x509_crl((tmp_path / "crl.pem").read_bytes())
    assert revoked.get_revoked_certificate_by_serial_number(old.serial_number) is not None
    assert revoked.get_revoked_certificate_by_serial_number(new.serial_number) is None


def test_status_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", "status", "--dir", str(tmp_path)]) == 2
    assert "no crawl runs" in capsys.readouterr().err


def test_an_agent_does_not_go_on_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would ask the hosts of all others. With --fresh it may, as it forgets what it was."""
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", "A", "text")
        crawl = ["crawl", web.url("a.localhost"), "--dir", str(tmp_path), "--allow-private", "--delay", "0", "-q"]
        assert run(crawl) == 0
        write_identity(tmp_path / QUEUES / IDENTITY, Identity("demo", "me"))
        assert run(crawl) == 2
        assert "has a part of a crawl by the agents of the cluster demo: run it with --cluster demo" in capsys.readouterr().err
        assert run([*crawl, "--fresh"]) == 0
