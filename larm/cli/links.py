"""``larm links``: links that are broken, redirected or lead outside, for people, tables and CI."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from larm.cli.options import LarmCommand, with_config
from larm.cli.terminal import say, write
from larm.config import Config
from larm.kit.counted import counted

if TYPE_CHECKING:
    from larm.ops.link_check import Checked, Finding, Kind

_COLUMNS = ("kind", "status", "url", "why", "text", "page")


@click.command(cls=LarmCommand)
@click.option("--broken", is_flag=True, help="Links to pages that are not there, and to places (#part) that are not in a page.")
@click.option("--redirected", is_flag=True, help="Links to addresses that lead elsewhere.")
@click.option("--external", is_flag=True, help="Links that lead out of the crawl; these were not fetched.")
@click.option("--no-fragments", is_flag=True, help="Do not look for places in pages: half the time.")
@click.option("--format", "form", type=click.Choice(["text", "jsonl", "csv"]), default="text", help="Default: text.")
@with_config
def links(
    *,
    broken: bool,
    redirected: bool,
    external: bool,
    no_fragments: bool,
    form: str,
    config: Config,
    directory: Path,
) -> int:
    """Which links are broken, redirected, or lead outside.

    With all pages that have them. Exit status 1 if there are any of what was asked for; without an option: if any is
    broken. Nothing is fetched.
    """
    from larm.ops.link_check import Kind, LinkCheck

    chosen = {Kind.BROKEN: broken, Kind.REDIRECTED: redirected, Kind.EXTERNAL: external}
    asked = frozenset(kind for kind, wanted in chosen.items() if wanted) or frozenset(Kind)
    check = LinkCheck(config, directory, asked, places=not no_fragments)
    checked = check.run()
    _write(checked.findings, form)
    say(_about(checked, asked))
    check.left_out.refuse()
    failing = asked if any(chosen.values()) else {Kind.BROKEN}
    return int(any(each.kind in failing for each in checked.findings))


def _write(findings: Sequence[Finding], form: str) -> None:
    from larm.kit.printable import cell, escaped

    if form == "jsonl":
        for each in findings:
            click.echo(escaped(msgspec.json.encode(each).decode()))
    elif form == "csv":
        from larm.ops.link_check import rows_of

        text = io.StringIO()
        table = csv.DictWriter(text, _COLUMNS)
        table.writeheader()
        table.writerows({name: cell(str(value)) for name, value in row.items()} for row in rows_of(list(findings)))
        write(text.getvalue())
    else:
        for each in findings:
            for line in _lines(each):
                click.echo(line)


def _lines(finding: Finding) -> Iterator[str]:
    from larm.kit.printable import printable

    yield f"{finding.kind.value} {printable(finding.url)}"
    if finding.why:
        where = f"{finding.status} -> {finding.why}" if finding.kind.value == "redirected" else finding.why
        yield f"    {printable(where)}"
    for link in finding.links:
        text = f"  {printable(link.text)!r}" if link.text else ""
        yield f"    on {printable(link.page)}{text}"
    yield ""


def _about(checked: Checked, asked: Collection[Kind]) -> str:
    counts = [(kind, sum(each.kind is kind for each in checked.findings)) for kind in sorted(asked)]
    found = ", ".join(f"{count:,} {kind.value}" for kind, count in counts if count) or f"none is {' or '.join(sorted(asked))}"
    verbs = ("was", "is") if checked.unchecked == 1 else ("were", "are")
    rest = f"; {checked.unchecked:,} {verbs[0]} not followed and {verbs[1]} not checked" if checked.unchecked else ""
    return f"{counted(checked.links, 'link')} looked at: {found}{rest}"
