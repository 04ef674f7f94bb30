"""``larm cluster``: what an agent of a crawl by several knows of the others, and certificates for them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from larm.cli.options import LarmGroup, directory_option, existing
from larm.cli.terminal import say
from larm.errors import UsageError, needing

if TYPE_CHECKING:
    from larm.engine.figures.snapshot import AgentLine

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group("cluster", cls=LarmGroup)
def cluster() -> None:
    """One crawl by several agents: how it stands, certificates.

    `larm crawl --cluster NAME` runs an agent.
    """


@cluster.command()
@click.option("--host", default="", metavar="HOST", help="Also say whose this host is.")
@directory_option
def status(*, host: str, directory: Path) -> None:
    """Show the agents, as the one that runs in the directory sees them, and what waits for each."""
    from larm.ops.control.client import Control
    from larm.ops.control.requests import Agents

    with Control(existing(directory)) as control:
        table = control.ask(Agents(host))
    click.echo(f"cluster {table.cluster}, view {table.epoch}")
    for agent in table.agents:
        click.echo(_line(agent, me=agent.name == table.me))
    if table.totals is not None:
        from larm.ops.outcome import cluster_line

        click.echo(cluster_line(table.totals))
        if table.totals.holds:
            click.echo(f"this agent waits: {table.totals.holds}")
    if host:
        click.echo(f"{host} belongs to {table.owner or 'nobody yet'}")


def _line(agent: AgentLine, *, me: bool) -> str:
    heard = " (this one)" if me else f", heard {agent.silent:.0f} s ago" if agent.silent >= 0 else ", never heard"
    pages = f", {agent.pages:,} pages, {agent.queued:,} URLs to go" if agent.pages or agent.queued else ""
    waits = f", {agent.waits:,} URLs for it wait here" if agent.waits else ""
    address = agent.address or "address not known"
    return f"{agent.name}  {address}  weight {agent.weight:g}, {agent.state}{heard}{pages}{waits}"


@cluster.command()
@directory_option
def pause(*, directory: Path) -> None:
    """Have all agents ask for nothing more, until 'larm cluster resume'; what is in the air lands."""
    _all(directory, "pause")


@cluster.command()
@directory_option
def resume(*, directory: Path) -> None:
    """Have all agents go on after a pause."""
    _all(directory, "resume")


@cluster.command()
@directory_option
def stop(*, directory: Path) -> None:
    """End all agents in good order, as Ctrl-C does with one; the same commands go on."""
    _all(directory, "stop")


def _all(directory: Path, what: Literal["pause", "resume", "stop"]) -> None:
    from larm.ops.control.client import Control
    from larm.ops.control.requests import All

    with Control(existing(directory)) as control:
        say(control.ask(All(what)).says)


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

    if Path(name).name != name or name.startswith(".") or name == "ca":
        raise UsageError(f"{name}: a certificate's name is that of its files, and not ca")
    say(f"{make(folder, name, hosts, _now())}: cluster.certificate is [{name}.pem, {name}.key]")


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
