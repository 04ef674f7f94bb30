"""Names of files in settings are meant from where they stand: beside their file, or in the working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from larm.building.site_access import site_accesses
from larm.building.start_urls import read_starts
from larm.cli.options import effective
from larm.config import Config
from larm.model.url import URLNormalizer

TEXT = """
crawl: {start: ['@list.txt', ./docs, '@-', https://a.example/], seeds: [{url: ./docs}]}
urls: {host_resolver: rules}
sites:
  a.example: {cookies: jar, auth: 'me:${file:word}', proxy: 'http://me:${file:word}@127.0.0.1:1', headers: {X: '${file:word}'}}
cluster: {ca: ca.pem, certificate: [one.pem, one.key]}
search: {synonyms: words}
serve: {certificate: cert.pem}
peers: {share: [docs, ~/papers], groups_from: 'https://a.example/groups'}
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The crawl's directory and a folder with a configuration and its files; we are in a third one."""
    for name in ("crawl", "elsewhere", "here", "own/larm"):
        (tmp_path / name).mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "config.yaml").write_text(TEXT)
    (elsewhere / "list.txt").write_text("https://b.example/\n")
    for name, text in (("word", "secret"), ("jar", "# Netscape HTTP Cookie File\na.example\tFALSE\t/\tFALSE\t0\tsid\ttoken\n")):
        (elsewhere / name).write_text(text)
        (elsewhere / name).chmod(0o600)
    (elsewhere / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    return tmp_path / "crawl", elsewhere


def test_they_lie_beside_the_file_of_config(places: tuple[Path, Path]) -> None:
    directory, elsewhere = places
    found = effective(directory, elsewhere / "config.yaml", ())
    assert found.crawl.start == (f"@{elsewhere}/list.txt", f"{elsewhere}/docs", "@-", "https://a.example/")
    assert found.crawl.seeds[0].url == f"{elsewhere}/docs"
    assert found.urls.host_resolver == f"{elsewhere}/rules"
    assert (found.cluster.ca, found.cluster.certificate[1]) == (f"{elsewhere}/ca.pem", f"{elsewhere}/one.key")
    assert found.search.synonyms == f"{elsewhere}/words"
    assert found.serve.certificate == (f"{elsewhere}/cert.pem",)
    assert found.peers.share == (f"{elsewhere}/docs", "~/papers")
    assert found.peers.groups_from == "https://a.example/groups"
    access = site_accesses(found, directory).of_url(URLNormalizer().parse("https://a.example/"))
    assert access is not None
    assert access.auth == b"me:secret"
    assert access.proxy == "http://me:secret@127.0.0.1:1"
    assert access.headers == (b"X: secret",)
    assert access.cookies is not None
    assert access.cookies.header("https://a.example/") == b"Cookie: sid=token"
    starts = read_starts(found.crawl.start[:1], URLNormalizer().parse, directory, "crawl.start:", ())
    assert starts.urls == ["https://b.example/"]


def test_in_the_directory_itself_they_stay_as_they_are_written(places: tuple[Path, Path]) -> None:
    """So that it can be moved."""
    _, elsewhere = places
    found = effective(elsewhere, None, ())
    assert found.crawl.start[:2] == ("@list.txt", "./docs")
    assert found.sites["a.example"].cookies == "jar"
    assert found.serve.certificate == (f"{elsewhere}/cert.pem",)  # which a server opens from the working directory


def test_file_that_is_only_in_the_directory_of_the_crawl_is_found(places: tuple[Path, Path]) -> None:
    directory, elsewhere = places
    (directory / "rules").write_text("")
    assert effective(directory, elsewhere / "config.yaml", ()).urls.host_resolver == "rules"
    (elsewhere / "rules").write_text("")
    assert effective(directory, elsewhere / "config.yaml", ()).urls.host_resolver == f"{elsewhere}/rules"


def test_those_of_options_and_of_the_environment_are_in_the_working_directory(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, _ = places
    monkeypatch.setenv("LARM_SEARCH_SYNONYMS", "words")
    found = effective(directory, None, ["urls.host_resolver=rules", "crawl.start='@list'", "frontier.delay=2s"])
    assert found.urls.host_resolver == str(Path("rules").absolute())
    assert found.crawl.start == ("@" + str(Path("list").absolute()),)
    assert found.search.synonyms == str(Path("words").absolute())
    (directory / "rules").write_text("")
    assert effective(directory, None, ["urls.host_resolver=rules"]).urls.host_resolver == "rules"


def test_those_of_the_user_s_own_file(places: tuple[Path, Path], tmp_path: Path) -> None:
    directory, _ = places
    (tmp_path / "own" / "larm" / "config.yaml").write_text("sites: {a.example: {cookies: jar}}")
    assert effective(directory, None, ()).sites["a.example"].cookies == f"{tmp_path}/own/larm/jar"


def test_nothing_of_the_defaults_changes(places: tuple[Path, Path]) -> None:
    (places[1] / "config.yaml").write_text("")
    assert effective(places[0], places[1] / "config.yaml", ()) == Config()
