"""Peers and a registrar with certificates of an authority of their own: names are checked, and lead nowhere else."""

from __future__ import annotations

import datetime
from pathlib import Path

import httpx
import pytest

from larm.cluster.certificates import issue, make_authority
from larm.errors import UsageError
from larm.kit.units import Seconds
from tests.peers.yousearch.groups import group, known, members, until

REGISTRAR, ANNA, BERTA = "127.0.4.1", "127.0.4.2", "127.0.4.3"


def test_a_name_is_proven_by_its_certificate(tmp_path: Path) -> None:
    now = datetime.datetime.now(datetime.UTC)
    place = tmp_path / "certificates"
    ca = make_authority(place, now)
    registrars = issue(place, "registrar", (REGISTRAR,), now)
    annas = issue(place, "anna", ("anna.test",), now)
    with group(tmp_path) as made:
        registrar = made.start("", host=REGISTRAR, tls=registrars, registrar=True, ca=str(ca))
        told = {"registrars": (registrar.url,), "ca": str(ca)}
        docs = tmp_path / "docs"
        docs.mkdir()
        (docs / "eel.txt").write_text("An eel crosses the causeway.")
        port = 7_391
        made.start("anna", host=ANNA, port=port, tls=annas, share=(str(docs),), url=f"https://anna.test:{port}", **told)
        berta = made.start("berta", host=BERTA, url="", **told)
        known(registrar, "anna", "berta")
        until(lambda: bool(berta.search("eel")["hits"]))  # though no DNS knows anna.test
        (hit,) = berta.search("eel")["hits"]
        assert hit["url"] == f"https://anna.test:{port}/files/docs/eel.txt"
        assert "https://anna.test" in berta.client.get("/peers").text

        liar = made.start("liar", tls=annas, url=f"https://bank.test:{port + 1}", port=port + 1, **told)
        until(lambda: any("can't be reached" in each for each in liar.said))
        assert "liar" not in members(registrar)

        stranger = made.start("stranger", registrars=(registrar.url,), period=Seconds(0.2))
        until(lambda: any("certificate" in each for each in stranger.said))
        assert stranger.search("eel")["hits"] == []
        with pytest.raises(httpx.ConnectError):
            httpx.get(registrar.url, trust_env=False)


def test_what_can_not_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nonsense")
    with group(tmp_path) as made:
        with pytest.raises(UsageError, match=r"serve\.certificate"):
            made.start("a", tls=tmp_path / "bad.pem")
        with pytest.raises(UsageError, match=r"peers\.ca"):
            made.start("b", ca=str(tmp_path / "none.pem"))
        with pytest.raises(UsageError, match=r"peers\.url"):
            made.start("c", url="anna.test")
