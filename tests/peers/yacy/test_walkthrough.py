"""The walk-throughs of the manual's part on a network, word by word: each command as it stands there.

Only addresses and ports are others. The sites are local, so each directory has a config.yaml that allows that.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import yaml

from larm.testing.web import SyntheticWeb
from tests.cluster.test_walkthrough import commands, terminals
from tests.cluster.web_of_hosts import free_ports
from tests.test_docs import blocks, section
from tests.web.conftest import crawled

pytestmark = pytest.mark.timeout(400)  # a ping has its period of 30 s
LOCAL = {"network": {"young": "0s"}, "serve": {"private": "network"}}


class Served:
    """One of the servers that the manual starts."""

    def __init__(self, host: str, token: Path) -> None:
        self._token = token
        self._url = f"http://{host}:7070"

    def ask(self, path: str, **form: str) -> str:
        headers = {"authorization": f"Bearer {self._token.read_text().strip()}"}
        with httpx.Client(base_url=self._url, timeout=30, trust_env=False, headers=headers) as client:
            return str(client.post(path, data=form).status_code) if form else client.get(path).text

    def until(self, path: str, *holds: str) -> str:
        """Ask until the answer has these texts."""

        def look() -> str:
            try:
                said = self.ask(path)
            except (httpx.TransportError, FileNotFoundError):
                return ""
            return said if all(each in said for each in holds) else ""

        return until(look)


def until(look: Callable[[], str]) -> str:
    tick = threading.Event()
    for _ in range(2_000):
        if found := look():
            return found
        tick.wait(0.1)
    raise AssertionError("it does not come")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Addresses in place of the manual's; two crawls are there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in ("harbour", "mountain"):
        (tmp_path / name).mkdir()
        crawled(tmp_path / name, {"/": (f"The {name}", f"All walks of the {name}.")})
        (tmp_path / name / "config.yaml").write_text(yaml.safe_dump(LOCAL))
    base = f"127.{10 + os.getpid() % 200}.{os.getpid() // 200 % 250}"
    return {"192.0.2.7": f"{base}.77", "192.0.2.8": f"{base}.78", "8118": str(free_ports(1)[0])}


@pytest.mark.slow
def test_crawling_for_each_other(tmp_path: Path, place: dict[str, str]) -> None:
    title = "Crawling for each other"
    settings = yaml.safe_load(blocks("yaml", section(title))[0].replace("192.0.2.7", place["192.0.2.7"]))
    (tmp_path / "mountain" / "config.yaml").write_text(
        yaml.safe_dump(LOCAL | {"network": settings["network"] | LOCAL["network"]})
    )
    ((first, second),) = commands(title)
    with SyntheticWeb() as web, terminals(tmp_path, instead=place) as (terminal,):
        host = web.host("isle.localhost")
        host.robots("User-agent: *\nDisallow: /closed\n")
        for path, links in (("/", ["/1"]), ("/1", ["/2", "/closed"]), ("/2", ["/3"]), ("/3", []), ("/closed", [])):
            host.page(path, f"Isle {path}", f"The isle has lighthouse number {path}.", [(each, "on") for each in links])
        terminal.begin(first)
        one = Served(place["192.0.2.7"], tmp_path / ".config" / "larm" / "token")
        one.until("/network", "Crawled by others")
        assert one.ask("/network/order", url=web.url("isle.localhost"), depth="2") == "303"
        assert one.ask("/network/order", url="ftp://isle.localhost/", depth="2") == "400"
        terminal.begin(second)
        shown = one.until("/network", "Fetched")
        assert '<td class="number">3</td>' in shown, "the page shows its receipt, with the number of pages"
        assert web.fetched() == {f"isle.localhost{path}": 1 for path in ("/", "/1", "/2")}
        one.until("/api/v1/search?q=lighthouse", web.url("isle.localhost", "/2"))


@pytest.mark.slow
def test_sharing_what_you_browse(tmp_path: Path, place: dict[str, str]) -> None:
    ((command,),) = commands("Sharing what you browse")
    with SyntheticWeb() as web, terminals(tmp_path, instead=place) as (terminal,):
        host = web.host("127.0.0.1")
        for path in ("/", "/secret", "/linked"):
            host.page(path, f"Isle {path}", f"The isle has a lighthouse. {path}", [("/linked", "on")])
        terminal.begin(command)
        one = Served(place["192.0.2.7"], tmp_path / ".config" / "larm" / "token")
        one.until("/network", "Crawled by others")
        with httpx.Client(proxy=f"http://127.0.0.1:{place['8118']}", trust_env=False, timeout=30) as browser:
            assert "lighthouse" in browser.get(web.url("127.0.0.1")).text
            assert browser.get(web.url("127.0.0.1", "/secret"), headers={"cookie": "a=b"}).status_code == 200
        found = one.until("/api/v1/search?q=lighthouse", web.url("127.0.0.1"))
        assert "secret" not in found
        assert "linked" not in found


@pytest.mark.slow
def test_a_network_without_a_centre(tmp_path: Path, place: dict[str, str]) -> None:
    ((first, second),) = commands("A network without a centre")
    with terminals(tmp_path, tmp_path, instead=place) as (one_terminal, other_terminal):
        one_terminal.begin(first)
        one, two = (Served(place[each], tmp_path / ".config" / "larm" / "token") for each in ("192.0.2.7", "192.0.2.8"))
        one.until("/network", "No other peer is known yet")
        other_terminal.begin(second)
        two.until("/network", "a senior", "1 answer")
        two.until("/api/v1/search?q=harbour", "The harbour")


@pytest.mark.slow
def test_who_may_write(tmp_path: Path, place: dict[str, str]) -> None:
    ((command,),) = commands("Who may write")
    (tmp_path / "denied.txt").write_text("spam.example\n")
    with terminals(tmp_path, instead=place) as (terminal,):
        terminal.begin(command)
        Served(place["192.0.2.7"], tmp_path / ".config" / "larm" / "token").until(
            "/network", "denied.txt</code>: 0 peers, 1 sites"
        )
