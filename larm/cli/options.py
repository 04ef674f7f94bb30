"""Options that several commands share, and the way from options to a Config.

LARM's options have one dash (``-start``). click takes them for long ones, but then falls back to clusters of short ones, so
that ``-strat X`` would be ``-s trat``. `LarmCommand` looks first and names what was misspelt (LARM-6).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from larm.cli.elsewhere import COMMANDS
from larm.cli.terminal import Call
from larm.errors import UsageError, refusing

if TYPE_CHECKING:
    from larm.config import Config
    from larm.seams import Searcher

CONTEXT: dict[str, Any] = {"help_option_names": ["-?", "-h", "--help"], "max_content_width": 110}

Function = TypeVar("Function", bound=Callable[..., Any])


class _Spelling(click.Command):
    """Refuses an option that is none, before click takes it for a cluster of short ones."""

    elsewhere: Mapping[str, str] = MappingProxyType({})
    """Options of other programs, and what is meant by them here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        misspelt = _misspelt(self.get_params(ctx), args, stop_at_word=isinstance(self, click.Group))
        if misspelt:
            raise self._of_others(misspelt, ctx) or no_such_option(self, ctx, misspelt)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise self._of_others(error.option_name, ctx) or error from error
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser does not say whose option lacks an argument
            raise

    def _of_others(self, option: str, ctx: click.Context) -> click.UsageError | None:
        """The near names that click proposes would be ``--fresh`` for ``--resume``."""
        meant = self.elsewhere.get(option)
        return click.UsageError(f"No such option {option}; for that larm has {meant}", ctx) if meant else None


class LarmCommand(_Spelling):
    """A command with LARM's kind of options. Where it has many, ``sections`` are headings, and the parameters below each."""

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[str]] | None = None,
        elsewhere: Mapping[str, str] = MappingProxyType({}),
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.elsewhere = elsewhere
        self.params.append(_verbose())
        self._sections = sections or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All parameters that ``sections`` does not have stand below the last heading."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        left = {each.name: row for each in options if (row := each.get_help_record(ctx))}
        for heading, names in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([left.pop(name) for name in names])
        with formatter.section("Options"):
            formatter.write_dl(list(left.values()))


GROUPS = {
    "First": {
        "demo": "Crawl and search a small web that comes with larm.",
        "crawl": "Crawl from the start URLs and make the pages searchable.",
        "search": "Find pages by the WORDS, best first.", "serve": "A search page, a monitor and an API.",
    },
    "What a crawl has found": {
        "stats": "Numbers of this directory's crawl.", "why": "What became of URL, and why.",
        "links": "Which links are broken, redirected, or lead outside.",
        "export": "Write pages as JSON, CSV, Markdown or a sitemap.", "cat": "The stored bytes of a page, on stdout.",
        "report": "One page of HTML about the crawl, on stdout.", "warc": "Archives: make one of a crawl, index and check any.",
    },
    "Care of a crawl": {
        "init": "Write DIR/config.yaml, all settings commented out.",
        "check": "Is this configuration valid? Default: config.yaml in DIR.",
        "ctl": "Look at a crawl that runs, and steer it.", "starts": "Show the start URLs, or take one back.",
        "forget": "Take pages out for good.", "backup": "Copy a crawl, also while it runs.",
        "reindex": "Make the index anew from the stored pages.", "repair": "Repair a damaged directory.",
    },
    "With others": {
        "cluster": "One crawl by several agents: status, commands, certificates.",
    },
    "About larm": {"help": "Show the manual about TOPIC.", "version": "The version of larm."},
}  # fmt: skip
"""All commands with their first sentences, as ``larm --help`` shows them: loading each command would triple its time."""
_MODULES = {name: name for names in GROUPS.values() for name in names} | {
    **dict.fromkeys(("cat", "why"), "lookup"),
    **dict.fromkeys(("forget", "backup", "reindex", "repair", "starts"), "care"),
    "report": "stats",
    "init": "check",
    "help": "manual",
}
"""Of each command the module in ``larm.cli``."""


class Commands(Mapping[str, click.Command]):
    """By their names; each is loaded when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        found: click.Command = getattr(import_module(f"larm.cli.{_MODULES[name]}"), name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


class LarmGroup(_Spelling, click.Group):
    """``larm -start ...`` without a command is told where the option belongs."""

    command_class = LarmCommand


class Program(LarmGroup):
    """``larm`` itself."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Who types what another program calls it, or an address alone, is told what to type."""
        name = args[0]
        meant = f"crawl {name}" if "://" in name else COMMANDS.get(name)
        if meant is not None and name not in self.commands:
            ctx.fail(f"No such command {name!r}. Did you mean 'larm {meant}'?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """In the order in which one comes to need them."""
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(list(names.items()))


def _misspelt(parameters: Sequence[click.Parameter], arguments: Sequence[str], *, stop_at_word: bool) -> str:
    """The first argument that stands where an option may stand, looks like one and is none; ``--names`` are left to click."""
    options = {name: p for p in parameters if isinstance(p, click.Option) for name in (*p.opts, *p.secondary_opts)}
    takes_value = {name: not (option.is_flag or option.count) for name, option in options.items()}
    rest = iter(arguments)
    for argument in rest:
        head, equals, _ = argument.partition("=")
        if argument == "--" or (stop_at_word and not argument.startswith("-")):
            break
        if head in options:
            if takes_value[head] and not equals:
                next(rest, None)
        elif argument.startswith("-") and not argument.startswith("--") and len(argument) > 2:
            value = _cluster_value(argument, takes_value)
            if value is None:
                return head
            if not value:
                next(rest, None)
    return ""


def _cluster_value(cluster: str, takes_value: Mapping[str, bool]) -> str | None:
    """The value in ``-qsKEY=VALUE`` or ``-n5``, "-" where no option takes one, "" if it is the next word; None: no cluster."""
    for place, letter in enumerate(cluster[1:], 2):
        name, joined = "-" + letter, cluster[place:]
        if name not in takes_value:
            return None
        if takes_value[name]:
            likely = joined[:1].isdigit() if name != "-s" else "." in joined.partition("=")[0] and "=" in joined
            return joined if likely or not joined else None
    return "-"


def no_such_option(command: click.Command, ctx: click.Context, option: str) -> click.NoSuchOption:
    """The error for an option that is none, with the one that was probably meant."""
    return click.NoSuchOption(option, _no_such(command, ctx, option), ctx=ctx)


def _no_such(command: click.Command, ctx: click.Context, option: str) -> str:
    names = [name for p in command.get_params(ctx) if isinstance(p, click.Option) for name in p.opts]
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            if below and any(option in p.opts for p in below.params):
                return f"No such option {option} here. Did you mean: larm {name} {option} ...?"
    import difflib  # for mistakes alone

    near = difflib.get_close_matches(option, names, 1)
    return f"No such option {option}." + (f" Did you mean {near[0]}?" if near else "")


def _remembered(field: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that tells the `Call` the value of an option."""

    def remember(ctx: click.Context, _: click.Parameter, value: Any) -> Any:
        setattr(ctx.ensure_object(Call), field, value)
        return value

    return remember


def directory_option(command: Function) -> Function:
    """``--dir``; also tells the call where the logs are."""
    path, callback = click.Path(path_type=Path, file_okay=False), _remembered("directory")
    text = "The crawl's directory; default: the current one."
    return click.option("--dir", "directory", type=path, default=Path(), metavar="DIR", help=text, callback=callback)(command)


def directories_option(command: Function) -> Function:
    """``--dir``, again and again."""

    def remember(ctx: click.Context, _: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
        found = tuple(dict.fromkeys(value)) or (Path(),)
        ctx.ensure_object(Call).directory = found[0] if len(found) == 1 else None
        return found

    path = click.Path(path_type=Path, file_okay=False)
    text = "The crawl's directory; default: the current one. Two or more are one search."
    option = click.option("--dir", "directories", type=path, multiple=True, metavar="DIR", help=text, callback=remember)
    return option(command)


def remote_options(command: Function) -> Function:
    """``--remote``, again and again, and the token for them."""
    url = "Search there, too: the address of another machine's larm serve."
    text = "A file with the token of those; only where they have --require-token."
    file = click.Path(path_type=Path, dir_okay=False)
    command = click.option("--remote-token", type=file, metavar="FILE", help=text)(command)
    return click.option("--remote", "remotes", multiple=True, metavar="URL", help=url)(command)


def cluster_option(command: Function) -> Function:
    """``--cluster``."""
    text = "Search all agents of the crawl, where several do it."
    return click.option("--cluster", is_flag=True, help=text)(command)


def remote_searchers(remotes: Sequence[str], token_file: Path | None) -> list[Searcher]:
    """Raises UsageError."""
    if not remotes:
        return []
    remote = remote_opener(token_file)
    return [remote(url) for url in dict.fromkeys(remotes)]


def remote_opener(token_file: Path | None) -> Callable[[str], Searcher]:
    """Of an address, its searcher; it raises UsageError for what is no address. Raises UsageError."""
    from larm.fetch.http_client import HttpClient
    from larm.peers.remote import RemoteSearcher

    with refusing(f"--remote-token {token_file}", OSError):
        token = token_file.read_text("utf-8", "replace").strip() if token_file is not None else ""
    http = HttpClient()
    return lambda url: RemoteSearcher(url, http, token)


def _verbose() -> click.Option:
    """``-v``, of every command: tells the call of it, which also shows tracebacks then."""

    text, callback = "Say more; with a traceback where larm itself fails.", _remembered("verbose")
    return click.Option(["-v", "--verbose"], is_flag=True, help=text, callback=callback, expose_value=False)


def config_options(command: Function) -> Function:
    """``--config`` and ``-s``; also tells the call of the file."""

    path = click.Path(path_type=Path, dir_okay=False)
    text = "Any setting: -s fetch.timeout=30s. Wins over the file."
    command = click.option("-s", "--set", "overrides", multiple=True, metavar="KEY=VALUE", help=text)(command)
    name = "Default: config.yaml in DIR, if there."
    return click.option("--config", "file", type=path, metavar="FILE", help=name, callback=_remembered("config"))(command)


def with_config(command: Function) -> Any:
    """``--config``, ``-s`` and ``--dir`` of a directory that is there: the command gets ``config`` and ``directory``."""

    @wraps(command)
    def called(*, file: Path | None, overrides: tuple[str, ...], directory: Path, **given: Any) -> Any:
        return command(config=effective(existing(directory), file, overrides), directory=directory, **given)

    return config_options(directory_option(called))


def effective(
    directory: Path, file: Path | None, overrides: Sequence[str], given: Mapping[str, object] | None = None
) -> Config:
    """Command line > ``-s`` > environment > file > the user's own file > defaults. Raises ConfigError with all mistakes."""
    from larm.config import CONFIG_FILE, load, own_modules  # help needs no settings
    from larm.kit.disk.files import is_there

    def own_parts(config: Config) -> None:
        if own_modules(config):
            from larm.building.own_parts import import_beside

            import_beside(config, file.parent if file else directory)

    def also(config: Config) -> None:
        from larm.building.wiring import check

        own_parts(config)
        check(config, directory, tried=True)

    own = directory / CONFIG_FILE
    used = file or (own if is_there(own) else None)
    config = load(used, overrides, given, directory=directory, defaults=users_file(), environment=os.environ, also=also)
    own_parts(config)
    return config


def users_file() -> Path | None:
    """``~/.config/larm/config.yaml``, or where XDG_CONFIG_HOME has it; None where it is not there."""
    from larm.config import CONFIG_FILE
    from larm.kit.disk.files import is_there

    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = Path(folder) / "larm" / CONFIG_FILE
    return path if is_there(path) else None


def key_and_value(text: str) -> tuple[str, str]:
    """Return the parts of KEY=VALUE. Raises UsageError."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text}: expected KEY=VALUE")
    return key.strip(), value.strip()


def access_form(text: str) -> str:
    """Of a URL or a path that somebody typed. Raises UsageError."""
    from larm.building.start_urls import address
    from larm.model.credentials import without_credentials
    from larm.model.url import BadUrl, URLNormalizer

    with refusing(without_credentials(text), BadUrl):
        return URLNormalizer(files=True).parse(address(text)).access


def existing(directory: Path, named_by: str = "--dir names the directory of a crawl") -> Path:
    """The directory itself, for commands that only read; ``named_by``: what to do where there is none.

    Raises UsageError, StorageError.
    """
    from larm.crawldir.form import refuse_other_form
    from larm.kit.disk.files import is_there

    if not (is_there(directory) and directory.is_dir()):
        raise UsageError(f"{directory}: no such directory; {named_by}")
    refuse_other_form(directory)
    return directory
