"""The documents say what is so: config.yaml, README.rst, docs/, ARCHITECTURE.rst and .ci/run against the program."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest
import yaml

from larm import __version__, cli, errors, open_index
from larm.building.wiring import check
from larm.cli.options import CONTEXT
from larm.cli.signals import INTERRUPTED
from larm.config import Config, load
from larm.engine.figures.thread_log import COLUMNS
from larm.engine.limits import CHANGEABLE
from larm.ops.observers import build_crawl
from larm.store.reader import StoreLog
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb

ROOT = Path(__file__).parents[1]
FOR_MAINTAINERS = ("docs/measurements.rst", "docs/requirements.rst")
CHAPTERS = tuple(
    f"docs/{path.name}"
    for path in sorted((ROOT / "docs").glob("*.rst"))
    if path.name != "index.rst" and ".. include" not in path.read_text(encoding="utf-8")
    if f"docs/{path.name}" not in FOR_MAINTAINERS
)
SHIPPED = ("README.rst", "ARCHITECTURE.rst", "CHANGES.rst", *CHAPTERS)
DESIGNS = tuple(f"docs/design/{path.name}" for path in sorted((ROOT / "docs" / "design").glob("*.rst")))
DOCUMENTS = (*SHIPPED, "CONTRIBUTING.rst", "SECURITY.rst", *FOR_MAINTAINERS, *DESIGNS)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


MANUAL = "\n\n".join(text(name) for name in ("README.rst", *CHAPTERS))
"""What users read: README.rst, and what it leads to."""


def section(title: str, document: str = MANUAL) -> str:
    """What stands under a heading, up to the next one."""
    found = re.search(
        rf"^{re.escape(title)}\n([=-])\1+\n(.*?)(?=^[^\n]+\n(?:===+|---+)\n|\Z)", document, re.MULTILINE | re.DOTALL
    )
    assert found, f"no section {title}"
    return found[2]


def blocks(language: str, document: str = MANUAL) -> list[str]:
    """The code blocks of a language, not indented any more."""
    found = re.findall(rf"^\.\. code-block:: {language}\n\n((?:(?: {{3}}.*)?\n)+)", document, re.MULTILINE)
    return [re.sub("^ {3}", "", block, flags=re.MULTILINE).strip() + "\n" for block in found]


# -- config.yaml


def dotted(section: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """All keys of a section, in order, those of sections in it included."""
    for field in msgspec.structs.fields(section):
        yield path + field.name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from dotted(field.type, f"{path}{field.name}.")


def sections_in(kind: object) -> list[type[msgspec.Struct]]:
    """The sections that a list or a mapping has: those of ``sites``, of ``crawl.seeds``."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [found for each in get_args(kind) for found in sections_in(each)]


def settings_of(section: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, type[msgspec.Struct] | None]]:
    """All settings in full; lists and mappings of sections count once, and come with what they have."""
    for field in msgspec.structs.fields(section):
        inner = sections_in(field.type)
        if inner == [field.type]:
            yield from settings_of(inner[0], f"{path}{field.name}.")
        else:
            yield path + field.name, inner[0] if inner else None


def written(node: yaml.MappingNode, path: str = "") -> Iterator[tuple[str, int]]:
    """The keys of a YAML file, in order, with the numbers of their lines from 0."""
    for key, value in node.value:
        yield path + key.value, key.start_mark.line
        if isinstance(value, yaml.MappingNode):
            yield from written(value, f"{path}{key.value}.")


def test_config_yaml_holds_the_defaults() -> None:
    assert load(ROOT / "config.yaml") == Config()


def test_config_yaml_is_the_one_that_is_shipped() -> None:
    """``larm init`` writes that one; what is edited in place may put a copy where the link was."""
    assert text("larm/config.yaml") == text("config.yaml")


def test_config_yaml_has_every_key_in_order_each_with_a_comment() -> None:
    node = yaml.compose(text("config.yaml"))
    keys = list(written(node))
    assert [key for key, _ in keys] == list(dotted(Config))
    lines = text("config.yaml").splitlines()
    assert [key for key, line in keys if not re.search(r"\S  +# \S.{5}", lines[line])] == []


def test_config_yaml_has_at_most_150_settings() -> None:
    assert len(dict(settings_of(Config))) <= 150, "make a constant of what nobody would look for, beside its user"


@pytest.mark.parametrize("key", dict(settings_of(Config)))
def test_manual_names_each_setting_in_full(key: str) -> None:
    assert re.search(rf"(?<![\w.]){re.escape(key)}(?!\w|\.\w)", MANUAL)


@pytest.mark.parametrize(("key", "section"), [(key, inner) for key, inner in settings_of(Config) if inner])
def test_manual_names_each_key_of_lists_and_mappings(key: str, section: type[msgspec.Struct]) -> None:
    names = [name.rpartition(".")[2] for name in dict(settings_of(section))]
    assert [name for name in names if f"``{name}``" not in MANUAL] == []


def test_config_yaml_names_the_options_that_set_a_key() -> None:
    from larm.cli.crawl import _KEYS, crawl

    commented = {key: text("config.yaml").splitlines()[line] for key, line in written(yaml.compose(text("config.yaml")))}
    options = {parameter.name: parameter.opts[0] for parameter in crawl.params}
    assert [key for name, key in _KEYS.items() if not commented[key].endswith(options[name])] == []


# -- The manual: what it says of the command line


COMMANDS = {name: command for name, command in cli.larm.commands.items() if not command.hidden}


@pytest.mark.parametrize("name", COMMANDS)
def test_manual_has_every_option_of_a_command(name: str) -> None:
    said = section(f"larm {name}") + section("All commands")
    context = click.Context(COMMANDS[name], **CONTEXT)  # click keeps the help option that it makes here
    options = [p for p in COMMANDS[name].get_params(context) if isinstance(p, click.Option) and not p.hidden]
    missing = [opt for p in options for opt in p.opts if not re.search(rf"``{re.escape(opt)}( [^`]+)?``", said)]
    assert missing == []


@pytest.mark.parametrize("name", COMMANDS)
def test_manual_has_no_option_that_is_none(name: str) -> None:
    table = re.findall(r"^(``-.*?``)  ", section(f"larm {name}"), re.MULTILINE)
    said = {option.split()[0] for row in table for option in re.findall(r"``(.+?)``", row)}
    assert said <= {opt for parameter in COMMANDS[name].params for opt in parameter.opts}


WRITTEN = re.findall(r"``larm (\w+)([^`]*)``", MANUAL)
EXAMPLES = re.findall(r"^ {3}(?:\$ )?larm (\w+)(.*)$", MANUAL, re.MULTILINE)


@pytest.mark.parametrize("name", sorted({name for name, _ in (*WRITTEN, *EXAMPLES)} - {"COMMAND"}))
def test_commands_of_the_manual_exist_and_take_the_options_that_it_gives_them(name: str) -> None:
    command = COMMANDS[name]
    context = click.Context(command, **CONTEXT)
    parts = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    known = {opt for part in parts for each in part.get_params(context) for opt in (*each.opts, *each.secondary_opts)}
    said = " ".join(rest for each, rest in (*WRITTEN, *EXAMPLES) if each == name)
    options = re.findall(r"(?<=\s)--[a-z][a-z-]+", f" {said}")
    assert set(options) <= known


def test_manual_has_the_settings_that_can_be_changed_while_a_crawl_runs() -> None:
    said = re.search(r"These settings can be changed: (.*?)\. A host", section("A crawl that runs"), re.DOTALL)
    assert said is not None
    assert tuple(re.findall(r"``(\w+\.\w+)``", said[1])) == CHANGEABLE


def test_manual_has_the_exit_statuses() -> None:
    said = set(re.findall(r"^``(\d+)``  ", section("Stopping and going on"), re.MULTILINE))
    raised = {
        str(kind.exit_status) for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.LarmError)
    }
    assert said == raised | {"0", "4", str(INTERRUPTED)}


def test_manual_names_only_keys_that_exist() -> None:
    sections = "|".join(field.name for field in msgspec.structs.fields(Config))
    named = set(re.findall(rf"``((?:{sections})\.[a-z_.]+)``", MANUAL))
    files = {"robots.txt", "robots.log", "config.yaml"}
    assert len(named) > 10
    assert named - files <= set(dotted(Config))


def test_manual_shows_the_version_in_the_user_agent() -> None:
    assert f"larm/{'.'.join(__version__.split('.')[:2])} (+" in MANUAL


def test_manual_has_the_columns_of_the_monitors_log() -> None:
    assert [column for column in COLUMNS if f"``{column}``" not in section("The logs")] == []
    (sample,) = re.findall(r"^ {3}(\d\d:\d\d:\d\d:\d{3};.*)", section("The logs"), re.MULTILINE)
    assert sample.count(";") == 1 + len(COLUMNS)


def test_ci_runs_the_command_of_the_manual_that_passes_the_tests() -> None:
    commands = [line for line in text(".ci/run").splitlines() if line and not line.startswith("#")]
    (of_readme,) = [block.strip() for block in blocks("sh") if "pytest" in block]
    assert commands == ["set -eu", 'cd "$(dirname "$0")/.."', ".ci/chromium", ".ci/etcd", of_readme]


def test_tox_runs_test_files_that_are_there() -> None:
    files = re.findall(r"tests/\S+\.py", text("tox.ini"))
    assert "tests/peers/yacy/test_simulation.py" in files
    assert [each for each in files if not (ROOT / each).is_file()] == []


# -- The manual: the examples


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the modules and the config.yaml that README shows, as the current one."""
    sources = {found[1]: block for block in blocks("python") if (found := re.match(r"# (my_\w+\.py)\n", block))}
    assert set(sources) == {"my_filters.py", "my_storage.py", "my_processors.py", "my_scorers.py"}
    for name, source in sources.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, Path(name).stem, raising=False)
    (shown,) = [block for block in blocks("yaml") if "my_filters" in block and "my_storage" in block]
    (tmp_path / "config.yaml").write_text(shown, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def crawl(directory: Path, settings: Mapping[str, object]) -> dict[str, int]:
    quick = {"frontier.delay": 0, "fetch.threads": 2, "fetch.ip": "4"}
    running = build_crawl(load(directory / "config.yaml", (), {**quick, **settings}), directory)
    ending = running.run()
    assert (ending.reason, ending.error) == ("finished", None)
    return running.snapshot().counters


def test_filter_storage_and_processor_of_the_manual_work_in_a_crawl(examples: Path) -> None:
    with SyntheticWeb() as web:
        site = web.host("www.localhost")
        site.page("/", "Kitchen", links=["/soup", "/soup?printable=yes", "/cake.json", "/broken.json"])
        site.page("/soup", "Soup", "Stir it.")
        site.page("/soup?printable=yes", "Soup", "Stir it on paper.")
        cake = json.dumps({"name": "Cake", "steps": ["Mix.", "Bake."]}).encode()
        site.add("/cake.json", Reply(200, {"Content-Type": "application/json"}, cake))
        site.add("/broken.json", Reply(200, {"Content-Type": "application/json"}, b"{"))
        counters = crawl(examples, {"crawl.start": [web.url("www.localhost")]})
        printed = web.url("www.localhost", "/soup?printable=yes")

    assert (examples / "logs" / "NoPrinting.log").read_text(encoding="utf-8") == printed + "\n"
    assert counters["NoPrinting/filtered"] == 1
    rows = [json.loads(line) for line in (examples / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted((row["title"], row["text"]) for row in rows)[:2] == [("", ""), ("Cake", "Mix. Bake.")]
    assert {row["url"] for row in rows} == {entry.url for entry in StoreLog(examples)}
    assert len(rows) == 4
    errors = "".join(path.read_text(encoding="utf-8") for path in (examples / "logs").glob("thread?_errors.log"))
    assert "Recipes: JSONDecodeError" in errors


def test_scorer_of_the_manual_works_in_a_search(examples: Path) -> None:
    """The newer one of two pages that say the same of what is looked for."""
    with SyntheticWeb() as web:
        site = web.host("www.localhost")
        site.page("/", "Kitchen", links=["/old", "/new"])
        for name, date in (("/old", "Mon, 03 Jan 2000 00:00:00 GMT"), ("/new", "Mon, 02 Nov 2026 00:00:00 GMT")):
            body = f"<title>{name}</title><p>Stir the soup.".encode()
            site.add(name, Reply(200, {"Content-Type": "text/html", "Last-Modified": date}, body))
        crawl(examples, {"crawl.start": [web.url("www.localhost")]})
    hits = open_index(examples).search("soup", explain=True).hits
    assert [hit.title for hit in hits] == ["/new", "/old"]
    assert hits[0].score - hits[1].score > 0.1
    assert "my_scorers:Fresh" in hits[0].explanation


def test_manual_names_everything_that_a_crawl_leaves_in_its_directory(examples: Path) -> None:
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", "A")
        crawl(examples, {"crawl.start": [web.url("a.localhost")]})
    own = {"my_filters.py", "my_storage.py", "my_processors.py", "my_scorers.py", "__pycache__", "pages.jsonl"}
    found = {path.name + "/" * path.is_dir() for path in examples.iterdir() if path.name not in own}
    assert [name for name in found if f"``{name}``" not in section("A site of your own")] == []
    logs = {path.name for path in (examples / "logs").iterdir()} - {"NoPrinting.log"}
    first = {re.sub(r"(?<=thread)\d+", "0", name) for name in logs}
    assert [name for name in first if f"**{name}**" not in section("The logs")] == []


def test_storage_of_the_manual_goes_on_where_the_checkpoint_was(examples: Path) -> None:
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", "A")
        web.host("b.localhost").page("/", "B")
        crawl(examples, {"crawl.start": [web.url("a.localhost")]})
        with (examples / "pages.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"title": "written by a crawl that was killed"}\n')
        crawl(examples, {"crawl.start": [web.url("a.localhost"), web.url("b.localhost")]})
    titles = [json.loads(line)["title"] for line in (examples / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert titles == ["A", "B"]


def test_search_of_the_manual_finds_something(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = [block for block in blocks("python") if "open_index" in block]
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", "Search", "Full text search is fast.", links=["/other"])
        web.host("a.localhost").page("/other", "Slow", "Full text search is slow.")
        crawl(examples, {"crawl.start": [web.url("a.localhost")]})
        exec(program.replace('"example"', repr(str(examples))), {})
        assert capsys.readouterr().out == f"Search\n{web.url('a.localhost')}\nSearch Full text search is fast. /other\n\n"


def test_crawl_of_the_manual_tells_of_its_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = [block for block in blocks("python") if "larm.crawl(" in block]
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/", "Home", "Some words.", links=["/gone"])
        start = web.url("a.localhost")
        exec(program.replace("https://example.org/", start).replace('"example"', repr(str(tmp_path))).replace("2s", "0s"), {})
    page, *rest = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"{start} Home \d+ 1", page)
    assert rest == ["finished 1", f"{start}gone 404 HTTP status 404 {start}"]


def test_manual_has_every_key_of_the_json() -> None:
    from larm.index.search.answer import answer_of
    from larm.index.search.results import Results
    from larm.model.facets import Facet
    from larm.model.hit import Hit

    hits = (Hit(title="", url="", source="x", copy="x", explanation="{}", fields={"x": ("y",)}, failing=1),)
    answer = msgspec.to_builtins(answer_of(Results(query="", total=1, hits=hits, facets=(Facet("site"),)), 1, 1))
    said = re.findall(r"^``(\w+)``  ", section("Answers for programs"), re.MULTILINE)
    assert said == [*answer, *answer["hits"][0]]


def test_manual_has_every_operator() -> None:
    from larm.index.search.operators import OPERATORS

    said = set(re.findall(r"``-?(\w+):", section("What you can ask")))
    assert said - {"name", "field"} == set(OPERATORS)


def test_configurations_of_the_manual_are_valid(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = blocks("yaml")
    assert len(shown) == MANUAL.count(".. code-block:: yaml") > 5
    monkeypatch.setenv("WIKI_PASSWORD", "secret")
    cookies = examples / "wiki-cookies.txt"
    cookies.write_text("# Netscape HTTP Cookie File\n")
    cookies.chmod(0o600)
    for number, block in enumerate(shown):
        file = examples / f"{number}.yaml"
        file.write_text(block, encoding="utf-8")
        check(load(file), examples)


def test_host_resolver_of_the_manual_does_what_its_comments_say(examples: Path) -> None:
    from larm.model.host_resolver import parse_rules

    (rules,) = blocks("properties")
    resolve = parse_rules(rules, "README.rst").resolve
    names = ("www.example.org", "www2.example.org", "www.example.net", "old-name.example.org", "a.example.org")
    assert [resolve(name) for name in names] == ["example.org"] * 4 + ["a.example.org"]


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        (r"https?://([^/]+\.)?example\.org/.*", "https://a.example.org/x", "https://example.com/?http://example.org/"),
        (r"https://www\.example\.org/manual/.*", "https://www.example.org/manual/a", "https://www.example.org/"),
    ],
)
def test_scopes_of_the_manual(scope: str, inside: str, outside: str) -> None:
    from larm.filters.scope import ScopeFilter
    from larm.testing.fakes import message

    assert f"-restrictto '{scope}'" in section("Scope")
    part = ScopeFilter(scope)
    assert part.explain(message(inside)) is None
    assert part.explain(message(outside)) is not None


# -- ARCHITECTURE.rst, and all documents


def test_architecture_names_each_file_at_the_top() -> None:
    said = section("Rooms", text("ARCHITECTURE.rst"))
    files = [path.name for path in (ROOT / "larm").glob("*.py") if not path.name.startswith("__")]
    assert [name for name in files if name not in said] == []


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [("ARCHITECTURE.rst", 300, 4_500), ("CHANGES.rst", 92, 1_200), *((name, 150, 2_000) for name in DESIGNS)],
)
def test_document_is_short(name: str, lines: int, words: int) -> None:
    """A newcomer reads it to the end."""
    assert len(text(name).splitlines()) <= lines
    assert len(text(name).split()) <= words


def test_architecture_says_what_each_dependency_saves() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    needed = [re.split(r"[<>=]", line)[0].strip() for line in project["dependencies"]]
    rows = re.findall(r"^([a-z][\w.-]+)  +\w", section("Why each dependency", text("ARCHITECTURE.rst")), re.MULTILINE)
    assert rows == needed


def test_architecture_has_the_rooms_in_the_order_of_the_import_contract() -> None:
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = [{f"larm.{name}" for name in layer.replace(" ", "").split("|")} for layer in contracts[0]["layers"]]
    rows = re.findall(r"^(``larm\.\w+``(?:, ``larm\.\w+``)*)$", section("Rooms", text("ARCHITECTURE.rst")), re.MULTILINE)
    assert [set(re.findall(r"larm\.\w+", row)) for row in rows] == layers[1:]


def test_changes_tell_of_this_version() -> None:
    assert re.search(rf"^{re.escape(__version__)} --", text("CHANGES.rst"), re.MULTILINE)


def test_readme_is_short_and_leads_to_every_chapter() -> None:
    lines = text("README.rst").splitlines()
    assert len(lines) <= 200
    linked = re.findall(r"^\.\. _.*: (docs/[\w-]+\.rst)$", text("README.rst"), re.MULTILINE)
    assert {*linked, "docs/manual.rst"} == set(CHAPTERS)


def test_every_chapter_is_in_the_manual_and_in_the_package() -> None:
    listed = re.findall(r"^   ([\w-]+)$", text("docs/manual.rst"), re.MULTILINE)
    assert {f"docs/{name}.rst" for name in listed} == {*CHAPTERS, "docs/readme.rst"} - {"docs/manual.rst"}
    shipped = {path.name: path.resolve() for path in (ROOT / "larm" / "manual").glob("*.rst")}
    assert shipped == {Path(name).name: ROOT / name for name in SHIPPED}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_within_the_project_lead_somewhere(name: str) -> None:
    targets = [target for target in re.findall(r"<([^>\s]+)>`__", text(name)) if "://" not in target]
    assert [target for target in targets if not ((ROOT / name).parent / target).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_references_to_sections_lead_somewhere(name: str) -> None:
    """In the same file, or by a target that names the file and, in the form of code hosts and Sphinx, the section."""
    said = text(name)
    targets = dict(re.findall(r"^\.\. _(.+): (\S+)$", said, re.MULTILINE))
    titles = {*re.findall(r"`([^`<>]+)`_(?!_)", said), *re.findall(r"(?<![`\w])([A-Z][a-z]+)_(?!\w)", said)}
    assert set(targets) <= titles
    assert [title for title in titles - set(targets) if not section(title, said)] == []
    for title, target in targets.items():
        file, _, place = target.partition("#")
        there = ((ROOT / name).parent / file).read_text(encoding="utf-8")
        assert section(title, there)
        assert place in ("", re.sub("[^a-z0-9]+", "-", title.lower()))


@pytest.mark.parametrize("name", [*DOCUMENTS, "config.yaml"])
def test_lines_are_not_too_long(name: str) -> None:
    assert [line for line in text(name).splitlines() if len(line) > 128] == []


# -- docs/requirements.rst


REQUIREMENTS = re.findall(
    r"^((?:LARM|YIOOP|UBI|YOUS|YACY)-\d+) +(\S.*?) +(works|otherwise|not) {2,}(\S.*)$",
    text("docs/requirements.rst"),
    re.MULTILINE,
)
"""Number, requirement, verdict, and the test file or the reason."""


def test_requirements_have_each_number_once_in_order() -> None:
    originals = {"LARM": 127, "YIOOP": 76, "UBI": 36, "YOUS": 40, "YACY": 53}
    rows = re.findall(r"^([A-Z]+-\d+) ", text("docs/requirements.rst"), re.MULTILINE)
    assert rows == [f"{name}-{number}" for name, last in originals.items() for number in range(1, last + 1)]
    assert [number for number, *_ in REQUIREMENTS] == rows, "a row has four columns and one of three verdicts"


def test_requirements_have_all_numbers_that_the_sources_cite() -> None:
    sources = [
        path for room in ("larm", "tests", "benchmarks") for path in (ROOT / room).rglob("*.py*") if path.suffix != ".pyc"
    ]
    cited = {
        number
        for path in sources
        for number in re.findall(r"\b(?:LARM|YIOOP|UBI|YOUS|YACY)-\d+\b", path.read_text(encoding="utf-8", errors="replace"))
    }
    assert len(cited) > 100
    assert cited - {number for number, *_ in REQUIREMENTS} == set()


def test_requirements_that_work_name_one_test_file_and_all_files_exist() -> None:
    tests = [reason for _, _, verdict, reason in REQUIREMENTS if verdict == "works"]
    assert [name for name in tests if not re.fullmatch(r"tests/(\w+/)*test_\w+\.py", name)] == []
    files = {name for *_, reason in REQUIREMENTS for name in re.findall(r"\b(?:tests|docs)/[\w/]+\.\w+", reason)}
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_requirements_name_only_settings_that_exist() -> None:
    sections = "|".join(field.name for field in msgspec.structs.fields(Config))
    named = {key for *_, reason in REQUIREMENTS for key in re.findall(rf"\b(?:{sections})\.[a-z_.]*[a-z_]", reason)}
    assert len(named) > 5
    assert named - {"robots.txt"} <= set(dotted(Config))


def test_requirements_are_said_in_few_words() -> None:
    assert [number for number, said, *_ in REQUIREMENTS if len(said.split()) > 12] == []


def test_requirements_refer_to_rows_that_are_there() -> None:
    numbers = {number for number, *_ in REQUIREMENTS}
    named = {number for *_, reason in REQUIREMENTS for number in re.findall(r"\b[A-Z]+-\d+\b", reason)}
    assert named <= numbers
