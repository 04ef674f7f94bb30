"""Parts of the user's own: beside config.yaml, or offered by a package that is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from larm.building.named_parts import check
from larm.building.own_parts import import_beside, own_part
from larm.config import load
from larm.crawldir.marker import is_log_of_larm
from larm.errors import ConfigError
from larm.seams import Filter
from larm.testing.web import SyntheticWeb
from tests.stories.crawls import run_crawl

FILTER = """
from larm.filters.chain import MessageFilter
import own_words_{0}

class NoPrinting(MessageFilter):
    def __init__(self, mark="print"):
        self.mark = mark

    def judge(self, message):
        return own_words_{0}.REASON if self.mark in message.url.access else None
"""


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a filter, which needs another module of the folder, and a config.yaml that names it."""
    (tmp_path / "own_filters_a.py").write_text(FILTER.format("a"))
    (tmp_path / "own_words_a.py").write_text("REASON = 'for printers'\n")
    (tmp_path / "config.yaml").write_text("filters: {order: [scope, 'own_filters_a:NoPrinting', visited]}\n")
    for name in ("own_filters_a", "own_words_a"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_module_beside_config_yaml(beside: Path) -> None:
    settings, path = load(beside / "config.yaml"), list(sys.path)
    with pytest.raises(ConfigError, match="ModuleNotFoundError"):
        check(settings, beside)
    import_beside(settings, beside)
    assert sys.path == path
    check(settings, beside)


def test_a_module_where_larm_is_started_is_none(beside: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "config.yaml").write_text((beside / "config.yaml").read_text())
    assert larm_check(beside, at=elsewhere).returncode == 0
    said = larm_check(elsewhere, at=beside)
    assert said.returncode == 2
    assert "can't make own_filters_a:NoPrinting: ModuleNotFoundError" in said.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [("clas X", "SyntaxError: invalid syntax (own_filters_a.py, line 1)"), ("import no_such_b", "No module named 'no_such_b'")],
)
def test_a_module_beside_config_yaml_that_is_broken(beside: Path, text: str, expected: str) -> None:
    (beside / "own_filters_a.py").write_text(text)
    assert expected in larm_check(beside, at=beside).stderr


def larm_check(directory: Path, *, at: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "larm", "check", "--dir", str(directory)]
    return subprocess.run(command, cwd=at, capture_output=True, text=True, timeout=60, check=False)


def package(folder: Path, name: str) -> None:
    """A package that is installed in ``folder`` and offers the filter ``no-printing``."""
    (folder / f"own_filters_{name}.py").write_text(FILTER.format(name))
    (folder / f"own_words_{name}.py").write_text(f"REASON = {name!r}\n")
    about = folder / f"own_{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: own-{name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[larm.filters]\nno-printing = own_filters_{name}:NoPrinting\n")


def test_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match=r"'no-printing': expected one of scope, or package\.module:Class"):
        own_part("no-printing", "filters.order", Filter, ("scope",), {})
    package(tmp_path, "b")
    part = own_part("no-printing", "filters.order", Filter, ("scope",), {"no-printing": {"mark": "paper"}})
    assert (type(part).__module__, part.mark) == ("own_filters_b", "paper")
    (tmp_path / "config.yaml").write_text("filters: {order: [scope, no-printing]}\nown: {no-printing: {mark: x}}\n")
    check(load(tmp_path / "config.yaml"), tmp_path)
    with pytest.raises(ConfigError, match="expected one of scope, no-printing, or"):
        own_part("nothing", "filters.order", Filter, ("scope",), {})
    package(tmp_path, "c")
    with pytest.raises(ConfigError, match="offered by several packages; name one of own_filters_b:NoPrinting, own_f"):
        own_part("no-printing", "filters.order", Filter, ("scope",), {})


LOGS_OF_LARM = [
    "store",
    "links",
    "STORE",
    "robots",
    "starts",
    "crash",
    "stalled",
    "ThreadMonitor",
    "thread0",
    "thread12_errors",
]


@pytest.mark.parametrize("name", [*LOGS_OF_LARM, "URLScopeFilter", "filter_errors", "agents", "archive", "a/b", "a\0b"])
def test_filter_whose_log_is_one_of_larm_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = FILTER.format("log").replace("import own_words_log", "") + f"    log_name = {name!r}\n"
    (tmp_path / "own_filters_log.py").write_text(text)
    (tmp_path / "config.yaml").write_text("filters: {order: [scope, 'own_filters_log:NoPrinting', visited]}\n")
    monkeypatch.delitem(sys.modules, "own_filters_log", raising=False)
    settings = load(tmp_path / "config.yaml")
    import_beside(settings, tmp_path)
    with pytest.raises(ConfigError, match=r"^filters.order: own_filters_log:NoPrinting: log_name .*; choose another$"):
        check(settings, tmp_path)


def test_every_log_of_a_crawl_is_a_name_that_filters_may_not_have(tmp_path: Path) -> None:
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", links=["/1", "/missing", "http://elsewhere.localhost/"])
        run_crawl(tmp_path, web.url("a.localhost"))
    logs = [path.stem for path in (tmp_path / "logs").glob("*.log")]
    assert "store" in logs
    assert [name for name in logs if not is_log_of_larm(name)] == []
