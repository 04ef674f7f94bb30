"""Commands that sentences advise can be copied where they are read."""

import ast
import re
from pathlib import Path
from typing import Any

import click
import pytest

import larm
from larm import cli
from larm.cli.options import Commands
from larm.cli.terminal import CONFIGURED, PLACED, Call

SOURCE = Path(larm.__file__).parent


def call(directory: str = ".", config: str | None = None) -> Call:
    made = Call()
    made.directory, made.config = Path(directory), Path(config) if config else None
    return made


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("next: 'larm search WORDS'; 'larm stats'", "next: 'larm search --dir a WORDS'; 'larm stats --dir a'"),
        ("'larm ctl resume' goes on", "'larm ctl resume --dir a' goes on"),
        ("'cut -f3 logs/x.log | larm crawl -start @-'", "'cut -f3 a/logs/x.log | larm crawl --dir a -start @-'"),
        ("'larm crawl -start @logs/x.log' does", "'larm crawl --dir a -start @a/logs/x.log' does"),
        ("'larm why 'http://a/?b&c'' says", "'larm why --dir a 'http://a/?b&c'' says"),
        ("'larm why --dir there URL'", "'larm why --dir there URL'"),
        ("'larm crawl -?' and larm help sites", "'larm crawl -?' and larm help sites"),
        ("http://a/logs/x, a/logs/x and /logs/x", "http://a/logs/x, a/logs/x and /logs/x"),
    ],
)
def test_where_the_crawl_is_elsewhere(said: str, expected: str) -> None:
    assert call("a").here(said) == expected
    assert call().here(said) == said


def test_a_name_with_a_space_and_several_directories() -> None:
    assert call("my site").here("'larm stats', logs/x.log") == "'larm stats --dir 'my site'', 'my site'/logs/x.log"
    several = call()
    several.directory = None
    assert several.here("'larm reindex' makes it") == "'larm reindex --dir DIR' makes it"


def test_settings_of_a_file_go_along() -> None:
    assert call("a", "b.yaml").here("'larm crawl --parked'") == "'larm crawl --dir a --config b.yaml --parked'"
    assert call(config="b.yaml").here("'larm stats'; 'larm check'") == "'larm stats'; 'larm check --config b.yaml'"


def commands_with(option: str) -> set[str]:
    found = set()
    for name, command in Commands().items():
        inner = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        found |= {f"{name} {sub}".strip() for sub, each in inner if option in [n for p in each.params for n in p.opts]}
    return found


def test_all_commands_with_a_directory_are_known() -> None:
    placed = commands_with("--dir") - {"demo"}
    assert set(CONFIGURED) == placed & commands_with("--config")
    assert {name for name in placed if re.fullmatch("|".join(PLACED), name)} == placed - set(CONFIGURED)


def texts(path: Path) -> list[str]:
    """What the file may say: all of its texts but those that document it, and the options' help."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in alone]


def test_no_sentence_has_such_a_command_without_quotes_or_with_a_directory() -> None:
    unquoted = re.compile(rf"(?<!')(?<!\| )(?<!\()(?<!Usage: )\blarm (?:{'|'.join((*CONFIGURED, *PLACED))})\b(?![/.]|s\b)")
    found = [
        f"{path.relative_to(SOURCE)}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        for text in texts(path)
        if unquoted.search(text) or re.search(r"'larm [^']* --dir $", text)
    ]
    assert found == []


def test_a_mistake_in_a_secret_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    text = "sites: {a.example.org: {auth: 'me:${LARM_TEST_NOWHERE}'}}"
    wrong = "sites.a.example.org.auth: the environment has no variable LARM_TEST_NOWHERE"
    (tmp_path / "config.yaml").write_text(text)
    assert cli.run(["check", "--dir", str(tmp_path)]) == 2
    assert capfd.readouterr().err == f"larm: {tmp_path / 'config.yaml'}: {wrong}\n"
    (tmp_path / "config.yaml").rename(tmp_path / "other.yaml")
    assert cli.run(["check", "--config", str(tmp_path / "other.yaml")]) == 2
    assert capfd.readouterr().err == f"larm: {tmp_path / 'other.yaml'}: {wrong}\n"
    (tmp_path / "larm").mkdir()
    (tmp_path / "other.yaml").rename(tmp_path / "larm" / "config.yaml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert cli.run(["check", "--dir", str(tmp_path)]) == 2
    assert capfd.readouterr().err == f"larm: {tmp_path / 'larm' / 'config.yaml'}: {wrong}\n"
