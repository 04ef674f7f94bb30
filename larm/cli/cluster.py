"""``larm cluster``: status and commands of a crawl by several agents, operators' decisions, and certificates."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, Unpack

import click

from larm.cli.options import Function, LarmGroup, config_options, directory_option, effective, existing, key_and_value
from larm.cli.terminal import Call, say, shown, with_call
from larm.errors import UsageError, needing
from larm.kit.disk.disk_failure import disk_failures

if TYPE_CHECKING:
    from larm.engine.figures.snapshot import AgentLine
    from larm.ops.cluster_operator import ClusterOperator
    from larm.ops.control.requests import Request

Answer = TypeVar("Answer")

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group("cluster", cls=LarmGroup)
def cluster() -> None:
    """One crawl by several agents: status, commands, certificates.

    `larm crawl --cluster NAME` runs an agent.
    """


def _place_options(command: Function) -> Function:
    """Options that say which cluster: the directory of an agent, or the name and etcd."""
    url = "Where etcd answers, also without an agent here. May be repeated."
    command = click.option("--etcd", multiple=True, metavar="URL", help=url)(command)
    command = click.option("--cluster", "name", default="", metavar="NAME", help="Its name; default: that of the directory.")(
        command
    )
    return config_options(directory_option(command))


class _Directory(TypedDict):
    """The values of the options that each of them has."""

    directory: Path
    file: Path | None
    overrides: tuple[str, ...]


class _Place(_Directory):
    """The values of these options."""

    name: str
    etcd: tuple[str, ...]


def _operator(place: _Place) -> ClusterOperator:
    """Raises UsageError."""
    with needing("cluster"):
        from larm.ops.cluster_operator import ClusterOperator

    directory = existing(place["directory"])
    for url in place["etcd"]:
        if not re.fullmatch("https?://[^/]+:[0-9]+/?", url):
            raise UsageError(f"--etcd {url}: expected an address such as http://HOST:2379")
    config = effective(directory, place["file"], place["overrides"])
    return ClusterOperator(config, directory, place["name"], place["etcd"])


def _asked(place: _Place, request: Request[Answer]) -> Answer | None:
    """Return the answer of the agent that runs in the directory; None: there is none, or etcd is named."""
    from larm.ops.control.client import Control, NotRunning

    if place["etcd"] or place["name"]:
        return None
    try:
        with Control(existing(place["directory"])) as control:
            return control.ask(request)
    except NotRunning:
        from larm.cluster.files import IDENTITY
        from larm.config import CONFIG_FILE
        from larm.crawldir.state import QUEUES

        if not any((place["directory"] / file).exists() for file in (CONFIG_FILE, f"{QUEUES}/{IDENTITY}")):
            raise
        return None


@cluster.command()
@click.option("--host", default="", metavar="HOST", help="Also say which agent has this host.")
@_place_options
@with_call
def status(call: Call, *, host: str, **place: Unpack[_Place]) -> None:
    """Show the agents and their progress, as the agent of the directory or etcd knows them, also after the end of the crawl."""
    from larm.ops.control.requests import Agents

    table = _asked(place, Agents(host)) or _operator(place).table(host)
    view = f", view {table.epoch}" if table.epoch else ""
    run = f", {table.run}" if table.run not in {"", "running"} else ""
    click.echo(f"cluster {table.cluster}{view}{run}")
    for key, value in table.changes.items():
        click.echo(shown(f"{key} is {value} for all agents"))
    for agent in table.agents:
        click.echo(_line(agent, me=agent.name == table.me))
        if call.verbose and (work := [f"{thread} {count:,}" for thread, count in sorted(agent.work.items()) if count]):
            click.echo(f"   fetches: {', '.join(work)}")
    if table.totals is not None:
        from larm.ops.outcome import cluster_line

        click.echo(cluster_line(table.totals))
        if table.totals.holds:
            click.echo(f"this agent waits: {table.totals.holds}")
    if host:
        click.echo(f"{host} belongs to {table.owner or 'no agent yet'}")
    if call.verbose:
        click.echo("\n".join(_operator(place).details()))


def _line(agent: AgentLine, *, me: bool) -> str:
    heard = " (this one)" if me else f", heard {agent.silent:.0f} s ago" if agent.silent >= 0 else ""
    pages = f", {agent.pages:,} pages, {agent.queued:,} URLs to go" if agent.pages or agent.queued else ""
    pages += f" ({agent.age:.0f} s ago)" if pages and agent.age >= 1 and not me else ""
    waits = f", {agent.waits:,} URLs for it wait here" if agent.waits else ""
    address = agent.address or "address not known"
    return f"{agent.name}  {address}  weight {agent.weight:g}, {agent.state}{heard}{pages}{waits}"


@cluster.command()
@_place_options
def pause(**place: Unpack[_Place]) -> None:
    """Have all agents pause, until 'larm cluster resume'. Requests in flight end."""
    _order("pause", place)


@cluster.command()
@_place_options
def resume(**place: Unpack[_Place]) -> None:
    """Have all agents go on after a pause."""
    _order("resume", place)


@cluster.command()
@_place_options
def stop(**place: Unpack[_Place]) -> None:
    """End all agents in good order, as Ctrl-C does with one; the same commands go on."""
    _order("stop", place)


@cluster.command("set")
@click.argument("setting", metavar="KEY=VALUE")
@_place_options
def set_(setting: str, **place: Unpack[_Place]) -> None:
    """Change a setting for all agents of this run, such as frontier.delay=2s; a wrong one says which can be changed."""
    from larm.ops.control.requests import All

    key, value = key_and_value(setting)
    done = _asked(place, All("set", key, value))
    say(done.says if done is not None else _operator(place).change(key, value))


def _order(what: Literal["pause", "resume", "stop"], place: _Place) -> None:
    from larm.ops.control.requests import All

    done = _asked(place, All(what))
    say(done.says if done is not None else _operator(place).order(what))


@cluster.command()
@click.argument("agent", metavar="NAME")
@_place_options
def remove(agent: str, **place: Unpack[_Place]) -> None:
    """Remove the agent NAME, which will not come back, without waiting for its silence. Refuses if it is running."""
    say(_operator(place).remove(agent))


@cluster.command()
@click.option("--again", is_flag=True, help="Required: say that etcd was restored, or has lost its data.")
@_place_options
def found(*, again: bool, **place: Unpack[_Place]) -> None:
    """Found the cluster again from the directory of an agent, where etcd was restored from a backup or has lost its data."""
    if not again:
        raise UsageError("an agent founds its cluster by itself; where etcd has lost it: 'larm cluster found --again'")
    say(_operator(place).found_again())


@cluster.command("etcd")
@click.option("--alone", is_flag=True, help="Required: say that the other members are gone for good.")
@directory_option
@config_options
def alone(*, alone: bool, **place: Unpack[_Directory]) -> None:
    """Make the member of etcd in the directory the only one, where the others are gone for good. The agent must not run."""
    if not alone:
        raise UsageError(
            "--etcd run runs a member beside an agent; where all others are gone for good: 'larm cluster etcd --alone'"
        )
    say(_operator({"name": "", "etcd": (), **place}).alone())


@cluster.command()
@directory_option
def leave(*, directory: Path) -> None:
    """Have the agent that runs in the directory hand its hosts over to the others, and end. Its pages stay where they are."""
    from larm.ops.control.client import Control
    from larm.ops.control.requests import Leave

    with Control(existing(directory)) as control:
        say(control.ask(Leave()).says)


@cluster.command()
@click.argument("folder", type=_FOLDER)
def ca(*, folder: Path) -> None:
    """Make a certificate authority for a cluster in FOLDER: ca.pem, which all agents need, and ca.key, which none may have."""
    with needing("cluster"):
        from larm.cluster.certificates import make_authority

    say(f"{make_authority(folder, _now())}: give it to all agents, as cluster.ca; keep {folder}/ca.key to yourself")


@cluster.command()
@click.argument("folder", type=_FOLDER)
@click.argument("name")
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="Under which others reach it. May be repeated.")
def issue(*, folder: Path, name: str, hosts: tuple[str, ...]) -> None:
    """Make a certificate for the agent NAME with the authority in FOLDER: NAME.pem and NAME.key."""
    with needing("cluster"):
        from larm.cluster.certificates import issue as make

    say(f"{make(folder, _certificate(name), hosts, _now())}: cluster.certificate is [{name}.pem, {name}.key]")


@cluster.command()
@click.argument("folder", type=_FOLDER)
@click.argument("name")
def revoke(*, folder: Path, name: str) -> None:
    """Revoke the certificate NAME of the authority in FOLDER, and delete it. crl.pem lists it: agents need it beside ca.pem."""
    with needing("cluster"):
        from larm.cluster.certificates import revoke as note

    where = note(folder, _certificate(name), _now())
    for file in (folder / f"{name}.pem", folder / f"{name}.key"):
        with disk_failures(file):
            file.unlink(missing_ok=True)  # so that another one can be issued for this name
    say(f"{where}: copy it beside ca.pem on all machines; then the certificate {name} is refused within a minute")


def _certificate(name: str) -> str:
    """Return the name of a certificate. Raises UsageError for any other text."""
    if Path(name).name != name or name.startswith(".") or name == "ca":
        raise UsageError(f"{name}: a certificate's name is that of its files, and not ca")
    return name


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
