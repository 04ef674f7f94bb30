"""Each lease to the fetcher for its scheme."""

from __future__ import annotations

from pathlib import Path

from larm.config import FetchSettings
from larm.fetch.file_fetcher import FileFetcher, Router
from larm.kit.clock import SystemClock
from larm.model.file_rules import FileRules, Root
from larm.model.file_url import file_url
from larm.model.lease import Lease
from larm.model.message import URLMessage
from larm.model.outcome import Fetched
from larm.model.url import URLNormalizer
from tests.fetch.conftest import Callable, RawServer
from tests.fetch.driving import make_fetcher
from tests.fetch.raw_server import page


def router_for(folder: Path) -> Router:
    return Router(make_fetcher(), FileFetcher(FetchSettings(), FileRules([Root(str(folder), listed=True)]), SystemClock()))


def lease(url: str) -> Lease:
    message = URLMessage(URLNormalizer(files=True).parse(url))
    return Lease(1, message.url.host, message)


def test_files_and_the_web_side_by_side(tmp_path: Path, serve: Callable[..., RawServer]) -> None:
    (tmp_path / "a.txt").write_text("from the disk")
    server = serve(page(b"from the web"))
    router = router_for(tmp_path)
    router.start(lease(server.url()))
    router.start(lease(file_url(str(tmp_path / "a.txt"))))
    assert router.in_flight == 2
    bodies: list[bytes] = []
    while router.in_flight:
        bodies += [outcome.body for _, outcome in router.wait(5.0) if isinstance(outcome, Fetched)]
    assert bodies == [b"from the disk", b"from the web"]
    router.close()


def test_it_can_be_woken_and_cut_off(tmp_path: Path, serve: Callable[..., RawServer]) -> None:
    server = serve(lambda request: server.stall())
    router = router_for(tmp_path)
    router.wake()
    assert router.wait(60.0) == []
    leases = [lease(server.url()), lease(file_url(str(tmp_path / "a.txt")))]
    for each in leases:
        router.start(each)
    assert sorted(router.abandon(), key=leases.index) == leases
    assert router.in_flight == 0
    router.close()
