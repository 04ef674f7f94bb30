"""The way to etcd, as the settings have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.building.etcd import etcd_of, site_of
from larm.cluster.address import Address
from larm.cluster.etcd import Get, NoEtcd
from larm.config import ClusterSettings
from larm.errors import ConfigError


def settings(*etcd: str) -> ClusterSettings:
    return ClusterSettings(name="demo" if etcd else "", etcd=etcd)


def test_login_is_taken_out_of_the_addresses(tmp_path: Path) -> None:
    """They stand in logs and in the identity file."""
    etcd = etcd_of(settings("http://anna:pass%40word@127.0.0.1:1", "http://127.0.0.1:2"), tmp_path)
    assert list(etcd.endpoints) == ["http://127.0.0.1:1", "http://127.0.0.1:2"]
    assert etcd._login is not None
    assert (etcd._login.name, etcd._login.password) == ("anna", "pass@word")
    found = etcd.txn((), [Get("x")])
    assert isinstance(found, NoEtcd)
    assert "pass" not in found.reason
    assert "anna" not in found.reason
    etcd.close()


def test_etcd_beside_the_agent_is_no_address(tmp_path: Path) -> None:
    assert list(etcd_of(settings("run", "http://there:2379"), tmp_path).endpoints) == ["http://there:2379"]
    assert list(etcd_of(settings("run"), tmp_path).endpoints) == []
    with pytest.raises(ConfigError, match=r"cluster\.etcd: expected the addresses of etcd, or run"):
        etcd_of(settings(), tmp_path)


def test_etcd_beside_an_agent_listens_one_port_further(tmp_path: Path) -> None:
    site = site_of("a", settings("run"), Address("localhost", 7440), tmp_path)
    assert (site.host, site.listen, site.port) == ("localhost", "127.0.0.1", 7441)
    with pytest.raises(ConfigError, match=r"cluster\.listen: no\.such\.invalid"):
        site_of("a", settings("run"), Address("no.such.invalid", 7440), tmp_path)
