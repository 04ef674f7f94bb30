"""A crawl that runs is watched and steered from its page; real crawl, real socket, real server."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from larm.ops.control.client import Control
from larm.ops.control.requests import Report, Watch
from tests.ops.control.running import Running, running
from tests.web.conftest import Served, Start


class Steered(NamedTuple):
    """A crawl that runs, and a server that shows it."""

    crawl: Running
    served: Served
    owner: httpx.Client

    @property
    def page(self) -> str:
        return f"/crawls/{self.crawl.directory.name}"

    def order(self, **fields: str) -> str:
        """What the page says then."""
        answer = self.owner.post(f"{self.page}/steer", data=fields)
        if answer.status_code != 303:
            return answer.text
        return self.owner.get(answer.headers["location"]).text


@pytest.fixture
def steered(start: Start, tmp_path: Path) -> Iterator[Steered]:
    directory = tmp_path / "moving"
    directory.mkdir()
    with running(directory) as crawl:
        crawl.until("idle")
        served = start(directory)
        with httpx.Client(base_url=served.address, timeout=60, trust_env=False, headers=served.bearer) as owner:
            yield Steered(crawl, served, owner)


def test_how_it_stands(steered: Steered) -> None:
    text = steered.served.get(steered.page).text
    assert "<strong>idle</strong>" in text
    assert "<dt>Pages</dt><dd>3</dd>" in text
    assert "/missing" in text, "among what went wrong"
    assert "404: 1</span>" in text
    assert "Sign in</a> to steer it" in text
    assert "larm-store-index" in text or "index" in text
    assert '<button name="command" value="pause">' in steered.owner.get(steered.page).text


def test_pause_add_resume(steered: Steered) -> None:
    assert 'role="status"' in steered.order(command="pause")
    steered.crawl.until("paused")
    assert '<button name="command" value="resume">' in steered.owner.get(steered.page).text
    url = steered.crawl.web.url("a.localhost", "/lonely")
    assert 'role="status"' in steered.order(command="add", urls=f"{url}\nnonsense://x\n")
    steered.order(command="resume")
    reached(steered, lambda report: report.figures.pages == 4)


def reached(steered: Steered, holds: Callable[[Report], bool]) -> None:
    with Control(steered.crawl.directory) as control:
        assert any(holds(report) for report in control.stream(Watch()))


def test_settings_and_hosts(steered: Steered) -> None:
    assert "frontier.delay: 7s" in steered.order(command="set", key="frontier.delay", value="7s")
    assert "can&#39;t be changed" in steered.order(command="set", key="storage.chain", value="[]")
    answer = steered.order(command="set", key="frontier.delay", value="<script>")
    assert 'role="alert"' in answer
    assert "<script>" not in re.sub(r'<script src="/static/larm.js" defer>', "", answer)
    steered.order(command="block", host=f"a.localhost:{steered.crawl.web.port}")
    assert 'value="unblock" class="plain">' in steered.owner.get(f"{steered.page}/hosts").text
    table = steered.served.get(f"{steered.page}/hosts?sort=state&having=a.local").text
    assert "Unblock" not in table, "that is for who has signed in"
    assert re.search(r'<th scope="row">a\.localhost:\d+</th><td>blocked</td>', table)
    for odd in ("sort=nothing", "page=999999", "page=x", "having=%00", "page=0"):
        assert steered.served.get(f"{steered.page}/hosts?{odd}").status_code == 200


def test_logs(steered: Steered) -> None:
    logs = re.findall(r'href="\?log=([^"]+)"', steered.served.get(f"{steered.page}/log").text)
    assert "thread0" in logs
    said = "".join(steered.served.get(f"{steered.page}/log?log={name}").text for name in logs)
    assert "http://a.localhost" in said
    for odd in ("../larm.json", "nothing", "/etc/passwd", "store.log"):
        assert "<pre" not in steered.served.get(f"{steered.page}/log", params={"log": odd}).text


def test_events(steered: Steered) -> None:
    """What is the same for all windows, and comes when it changes."""
    with httpx.stream("GET", f"{steered.served.address}{steered.page}/events", timeout=60, trust_env=False) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(line for line in lines if line.startswith("data:") and "<strong>" in line).count("idle")
        steered.order(command="pause")
        assert any("<strong>paused</strong>" in line for line in lines)


def test_events_for_programs(steered: Steered) -> None:
    address = f"{steered.served.address}/api/v1/events?name={steered.crawl.directory.name}"
    with httpx.stream("GET", address, timeout=60, trust_env=False) as stream:
        lines = (line for line in stream.iter_lines() if line.startswith("data: "))
        assert json.loads(next(lines)[6:])["state"] == "idle"
        steered.order(command="pause")
        assert any(json.loads(line[6:])["state"] == "paused" for line in lines)
    assert steered.served.get("/api/v1/events?name=nobody").status_code == 404


def test_many_idle_streams(steered: Steered) -> None:
    """Two hundred windows that only look: everybody else is served as before."""
    port = int(steered.served.address.rpartition(":")[2])
    asked = f"GET {steered.page}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    streams = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(200)]
    try:
        for each in streams:
            each.sendall(asked)
        for each in streams:
            assert each.recv(4_096).startswith(b"HTTP/1.1 200")
        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(lambda _: steered.served.get("/healthz").text, range(40))) == {"ok\n"}
    finally:
        for each in streams:
            each.close()


def test_stop(steered: Steered) -> None:
    """The page of one that has ended shows its last figures, and a button to go on."""
    steered.order(command="stop")
    steered.crawl.end()
    text = steered.owner.get(steered.page).text
    assert "<strong>shutdown</strong>" in text or "Start it" in text
    assert "<dt>Pages</dt><dd>3</dd>" in text


def test_the_api_of_a_crawl(steered: Steered) -> None:
    name, get, post = steered.crawl.directory.name, steered.served.get, steered.owner.post
    (found,) = get("/api/v1/crawls").json()["crawls"]
    assert (found["name"], found["state"], found["runs"], found["figures"]["pages"]) == (name, "idle", True, 3)
    assert get("/api/v1/crawl", params={"name": name}).json()["state"] == "idle"
    assert get("/api/v1/hosts", params={"name": name, "sort": "host"}).json()["found"] == 1
    assert get("/api/v1/recent", params={"name": name}).json()["errors"][0]["url"].endswith("/missing")
    assert get("/api/v1/why", params={"name": name, "url": "http://elsewhere.example/"}).json()["rows"]
    assert "steps" in get("/api/v1/course", params={"name": name}).json()
    pause = {"name": name, "order": {"order": "pause"}}
    assert steered.served.client.post("/api/v1/order", json=pause).status_code == 401
    assert post("/api/v1/order", json=pause).json()["says"]
    assert get("/api/v1/crawl", params={"name": name}).json()["state"] == "paused"
    assert post("/api/v1/checkpoint", json={"name": name}).json()["says"] == "saved"
    refused = post("/api/v1/order", json={"name": name, "order": {"order": "set", "key": "storage.chain", "value": "x"}})
    assert refused.status_code == 422
    assert "can't be changed" in refused.json()["detail"]
    assert post("/api/v1/order", json={"name": name, "order": {"order": "explode"}}).status_code == 400
    assert post("/api/v1/order", content=b"{").status_code == 400
    assert get("/api/v1/hosts", params={"name": name, "sort": "nothing"}).status_code == 422
    for path in ("/api/v1/stop", "/api/v1/checkpoint", "/api/v1/start"):
        assert post(path, json={"name": "nobody"}).status_code == 404


def test_metrics_of_a_crawl(steered: Steered) -> None:
    families = {each.name: each for each in text_string_to_metric_families(steered.served.get("/metrics").text)}
    assert families["larm_crawl_pages"].samples[0].value == 3
    assert families["larm_crawl_running"].samples[0].labels == {"crawl": "moving"}
