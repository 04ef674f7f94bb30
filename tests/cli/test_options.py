"""Options of ``larm crawl``: LARM's and ours, and what they do to the configuration (LARM-1 to LARM-10)."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from larm.cli import elsewhere
from larm.cli.options import GROUPS, Commands
from tests.cli.conftest import FakeWiring, Larm

URL = "http://example.org/"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-start", URL),
        ("--start", URL),
        (f"-start={URL}",),
        (f"--start={URL}",),
    ],
)
def test_larms_options_have_one_dash_or_two(larm: Larm, wiring: FakeWiring, arguments: tuple[str, ...]) -> None:
    assert larm("crawl", *arguments).status == 0
    assert wiring.config.crawl.start == (URL,)


def test_larms_whole_command_line_as_printed(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("")
    said = larm("crawl", "-start", URL, "-start", "http://b.org/?a=b", "-restrictto", "http://[^/]*\\.org.*", "-threads", "7",
                "-hostresolver", "rules.txt")  # fmt: skip
    assert said.status == 0, said.err
    assert wiring.config.crawl.start == (URL, "http://b.org/?a=b")
    assert wiring.config.crawl.restrict_to == "http://[^/]*\\.org.*"
    assert wiring.config.fetch.threads == 7
    assert wiring.config.urls.host_resolver == str(rules), "relative to where the command was typed"


def test_each_option_reaches_its_key(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    said = larm("crawl", "-start", URL, "--delay", "500ms", "--per-host", "3", "--max-pages", "10", "--max-depth", "0",
                "--timeout", "5", "--max-time", "2h", "--max-bytes", "2GB",
                "--allow-private", "--fresh", "--no-index", "--dir", "here")  # fmt: skip
    assert said.status == 0, said.err
    config = wiring.config
    assert (config.frontier.delay, config.frontier.per_host) == (0.5, 3)
    assert (config.crawl.max_pages, config.crawl.max_depth, config.crawl.max_time) == (10, 0, 7200)
    assert config.limits.bytes == 2_000_000_000
    assert (config.fetch.timeout, config.crawl.private_networks) == (5, ("all",))
    assert config.storage.chain == ("log",)
    assert (wiring.fresh, wiring.directory) == (True, Path("here"))


def test_the_command_line_wins_over_s_and_s_over_the_file(larm: Larm, wiring: FakeWiring, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("fetch: {threads: 1, transfers: 1, timeout: 1}\ncrawl: {private_networks: all}\n")
    said = larm("crawl", "-start", URL, "-s", "fetch.threads=2", "-sfetch.transfers=2", "-threads", "3")
    assert said.status == 0, said.err
    fetch = wiring.config.fetch
    assert (fetch.threads, fetch.transfers, fetch.timeout) == (3, 2, 1)
    assert wiring.config.crawl.private_networks == ("all",), "an option that was not given overrides nothing"


def test_the_configuration_is_the_directorys_own_unless_another_is_named(
    larm: Larm, wiring: FakeWiring, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "config.yaml").write_text("fetch: {threads: 5}")
    (tmp_path / "other.yaml").write_text("fetch: {threads: 6}")
    larm("crawl", "-start", URL, "--dir", "d")
    assert wiring.config.fetch.threads == 5
    larm("crawl", "-start", URL, "--dir", "d", "--config", "other.yaml")
    assert wiring.config.fetch.threads == 6


def test_unrestricted_is_a_scope_of_everything(larm: Larm, wiring: FakeWiring) -> None:
    assert larm("crawl", "-start", URL, "--unrestricted").status == 0
    assert wiring.config.crawl.restrict_to == ".*"


def test_no_index_keeps_a_storage_of_ones_own(larm: Larm, wiring: FakeWiring) -> None:
    larm("crawl", "-start", URL, "--no-index", "-s", "storage.chain=[log, index, graph, 'my.module:Storage']")
    assert wiring.config.storage.chain == ("log", "my.module:Storage")


def test_gui_is_accepted_with_a_warning(larm: Larm, wiring: FakeWiring) -> None:
    """LARM-7."""
    said = larm("crawl", "-gui", "-start", URL)
    assert said.status == 0
    assert "no GUI" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("crawl",), ["no start URL", "larm crawl URL|PATH|@FILE", "-?"]),
        (("crawl", "-strat", URL), ["-strat", "-start", "larm crawl -?"]),
        (("crawl", "-start", URL, "--frsh"), ["--frsh", "--fresh"]),
        (("crawl", "-starr=http://a.org/"), ["-starr", "-start"]),
        (("crawl", "-start", URL, "-xyz"), ["-xyz"]),
        (("crawl", "-start", URL, "-qz"), ["-qz"]),
        (("crawl", "-start", URL, "-x"), ["-x"]),
        (("crawl", "-start"), ["-start", "requires an argument", "larm crawl -?"]),
        (("forget", "--undo"), ["--undo", "requires an argument", "larm forget -?"]),
        (("crawl", "-start", URL, "word"), ["word"]),
        (("crawl", "-start", URL, "-threads", "many"), ["-threads", "many"]),
        (("crawl", "-start", URL, "-threads", "0"), ["fetch.threads", ">= 1"]),
        (("crawl", "-start", URL, "--delay", "soon"), ["frontier.delay", "2s"]),
        (("crawl", "-start", URL, "-s", "fetch.dely=1"), ["fetch.dely", "no such key"]),
        (("crawl", "-start", URL, "-s", "fetch.delay"), ["KEY=VALUE"]),
        (("crawl", "-start", URL, "-restrictto", "*bad("), ["-restrictto *bad(", "wrong expression"]),
        (("crawl", "-start", URL, "-restrictto", "x", "--unrestricted"), ["exclude"]),
        (("crawl", "-start", URL, "-q", "-v"), ["exclude"]),
        (("crawl", "-start", "http://a b/"), ["-start http://a b/", "not a URL"]),
        (("crawl", "-start", "ftp://example.org/"), ["-start ftp://example.org/", "ftp"]),
        (("crawl", "-start", "@none.txt"), ["@none.txt", "No such file"]),
        (("crawl", "-start", URL, "--config", "none.yaml"), ["none.yaml"]),
        (("-start", URL), ["-start", "larm crawl -start"]),
        (("crwl",), ["crwl"]),
        (("search",), ["WORDS"]),
        (("search", "a", "-n", "0"), ["-n"]),
        (("search", "a", "--page", "0"), ["--page"]),
        (("why",), ["URL"]),
        (("why", "http://a b/"), ["http://a b/"]),
        (("why", URL, "--dir", "none"), ["none", "no such directory"]),
        (("cat", URL, "--dir", "none"), ["none", "no such directory"]),
        (("search", "a", "--dir", "none"), ["none", "no such directory"]),
        (("stats", "--dir", "none"), ["none", "no crawl here"]),
        (("check", "none.yaml"), ["none.yaml"]),
    ],
)
def test_a_mistake_is_one_line_that_names_it_and_nothing_starts(
    larm: Larm, wiring: FakeWiring, arguments: tuple[str, ...], words: list[str]
) -> None:
    said = larm(*arguments)
    assert said.status == 2, said
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    assert said.err.startswith("larm: ")
    for word in words:
        assert word in said.err
    assert wiring.built == 0


@pytest.mark.skipif(not hasattr(click.exceptions, "NoSuchCommand"), reason="this click suggests nothing")
def test_a_command_that_is_misspelt_is_named(larm: Larm) -> None:
    assert "Did you mean 'crawl'?" in larm("cravl").err


@pytest.mark.parametrize("option", ["-?", "-h", "--help"])
def test_help_goes_to_stdout(larm: Larm, option: str) -> None:
    """LARM-6."""
    said = larm("crawl", option)
    assert (said.status, said.err) == (0, "")
    for name in ("-start", "-restrictto", "-threads", "-hostresolver", "--fresh", "-s, --set KEY=VALUE"):
        assert name in said.out
    assert "-gui" not in said.out
    assert larm(option).status == 0


@pytest.mark.parametrize(
    ("name", "meant"),
    [("resume", "larm crawl"), ("settings", "larm check"), ("inject", "larm crawl @FILE"), (URL, f"larm crawl {URL}")],
)
def test_what_other_programs_call_a_command_leads_to_ours(larm: Larm, name: str, meant: str) -> None:
    """The nearest names of ours would be ``stats`` and ``init``."""
    said = f"larm: No such command '{name}'. Did you mean '{meant}'? ('larm -?' lists the options)\n"
    assert larm(name) == (2, "", said)


def test_no_command_is_hidden_by_what_others_call_it() -> None:
    assert not set(elsewhere.COMMANDS) & set(Commands())
    assert {command.split()[0] for command in elsewhere.COMMANDS.values()} <= set(Commands())


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--resume", "the same command again, which goes on"),
        ("-np", "--below"),
        ("--level=2", "--max-depth"),
        ("-l", "--max-depth"),
    ],
)
def test_what_other_programs_call_an_option_leads_to_ours(larm: Larm, given: str, meant: str) -> None:
    """For ``--resume`` click would propose ``--fresh``, which forgets the crawl."""
    said = f"larm: No such option {given.partition('=')[0]}; for that larm has {meant} ('larm crawl -?' lists the options)\n"
    assert larm("crawl", URL, given) == (2, "", said)


def test_no_option_is_hidden_by_what_others_call_it() -> None:
    ours = {name for each in Commands()["crawl"].params for name in each.opts}
    assert not set(elsewhere.CRAWL) & ours
    assert {meant for meant in elsewhere.CRAWL.values() if meant.startswith("--")} <= ours


def test_without_a_command_there_is_help_and_an_error(larm: Larm) -> None:
    said = larm()
    assert said.status == 2
    assert "What a crawl has found:" in said.err


@pytest.mark.parametrize("group", ["ctl", "cluster", "warc"])
def test_a_group_of_commands_without_one_has_its_help_line_by_line(larm: Larm, group: str) -> None:
    said = larm(group)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"Usage: larm {group}")
    assert "Commands:\n" in said.err


def test_the_version(larm: Larm) -> None:
    assert larm("--version").out.startswith("larm 0.")
    assert larm("version").out == larm("--version").out
    assert "tantivy" in larm("version", "-v").out
    assert "compiled reader: " in larm("version", "-v").out


@pytest.mark.parametrize(
    "arguments", [("-sfetch.threads=2",), ("-qs", "fetch.threads=2"), ("-qsfetch.threads=2",), ("-s", "-x=1")]
)
def test_short_options_still_cluster(larm: Larm, wiring: FakeWiring, arguments: tuple[str, ...]) -> None:
    said = larm("crawl", "-start", URL, *arguments)
    assert "No such option" not in said.err, "-s takes what follows, whatever it looks like"


def test_all_commands_stand_in_the_help_with_a_whole_sentence(larm: Larm) -> None:
    said = larm("--help")
    assert said.status == 0
    rows = [line for line in said.out.splitlines() if re.match(r"  [a-z]+  ", line)]
    assert {line.split()[0] for line in rows} == set(Commands())
    assert all(line.endswith((".", "?")) and not line.endswith("...") and len(line) < 80 for line in rows)


def test_options_stand_below_what_they_are_for(larm: Larm) -> None:
    out = larm("crawl", "--help").out
    options = [each for each in Commands()["crawl"].params if isinstance(each, click.Option) and not each.hidden]
    assert all(len(re.findall(rf"(?m)^  {re.escape(each.opts[0])}[ ,]", out)) == 1 for each in options)
    order = ["Where:", "--below", "How much:", "--max-pages", "Options:"]
    assert sorted(order, key=out.index) == order


def test_help_lists_each_command_with_the_first_sentence_of_its_help() -> None:
    """The list is a table, so that ``larm --help`` loads no command."""
    listed = {name: sentence for names in GROUPS.values() for name, sentence in names.items()}
    assert listed == {name: command.get_short_help_str(limit=100) for name, command in Commands().items()}
