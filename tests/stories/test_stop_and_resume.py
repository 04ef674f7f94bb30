"""Story 6: a crawl that is stopped by a signal goes on where it was."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.stories import parts
from tests.stories.crawls import check_complete, check_stored, reference_links, stored, watch
from tests.stories.processes import Process, Said, crawl_arguments, larm_says
from tests.support.random_web import RandomWeb, random_web

SCOPE = ("-restrictto", r"http://h\d\d\.localhost:\d+/.*")


def crawl(web: RandomWeb, directory: Path, **settings: object) -> list[str]:
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    return crawl_arguments(directory, web.start_urls, dotted, *SCOPE)


def stopped(web: RandomWeb, directory: Path, number: int, after: int) -> Said:
    """Run the crawl and send the signal when so many requests have come; none is answered any more, however late it arrives.

    Fetchers read what they have fetched before they ask for more: a process that does may not have begun by then.
    """
    log = watch(web)
    with Process(*crawl(web, directory, processing__processes=0)) as process:
        log.at(after, lambda: process.stop(number))
        return process.end()


@pytest.mark.usefixtures("hangups_heard")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_twice_and_finished(tmp_path: Path, number: int) -> None:
    """What was stored before is not even asked for again; after each stop everything agrees."""
    with random_web(seed=number, hosts=12, pages=300, delay=0.004) as web:
        links = reference_links(web, tmp_path / "reference")
        before: set[str] = set()
        for after in (90, 60):
            said = stopped(web, tmp_path, number, after)
            assert said.status == 130, said.err
            assert said.last == "larm: interrupted; the same command continues the crawl"
            now = set(stored(tmp_path))
            keys = {url.partition("//")[2].replace(f":{web.port}", "") for url in now}
            check_stored(tmp_path, web, pages=keys)
            assert before < now < web.expected_urls()
            assert not (before & {web.url(request.host, request.path) for request in web.requests})
            before = now
        watch(web)
        said = larm_says(*crawl(web, tmp_path))
        assert said.status == 0, said.err
        assert f"{len(before):,} pages so far, is continued" in said.err
        assert {web.url(request.host, request.path) for request in web.requests if request.status == 200} >= (
            web.expected_urls() - before
        )
        assert not (before & {web.url(request.host, request.path) for request in web.requests})
        check_complete(tmp_path, web, links)
        assert json.loads((tmp_path / "stats.json").read_bytes())["figures"]["pages"] == len(web.expected())


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    """A storage hangs in its commit, so the first one would take for ever. The next run goes on from the last checkpoint."""
    name, flag = f"{parts.HERE}:StuckStorage", tmp_path / "flag"
    stuck = {
        "storage__chain": f"[log, index, {name}]",
        "own": json.dumps({name: {"flag": str(flag)}}),
        "monitor__tick": "100ms",
    }
    with random_web(seed=3, hosts=12, pages=300, delay=0.01) as web:
        links = reference_links(web, tmp_path / "reference")
        log = watch(web)
        with Process(*crawl(web, tmp_path, **stuck)) as process:

            def stop() -> None:
                flag.touch()
                process.signal(signal.SIGINT)

            log.when(lambda _: (tmp_path / "stats.json").exists() and len(log) > 100, stop)
            process.wait_for_line("stopping (again to leave at once: what came since")
            process.signal(signal.SIGINT)
            assert process.end().status == 130
        flag.unlink()
        saved = json.loads((tmp_path / "stats.json").read_bytes())["state"]
        assert saved == "running", "there was no time for more"
        said = larm_says(*crawl(web, tmp_path, **stuck))
        assert said.status == 0, said.err
        check_complete(tmp_path, web, links)
