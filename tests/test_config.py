"""config.yaml, -s and the command line: what holds, and what a mistake is answered with."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from larm.config import Config, conversion, load, loading
from larm.errors import ConfigError
from larm.kit.units import ByteSize, Seconds


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "config.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def mistake(folder: Path, text: str | bytes) -> str:
    """What is said of a file."""
    file = written(folder, text)
    with pytest.raises(ConfigError) as caught:
        load(file)
    said = str(caught.value)
    assert said.startswith(f"{file}: ")
    assert "\n" not in said
    return said.removeprefix(f"{file}: ")


def override(*texts: str) -> Config:
    return load(None, texts)


def wrong(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        override(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- what holds


def test_an_empty_value_of_a_text_is_the_empty_text(tmp_path: Path) -> None:
    file = written(tmp_path, "crawl: {restrict_to: x}\nagent: {contact: }\n")
    settings = load(file, ["crawl.restrict_to="])
    assert (settings.crawl.restrict_to, settings.agent.contact) == ("", "")


def test_defaults() -> None:
    settings = load(None)
    assert settings == Config()
    assert settings.frontier.delay == 1
    assert settings.frontier.per_host == 1
    assert settings.frontier.health == 5
    assert settings.filters.length.max == 2048
    assert settings.filters.order == ("known_paths", "files", "scope", "length", "visited", "robots", "traps")
    assert (settings.frontier.message_block, settings.frontier.host_block) == (5_000, 100)
    assert settings.fetch.timeout == 75
    assert settings.monitor.tick == 5


def test_a_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
        crawl: {start: [http://a/, http://b/], max_pages: 10}
        frontier:
          delay: 500ms
          backoff: 2min
        fetch: {page_size: 2MB, ip: "4"}
        filters:
          order: [length, my.module:Mine]
        own: {"my.module:Mine": {colour: red, sizes: [1, 2]}}
        """,
    )
    settings = load(file)
    assert settings.crawl.start == ("http://a/", "http://b/")
    assert (settings.frontier.delay, settings.frontier.backoff) == (0.5, 120)
    assert (settings.fetch.page_size, settings.fetch.ip) == (2_000_000, "4")
    assert settings.own == {"my.module:Mine": {"colour": "red", "sizes": [1, 2]}}
    assert settings.storage == Config().storage


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "---\n", "fetch:\nfilters:\n  length:\n", "{}", "\ufefffetch:\n"])
def test_empty_files_and_empty_sections_are_the_defaults(tmp_path: Path, text: str) -> None:
    assert load(written(tmp_path, text)) == Config()


def test_command_line_wins_over_set_wins_over_file_wins_over_default(tmp_path: Path) -> None:
    file = written(tmp_path, "fetch: {threads: 2, transfers: 2, timeout: 2}\nfrontier: {per_host: 2}")
    settings = load(file, ["fetch.threads=3", "fetch.transfers=3"], {"fetch.threads": 4, "crawl.max_depth": 4})
    assert (settings.fetch.threads, settings.fetch.transfers, settings.fetch.timeout) == (4, 3, 2)
    assert settings.frontier.per_host == 2
    assert settings.crawl.max_depth == 4


def test_of_two_overrides_the_later_holds() -> None:
    assert override("fetch.threads=3", "fetch.threads=5").fetch.threads == 5


def test_override_of_an_empty_section(tmp_path: Path) -> None:
    assert load(written(tmp_path, "fetch:\n"), ["fetch.threads=3"]).fetch.threads == 3


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("fetch.threads=8", "fetch.threads", 8),
        ("frontier.delay=0", "frontier.delay", 0),
        ("frontier.delay=1.5", "frontier.delay", 1.5),
        ("frontier.delay=2min", "frontier.delay", 120),
        (" frontier.delay = 3", "frontier.delay", 3),
        ("crawl.start=[http://a/, 'http://b/?x=1']", "crawl.start", ("http://a/", "http://b/?x=1")),
        ("crawl.restrict_to='http://a/.*'", "crawl.restrict_to", "http://a/.*"),
        ("crawl.restrict_to=http://a/x=y.*", "crawl.restrict_to", "http://a/x=y.*"),
        ("crawl.max_pages=null", "crawl.max_pages", None),
        ("crawl.max_time=1h", "crawl.max_time", 3_600),
        ("robots.obey=off", "robots.obey", False),
        ("fetch.ip='6'", "fetch.ip", "6"),
        ("fetch.ip=6", "fetch.ip", "6"),
        ("filters.length.max=9", "filters.length.max", 9),
        ("filters.known_paths=[]", "filters.known_paths", ()),
        ("filters={length: {max: 7}}", "filters.length.max", 7),
        ("robots.size=512KiB", "robots.size", 524_288),
        ("frontier.delay_factor=0", "frontier.delay_factor", 0.0),
    ],
)
def test_values_of_overrides_are_yaml(text: str, key: str, value: object) -> None:
    found: Any = override(text)
    for name in key.split("."):
        found = getattr(found, name)
    assert found == value


def test_quantities_have_their_types() -> None:
    settings = override("frontier.delay=3", "fetch.page_size=10MB")
    assert isinstance(settings.frontier.delay, Seconds)
    assert isinstance(settings.fetch.page_size, ByteSize)


def test_it_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Config().fetch.threads = 3  # type: ignore[misc]


# -- mistakes in the file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fetsh: {}", "fetsh: no such key; did you mean fetch?"),
        ("fetch: {thread: 3}", "fetch.thread: no such key; did you mean fetch.threads?"),
        ("filters: {length: {maximum: 3}}", "filters.length.maximum: no such key; did you mean filters.length.max?"),
        (
            "filters: {scope: {alow: x}}",
            "filters.scope: no such key; did you mean crawl.scope?",
        ),
        ("threads: 3", "threads: no such key; did you mean fetch.threads?"),
        ("fetch: {delayy: 3}", "fetch.delayy: no such key; did you mean frontier.delay?"),
        ("urls: {zzz: 1}", "urls.zzz: no such key; expected one of lowercase_path, folder_pages, host_resolver"),
        ("1: 2", "1: no such key"),
        ("fetch: {threads: many}", "fetch.threads: expected a whole number, got text"),
        ("fetch: {threads: 1.5}", "fetch.threads: expected a whole number, got a decimal number"),
        ("fetch: {threads: true}", "fetch.threads: expected a whole number, got true or false"),
        ("fetch: {threads: 0}", "fetch.threads: expected a whole number >= 1"),
        ("robots: {obey: maybe}", "robots.obey: expected true or false, got text"),
        ("fetch: {ip: '5'}", "fetch.ip: no such value: '5'"),
        ("fetch: 3", "fetch: expected a section such as {key: value}, got a whole number"),
        ("fetch: [threads]", "fetch: expected a section such as {key: value}, got a list"),
        ("filters: {length: 500}", "filters.length: expected a section such as {key: value}, got a whole number"),
        ("filters: {order: {length: 1}}", "filters.order: expected a list, got a section"),
        (
            "sites: {a.org: {pages: [{main: p}, {tittle: h1}]}}",
            "sites.a.org.pages[1].tittle: no such key; did you mean sites.a.org.pages[1].title?",
        ),
        ("crawl: {start: [http://a/, 5]}", "crawl.start[1]: expected text, got a whole number"),
        ("crawl: {max_depth: -1}", "crawl.max_depth: expected a whole number >= 0"),
        ("frontier: {delay: soon}", "frontier.delay: expected a duration such as 2s, 500ms, 5min or 1h"),
        ("frontier: {delay: 2 weeks}", "frontier.delay: expected a duration"),
        ("frontier: {delay: -1}", "frontier.delay: expected a duration"),
        ("frontier: {delay: yes}", "frontier.delay: expected a duration"),
        ("frontier: {delay: }", "frontier.delay: "),
        ("frontier: {delay_factor: -0.5}", "frontier.delay_factor: expected a number >= 0"),
        ("fetch: {page_size: 5s}", "fetch.page_size: expected a size such as 500KB, 10MB or 512KiB"),
        ("agent: {name: my bot}", "agent.name: expected text matching regex"),
        ("agent: {contact: 2020-01-01}", "agent.contact: expected text, got a date"),
        ("- fetch", "expected sections such as 'fetch:', got a list"),
        ("fetch", "expected sections such as 'fetch:', got text"),
        ("5", "expected sections such as 'fetch:', got a whole number"),
        ("fetch: {threads: 3", "not YAML: "),
        ("a: b: c", "not YAML: line 1, column 5: mapping values are not allowed here"),
        ("sites: {b.org: {delay: 2s}, a.org: {delay: x}}", "sites.a.org.delay: expected a duration"),
        ("sites: {a.org: {per_host: x}}", "sites.a.org.per_host: expected a whole number or null, got text"),
        ("sites: {a.org: {headers: {X: a, Y: 1}}}", "sites.a.org.headers.Y: expected text, got a whole number"),
        ("sites: {a.org: {pages: [{}, {fields: {x: [1]}}]}}", "sites.a.org.pages[1].fields.x: expected text, got a list"),
        ("sites: {5: {}}", "sites: the names in it must be text"),
        ("sites: {'http://a.org/docs/': {delay: 2s}}", "sites.http://a.org/docs/: a site has no path: expected a host"),
        ("sites: {a.org: {}, a.org/: {}}", "sites.a.org/: this site is there twice"),
        ("\tfetch: {}", "not YAML: line 1, column 1: there is a tab, and YAML is indented by spaces alone"),
        ("? [a]\n: 1", "not YAML: "),
        ("fetch: !!python/object/apply:os.system ['true']", "not YAML: "),
        ("agent: {contact: 2020-99-99}", "not YAML: "),
        ("[" * 1_500, "not YAML: "),
        (b"agent: {contact: \xff}", "can't read the configuration: 'utf-8' codec"),
        (b"\x00", "not YAML: "),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert mistake(tmp_path, text).startswith(said)


def test_a_slash_behind_the_name_of_a_site_says_nothing(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "sites: {'http://a.org/': {delay: 2s}, b.org/: {delay: 3s}}"))
    assert {name: site.delay for name, site in settings.sites.items()} == {"http://a.org": 2, "b.org": 3}


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml: can't read the configuration: No such file"):
        load(tmp_path / "nothing.yaml")
    with pytest.raises(ConfigError, match=r"can't read the configuration: .*directory"):
        load(tmp_path)


# -- mistakes elsewhere


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fetch.threads", "-s fetch.threads: expected KEY=VALUE"),
        ("fetch.thread=3", "-s: fetch.thread: no such key; did you mean fetch.threads?"),
        ("fetch.threads=x", "-s: fetch.threads: expected a whole number, got text"),
        ("fetch.threads.x=3", "-s: fetch.threads: expected a whole number, got a section"),
        ("threads=3", "-s: threads: no such key"),
        ("=3", "-s: : no such key"),
        ("fetch..x=3", "-s: fetch.: no such key"),
        ("fetch.threads=", "-s: fetch.threads: expected a whole number, got null"),
        ("fetch.threads=[", "-s fetch.threads=[: not YAML: "),
    ],
)
def test_a_wrong_override_is_blamed_on_it(text: str, said: str) -> None:
    assert wrong(text).startswith(said)


def test_an_override_below_a_value(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^-s fetch\.threads\.x=1: threads is not a section$"):
        load(written(tmp_path, "fetch: {threads: 3}"), ["fetch.threads.x=1"])


def test_each_source_is_blamed_for_its_own_mistake(tmp_path: Path) -> None:
    file = written(tmp_path, "fetch: {threads: 0}")
    with pytest.raises(ConfigError, match=r"config\.yaml: fetch\.threads"):
        load(file, ["fetch.threads=3"], {"fetch.threads": 4})
    with pytest.raises(ConfigError, match=r"^-s: fetch\.threads"):
        load(None, ["fetch.threads=0"], {"fetch.threads": 4})
    with pytest.raises(ConfigError, match=r"^command line: fetch\.threads"):
        load(None, ["fetch.threads=3"], {"fetch.threads": 0})


@pytest.mark.parametrize(
    "text",
    [
        f"frontier.delay={'9' * 400}",
        f"frontier.delay='{'9' * 400}'",
        "frontier.delay=40000d",
        "frontier.delay=.inf",
        "frontier.delay=.nan",
        "frontier.delay_factor=.inf",
        "frontier.delay_factor=.nan",
        f"fetch.page_size={'9' * 400}",
        f"fetch.page_size='{'9' * 400}'",
        "fetch.page_size=99999999GB",
    ],
)
def test_numbers_that_mean_nothing(text: str) -> None:
    """They would overflow a timer, or stop a host for ever."""
    assert wrong(text).startswith(f"-s: {text.partition('=')[0]}: ")


@pytest.mark.parametrize("text", ["agent.contact='x\n'", "agent.contact='x\ny'", "agent.contact=ü", "agent.name='larm\n'"])
def test_nothing_gets_into_the_user_agent_that_would_break_the_request(text: str) -> None:
    assert wrong(text.replace("\n", "\\n").replace("'", '"')).startswith("-s: agent.")


# -- any text at all


@given(st.text(max_size=40) | st.text("{}[]:,-&*!|>'\"%@`? \n\tabc0", max_size=40))
def test_any_text_is_a_configuration_or_a_mistake(text: str) -> None:
    with suppress(ConfigError):
        tree = loading._yaml(text, "x")
        if isinstance(tree, dict):
            assert isinstance(conversion.converted(tree, "x"), Config)


@given(st.sampled_from(["fetch", "fetch.threads", "frontier.delay", "own", "crawl.start", ""]), st.text(max_size=20))
def test_any_override_is_a_value_or_a_mistake(key: str, text: str) -> None:
    with suppress(ConfigError):
        assert isinstance(load(None, [f"{key}={text}"]), Config)


def test_every_field_has_a_default() -> None:
    """So that an empty file is a configuration."""

    def check(section: type[msgspec.Struct]) -> None:
        for field in msgspec.structs.fields(section):
            assert not field.required
            if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
                check(field.type)

    check(Config)


@pytest.mark.parametrize("text", ["10.1.0.0/16", "10.1.2.3/16", "192.168.1.20", "fd00::/8", "::1"])
def test_private_networks(text: str) -> None:
    assert load(None, (f"crawl.private_networks=['{text}']",)).crawl.private_networks == (text,)


@pytest.mark.parametrize("text", ["10.0.0.0/99", "intra.corp", "", "10.1.*"])
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^-s: crawl: private_networks: .* is neither an address nor a network such as 10"):
        load(None, (f"crawl.private_networks=['{text}']",))
