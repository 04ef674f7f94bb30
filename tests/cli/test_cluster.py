"""larm cluster: certificates, and what an agent says of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.cli import run


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


def test_status_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", "status", "--dir", str(tmp_path)]) == 2
    assert "no crawl runs" in capsys.readouterr().err
