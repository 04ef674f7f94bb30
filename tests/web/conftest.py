"""A server on loopback, as `larm serve` runs it, but on a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from larm.config import SearchSettings, ServeSettings
from larm.kit.threads.workers import Workers
from larm.ops.observers import build_crawl
from larm.seams import Searcher
from larm.testing.web import SyntheticWeb
from larm.web.access import Access, Token, open_token
from larm.web.app import application
from larm.web.directories import Directories
from larm.web.server import listen, make_server
from tests.stories.crawls import config_of

HOSTILE = '<script>alert("title")</script>'


class Served(NamedTuple):
    """A server that runs."""

    address: str
    """``http://127.0.0.1:PORT``."""
    client: httpx.Client
    token: Token
    secret: str
    log: list[str]

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.secret}"}


@contextmanager
def serving(
    directories: Sequence[Path],
    token_file: Path,
    *,
    settings: ServeSettings | None = None,
    root: Path | None = None,
    access: Mapping[str, bool] | None = None,
    port: int = 0,
    peering: Any = None,
    network: Any = None,
    remotes: Sequence[Any] = (),
    agents: Callable[[Sequence[Path]], Sequence[Searcher]] = lambda _: (),
    host: str = "127.0.0.1",
) -> Iterator[Served]:
    token = open_token(token_file)
    log: list[str] = []
    gate = Access(token, **(access or {}))
    served = Directories(directories, root, SearchSettings(), remotes, agents=agents)
    app = application(served, gate, settings or ServeSettings(), log=log.append, peering=peering, network=network)
    socket = listen(host, port)
    certificate = settings.certificate if settings is not None else ()
    server = make_server(app, certificate)
    died: list[BaseException] = []
    workers = Workers(lambda _, error: died.append(error))
    workers.start("larm-serve", lambda: server.run(sockets=[socket]))
    address = f"{'https' if certificate else 'http'}://{host}:{socket.getsockname()[1]}"
    try:
        with httpx.Client(base_url=address, timeout=30, trust_env=False, verify=not certificate) as client:
            yield Served(address, client, token, token_file.read_text().strip(), log)
    finally:
        server.should_exit = True
        assert workers.join(60) == []
        socket.close()
    assert died == []


def crawled(directory: Path, pages: Mapping[str, tuple[str, ...]], **settings: object) -> str:
    """A crawl of one host, of which each page has a title, a text and perhaps some markup; its address."""
    with SyntheticWeb() as web:
        host = web.host("a.localhost")
        for path, (title, text, *rest) in pages.items():
            markup = "".join(rest)
            links = [(other, "further") for other in pages if path == "/" and other != path]
            host.page(path, title, text, links, body=markup)
        crawl = build_crawl(config_of(web.url("a.localhost"), settings), directory)
        crawl.run()
        return web.url("a.localhost")


PAGES = {
    "/": ("Harbour", "The harbour of the old town, with its causeway."),
    "/tide": ("Tide tables", "The tide comes in over the causeway twice a day. " * 5),
    "/eels": ("Eels", "Eels live in ponds, and cross the causeway at night."),
    **{f"/carts/{n}": (f"Cart {n}", f"Cart number {n} crosses the causeway at noon.") for n in range(25)},
}


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("served") / "harbour"
    directory.mkdir()
    crawled(directory, PAGES)
    return directory


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("served") / "library"
    directory.mkdir()
    crawled(directory, {"/": ("Books", "Books on tide and causeway."), "/shelf": ("Shelf", "A shelf of books.")})
    return directory


@pytest.fixture(scope="module")  # as long as it is there, this process has an event loop that runs
def browser() -> Iterator[Any]:
    """One for all stories; those that ask for it are skipped where there is none."""
    from tests.web.browser import chromium

    with chromium() as started:
        yield started


Start = Callable[..., Served]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts servers, which end with the module."""
    with ExitStack() as stack:

        def begin(*directories: Path, **options: Any) -> Served:
            token_file = tmp_path_factory.mktemp("token") / "larm" / "token"
            return stack.enter_context(serving(directories, token_file, **options))

        yield begin


@pytest.fixture(scope="module")
def server(start: Start, harbour: Path, library: Path) -> Served:
    return start(harbour, library)
