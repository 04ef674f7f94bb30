"""``larm backup``: the copy of a crawl is a crawl, also where it was made while that one ran."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from larm import cli
from larm.engine.crawl import Crawl
from larm.errors import UsageError
from larm.kit.threads.workers import Workers
from larm.ops import backup
from larm.ops.backup import back_up
from larm.ops.control.client import Control
from larm.ops.control.requests import Hold, Release, Status
from larm.ops.forgetting import meant, take_out
from larm.ops.observers import build_crawl
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import ALL_HOSTS, check_complete, config_of, reference_links, run_crawl, stored
from tests.support.random_web import random_web


def running(starts: str | Sequence[str], directory: Path, settings: Mapping[str, object]) -> tuple[Crawl, Workers]:
    """A crawl that has saved once, and its thread."""
    crawl, saved = build_crawl(config_of(starts, settings), directory), threading.Event()
    crawl._checkpointer.on_saved.append(saved.set)
    thread = Workers(lambda _name, _error: None)
    thread.start("crawl", crawl.run)
    assert saved.wait(30)
    return crawl, thread


def test_a_crawl_that_rests(web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web.host("a.localhost").page("/", links=["/1"])
    web.host("a.localhost").page("/1", text="words to find")
    start, whole, copy = web.url("a.localhost"), tmp_path / "whole", tmp_path / "copies" / "copy"
    run_crawl(whole, start, {"storage.chain": ["log", "index", "graph", "warc"]})
    (whole / "config.yaml").write_text("agent: {contact: 'mailto:me@example.org'}\n")
    (whole / "mine.txt").write_text("no file of larm's")
    assert cli.run(["backup", str(copy), "--dir", str(whole)]) == 0
    assert f"copied to {copy}: " in capsys.readouterr().err
    names = {str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file()} - {"mine.txt", "lock"}
    assert {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()} == names
    assert cli.run(["search", "words", "--dir", str(copy)]) == 0
    assert run_crawl(copy, start, {"storage.chain": ["log", "index", "graph", "warc"]}).reason == "finished"
    assert cli.run(["backup", str(copy), "--dir", str(whole)]) == 2
    assert "is not empty" in capsys.readouterr().err
    (copy / "larm.json").unlink()  # written last, so a killed backup has none
    assert cli.run(["backup", str(copy), "--dir", str(whole)]) == 2
    assert f"rm -r {copy}" in capsys.readouterr().err
    assert cli.run(["backup", str(tmp_path / "x"), "--dir", str(tmp_path / "copies")]) == 2


def test_a_crawl_that_runs(tmp_path: Path) -> None:
    """Copied in the middle: the copy goes on to the same end, each page and link once, and so does the original."""
    with random_web(seed=3, hosts=6, pages=150) as web:
        links = reference_links(web, tmp_path / "reference")
        settings = ALL_HOSTS | {"crawl.on_idle": "wait", "monitor.tick": "50ms"}
        crawl, ended = running(web.start_urls, tmp_path / "whole", settings)
        try:
            copies = [tmp_path / f"copy{number}" for number in range(3)]
            for copy in copies:
                back_up(tmp_path / "whole", copy, print)
        finally:
            crawl.stop()
            ended.join(60)
        for directory in (*copies, tmp_path / "whole"):
            assert run_crawl(directory, web.start_urls, ALL_HOSTS).reason == "finished"
            check_complete(directory, web, links)


def test_no_checkpoint_is_made_while_it_is_copied(web: SyntheticWeb, tmp_path: Path) -> None:
    web.host("a.localhost").page("/")
    settings = {"crawl.on_idle": "wait", "monitor.tick": "10ms"}
    crawl, ended = running(web.url("a.localhost"), tmp_path, settings)
    try:
        checkpointer = crawl._checkpointer
        with Control(tmp_path) as first, Control(tmp_path) as second:
            assert first.ask(Hold()).says == "saved"
            number = checkpointer.done
            with pytest.raises(UsageError, match="somebody else copies"):
                second.ask(Hold())
            for _ in range(20):
                second.ask(Status())
            assert (checkpointer.begun, checkpointer.held) == (number, True)
            first.ask(Release())
            with pytest.raises(UsageError, match="nothing is held"):
                first.ask(Release())
            assert second.ask(Hold()).says == "saved"
        with Control(tmp_path) as third:  # who went away without a word holds nothing
            assert third.ask(Hold()).says == "saved"
            checkpointer.save()
            with pytest.raises(UsageError, match="saved again meanwhile"):
                third.ask(Release())
    finally:
        crawl.stop()
        ended.join(60)


def test_a_crawl_that_ends_meanwhile(web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web.host("a.localhost").page("/")
    settings = {"crawl.on_idle": "wait", "monitor.tick": "10ms"}
    crawl, ended = running(web.url("a.localhost"), tmp_path / "whole", settings)
    real, said = backup._bring, list[str]()

    def ending(*given: Any, grows: bool) -> None:
        crawl.stop()
        ended.join(60)
        real(*given, grows=grows)

    monkeypatch.setattr(backup, "_bring", ending)
    back_up(tmp_path / "whole", tmp_path / "copy", said.append)
    assert said == ["the crawl ended meanwhile: its end is waited for, then what has changed is copied"]
    assert stored(tmp_path / "copy") == stored(tmp_path / "whole")
    assert run_crawl(tmp_path / "copy", web.url("a.localhost")).reason == "finished"


def other_version(web: SyntheticWeb) -> None:
    for number in range(9):
        text = f"second version of {number}, which is longer"
        web.host("a.localhost").page(f"/{number}", text=text, links=[f"/{number + 1}"])


def another_run(web: SyntheticWeb, directory: Path) -> None:
    """Its retention writes the logs and page files anew."""
    other_version(web)
    for _ in range(3):  # it goes on, revisits, and takes out what was before
        run_crawl(directory, web.url("a.localhost"), KEEP)


def fresh_start(web: SyntheticWeb, directory: Path) -> None:
    other_version(web)
    build_crawl(config_of(web.url("a.localhost"), KEEP), directory, fresh=True).run()


def forgetting(web: SyntheticWeb, directory: Path) -> None:
    settings = config_of(web.url("a.localhost"), KEEP)
    take_out(settings, directory, meant(settings, directory, [web.url("a.localhost", "/1")]))


def cut_and_grown(_web: SyntheticWeb, directory: Path) -> None:
    """As after a kill: what came behind the checkpoint is cut off, and something else comes there."""
    for path in (directory / "logs").glob("*.*"):
        with path.open("r+b") as file:
            data = file.read()
            file.seek(len(data) // 2)
            file.write(data[len(data) // 2 :][::-1] + b"more")


KEEP = {"storage.log.keep.versions": 1, "storage.log.page_file_size": "2kB", "storage.log.compress": False}


@pytest.mark.parametrize("meanwhile", [another_run, fresh_start, forgetting, cut_and_grown])
def test_somebody_else_had_the_crawl_meanwhile(
    web: SyntheticWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[SyntheticWeb, Path], None]
) -> None:
    """What was copied of it before is no head of what is copied then."""
    for number in range(5):
        web.host("a.localhost").page(f"/{number}", text=f"page {number}", links=[f"/{number + 1}"])
    web.host("a.localhost").page("/", links=["/0"])
    whole, copy = tmp_path / "whole", tmp_path / "copy"
    crawl, ended = running(web.url("a.localhost"), whole, KEEP | {"crawl.on_idle": "wait", "monitor.tick": "10ms"})
    real, times = backup._bring, count(1)

    def interrupted(*given: Any, grows: bool) -> None:
        real(*given, grows=grows)
        if next(times) == 1:
            crawl.stop()
            ended.join(60)
            before = logs(whole)
            meanwhile(web, whole)
            after = logs(whole)
            assert not all(after.get(name, b"").startswith(data) for name, data in before.items()), (
                "or there is nothing to notice"
            )

    monkeypatch.setattr(backup, "_bring", interrupted)
    back_up(whole, copy, lambda _sentence: None)
    assert next(times) == 3
    assert logs(copy) == logs(whole)


def logs(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (directory / "logs").iterdir()}


def test_another_file_of_the_same_name_is_copied_as_a_whole(tmp_path: Path) -> None:
    """Also while one process has the crawl: a log that was full gets another name, and a new one begins."""
    old, copy, known = tmp_path / "x.log", tmp_path / "copy", dict[Path, Any]()
    old.write_text("first line\n")
    backup._grown(old, copy, known, grows=True)
    old.rename(tmp_path / "x.log.1")
    old.write_text("another one, which is longer\n")
    backup._grown(old, copy, known, grows=True)
    assert copy.read_text() == old.read_text()


def test_copy_has_the_modes_and_the_files_that_the_configuration_names(
    web: SyntheticWeb, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is for its owner alone stays so, and the copy goes on without the original."""
    web.host("a.localhost").page("/")
    whole, copy, elsewhere = tmp_path / "whole", tmp_path / "copy", tmp_path / "synonyms.txt"
    run_crawl(whole, web.url("a.localhost"))
    elsewhere.write_text("quay, wharf\n")
    (whole / "keys").mkdir()
    for name in ("cookies.txt", "keys/password", "mine.py"):
        (whole / name).write_text("# a secret\n")
        (whole / name).chmod(0o600)
    sites = "{a.localhost: {cookies: cookies.txt, auth: 'me:${file:keys/password}'}}"
    own = f"search: {{synonyms: {elsewhere}}}\nprocessing: {{by_mime: {{text/x-mine: 'mine:Processor'}}}}\n"
    (whole / "config.yaml").write_text(f"sites: {sites}\n{own}")
    (whole / "config.yaml").chmod(0o640)
    whole.chmod(0o700)
    (whole / "logs").chmod(0o750)
    assert cli.run(["backup", str(copy), "--dir", str(whole)]) == 0
    assert str(elsewhere) in capsys.readouterr().err
    paths = [Path(), *(path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.name != "lock")]
    modes = {path: ((whole / path).stat().st_mode, (copy / path).stat().st_mode) for path in paths}
    assert {path: found for path, found in modes.items() if found[0] != found[1] and path != Path("keys")} == {}
    (whole / "config.yaml").write_text("no: such setting\n")
    assert cli.run(["backup", str(tmp_path / "second"), "--dir", str(whole)]) == 0
    assert "config.yaml" in capsys.readouterr().err
