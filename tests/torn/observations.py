"""What the commands of larm say of a crawl's directory: equal for two directories that have the same pages.

Times, scores, ranks and figures of the machine are replaced, and lines are counted, so that their order does not matter.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from larm import cli

Observations = dict[str, Counter[str]]
"""The number of times each line is in the response, by the question."""

_CHANGING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*Z?"
    r"|\b\d\d:\d\d[\d:.]*"
    r"|\b\d+(\.\d+)? (ms|s|seconds?|minutes?)\b"
    r'|"(rank|score|seconds|fetched|written|date)": [^,}]*'
)
_OF_HIT = ("url", "title", "mime", "language", "modified", "size", "cut")
"""What does not depend on how many removed pages the index still counts, as scores and snippets do."""
_FIGURES = re.compile(r"bytes|time|memusage|per_second|requests?[_/]")
"""Statistics that differ from run to run."""


class Said(NamedTuple):
    """How a command ended."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Both streams."""
        return self.out.decode() + self.err


def larm(*arguments: str | Path) -> Said:
    """Run a command in this process."""
    out, err = io.BytesIO(), io.BytesIO()
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(out, "utf-8", write_through=True)) as stdout,
        contextlib.redirect_stderr(io.TextIOWrapper(err, "utf-8", write_through=True)) as stderr,
    ):
        status = cli.run([str(argument) for argument in arguments])
    said = Said(status, out.getvalue(), err.getvalue().decode())
    stdout.detach()
    stderr.detach()
    return said


def observe(directory: Path, urls: Sequence[str], questions: Sequence[Sequence[str]]) -> Observations:
    """Ask everything about the pages at ``urls``. ``questions``: arguments of searches."""
    there = _Observer(directory)
    found: Observations = {}
    for question in questions:
        found[f"search {' '.join(question)}"] = Counter(there.results(question))
    for form in ("jsonl", "csv"):
        found[f"export {form}"] = there.lines("export", "--format", form)
    for url in urls:
        said = larm("cat", "--dir", directory, url)
        found[f"cat {url}"] = there.counted([f"{said.status} {hashlib.sha256(said.out).hexdigest()} {said.err}"])
    parts = larm("why", "--dir", directory, *urls).text.split("\n\n")
    for url, verdict, rows in zip_longest(urls, parts[::2], parts[1::2], fillvalue=""):
        found[f"why {url}"] = there.counted([verdict, *rows.splitlines()])
    found["links"] = there.lines("links", "--broken", "--redirected", "--external", "--format", "jsonl")
    found["stats"] = there.counted(there.stats())
    found["archive"] = there.counted(there.records())
    return found


def differences(found: Observations, right: Observations, *, but: Sequence[str] = ()) -> list[str]:
    """What is not as it should be, but for lines that have one of the words ``but``; one line each."""
    wrong = []
    for name in sorted(found.keys() | right.keys()):
        here, there = found.get(name, Counter()), right.get(name, Counter())
        for sign, lines in (("+", here - there), ("-", there - here)):
            wrong += [f"{sign} {name}: {line}" for line in lines]
    return [line for line in wrong if not any(word in line for word in but)]


class _Observer:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def counted(self, lines: Sequence[str] | Iterator[str]) -> Counter[str]:
        where = str(self._directory)
        return Counter(_CHANGING.sub("~", line.replace(where, "DIR")) for line in lines)

    def lines(self, command: str, *arguments: str) -> Counter[str]:
        said = larm(command, "--dir", self._directory, *arguments)
        return self.counted([f"status {said.status} {said.err}", *said.out.decode().splitlines()])

    def results(self, question: Sequence[str]) -> Iterator[str]:
        said = larm("search", "--dir", self._directory, "--json", "-n", "1000", *question)
        yield from self.counted([f"status {said.status} {said.err}"])
        if said.status == 0:
            page = json.loads(said.out)
            yield from (" ".join(str(hit[name]) for name in _OF_HIT) for hit in page.pop("hits"))
            for facet in page.get("facets", []):
                facet["values"].sort(key=json.dumps)
            yield from self.counted([json.dumps(page, sort_keys=True)])

    def stats(self) -> Iterator[str]:
        said = larm("stats", "--dir", self._directory, "--json")
        yield f"status {said.status} {said.err}"
        if said.status == 0:
            whole = json.loads(said.out)
            yield f"{whole['state']} {whole['finish_reason']} {whole['limited_by']}"
            yield from (f"{name} {value}" for name, value in whole["stats"].items() if not _FIGURES.search(name))
            yield from (json.dumps(note, sort_keys=True) for note in whole["said"])

    def records(self) -> Iterator[str]:
        """The records of the archive, or of one that is made of the page files."""
        folder, made = self._directory / "warc", self._directory.with_name(f"{self._directory.name}-archive")
        if not folder.exists():
            said = larm("warc", "export", "--dir", self._directory, "--output", made)
            yield f"status {said.status} {said.err}".replace(str(made), "DIR")
            folder = made
        files = sorted(folder.glob("*.warc.gz"))
        if files:
            said = larm("warc", "verify", *files)
            yield f"status {said.status} {said.err}"
            for line in larm("warc", "index", *files).out.decode().splitlines():
                row = json.loads(line.split(" ", 2)[2])
                yield " ".join(str(row.get(name)) for name in ("url", "status", "mime", "digest"))
        shutil.rmtree(made, ignore_errors=True)
