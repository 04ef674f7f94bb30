"""larm's robots.txt rules against the public suites. Differences are argued in `robots_differences`."""

from __future__ import annotations

import base64
import json
import re
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import pytest

from larm.frontier.robots.rules import RobotsRules
from tests.conformance import robots_differences as differences
from tests.shared_data import shared

Row = dict[str, Any]

LETTERS = str.maketrans("0123456789", "abcdefghij")
AGENT_LINE = re.compile(r"^\s*user[- ]agent\b.*$", re.IGNORECASE | re.MULTILINE)
NO_DELAY = -9223372036854775808

parse = lru_cache(maxsize=None)(RobotsRules.parse)


def rows(*parts: str) -> list[Row]:
    return [json.loads(line) for line in shared(*parts).read_bytes().splitlines()]


def path_query(url: str) -> str:
    """What is left of a URL without scheme, host and fragment, as the suites mean it: their URLs are not all valid."""
    address = url.partition("#")[0]
    scheme, mark, rest = address.partition("://")
    address = rest if mark and not re.search("[/?;]", scheme) else address.removeprefix("//")
    start = re.search("[/?;]", address)
    return address[start.start() :] if start else "/"


def body(row: Row) -> bytes:
    """robots.txt of a row. Digits in its tokens, which RFC 9309 does not allow, become letters here and in `token`."""
    if "robots_b64" in row:
        return base64.b64decode(row["robots_b64"])
    return AGENT_LINE.sub(lambda line: line[0].translate(LETTERS), row["robots"]).encode()


def token(agent: str) -> str:
    """The product token in a user agent, or, of three names with commas (the suite's way to say so), the one in the middle."""
    names = agent.split(",")
    return names[len(names) // 2].partition("/")[0].translate(LETTERS)


def misses(cases: list[Row], name: Callable[[str], str]) -> Iterator[tuple[str, str, str]]:
    for row in cases:
        if parse(body(row), name(row["agent"])).allows(path_query(row["url"])) != row["allowed"]:
            yield row["test"], row["agent"], row["url"]


def assert_argued(cases: list[Row], argued: Mapping[tuple[str, str, str], str], name: Callable[[str], str] = token) -> None:
    found = set(misses(cases, name))
    print(f"robots ({cases[0]['test']} ...): {len(cases) - len(found)} of {len(cases)}, {len(found & set(argued))} argued")
    assert found - set(argued) == set(), "decided otherwise, without a reason in robots_differences"
    present = {(row["test"], row["agent"], row["url"]) for row in cases}
    assert (set(argued) & present) - found == set(), "no difference any more: remove it from robots_differences"


@pytest.mark.parametrize("suite", ["google-robots-test", "google-spec-test-correctness"])
def test_google(suite: str) -> None:
    assert_argued(rows("robots-google", "given", f"{suite}.jsonl"), differences.GOOGLE, name=str)


def test_python_cases_parse() -> None:
    """They follow another standard (the first match wins), but larm happens to agree with all."""
    assert_argued(rows("robots-google", "given", "cpython-robotparser.jsonl"), {}, name=str)


def test_crawler_commons() -> None:
    cases = [{**row, "agent": row["agents"]} for row in rows("robots-crawlercommons", "given", "allowed.jsonl")]
    assert_argued(cases, differences.CRAWLER_COMMONS)


def test_crawler_commons_delays_and_sitemaps() -> None:
    for row in rows("robots-crawlercommons", "given", "crawldelay-sitemaps.jsonl"):
        rules = parse(body(row), token(row["agents"]))
        if row["key"] == "crawl_delay_ms":
            expected = None if int(row["value"]) == NO_DELAY else int(row["value"]) / 1000
            assert rules.crawl_delay == expected, row["test"]
        elif row["test"] not in differences.SITEMAPS:
            assert " ".join(rules.sitemaps) == row["value"], row["test"]


def test_protego() -> None:
    calls = rows("robots-protego", "given", "calls.jsonl")
    cases = [
        {**row, "url": row["args"][0], "agent": row["args"][1], "allowed": row["result"]}
        for row in calls
        if row["call"] == "can_fetch"
    ]
    assert_argued(cases, differences.PROTEGO)
    for row in calls:
        if row["call"] == "crawl_delay":
            assert parse(body(row), token(row["args"][0])).crawl_delay == row["result"]


def test_real_files() -> None:
    """At least 99.9 % of the decisions of Google's own parser on the files of real sites, where it has no choice."""
    decisions = rows("robots-real", "given", "decisions.jsonl")
    with tarfile.open(shared("robots-real", "given", "robots.tar.xz")) as archive:
        files = {
            member.name.rpartition("/")[2]: extracted.read()
            for member in archive
            if member.isfile() and (extracted := archive.extractfile(member)) is not None
        }
    clear = [row for row in decisions if row["allowed"] == row["allowed_strict"]]
    agreed = sum(
        parse(files[row["host"]], row["agent"]).allows(path_query(row["url"])) == row["allowed"]
        for row in clear
        if row["host"] in files
    )
    print(f"robots-real: {agreed} of {len(clear)} ({agreed / len(clear):.3%})")
    assert agreed / len(clear) >= 0.999


def test_hostile_files() -> None:
    """fuzz-wget: nothing escapes, and no file takes long."""
    slowest = 0.0
    count = 0
    with tarfile.open(shared("fuzz-wget", "given", "wget_robots_fuzzer.in.tar.xz")) as archive:
        for member in archive:
            if (extracted := archive.extractfile(member)) is not None:
                content = extracted.read()
                began = time.perf_counter()
                rules = RobotsRules.parse(content, "larm")
                assert rules.allows("/robots.txt")
                rules.allows("/" + content[:500].decode("latin-1"))
                slowest = max(slowest, time.perf_counter() - began)
                count += 1
    print(f"fuzz-wget: {count} robots.txt, slowest {slowest * 1000:.1f} ms")
    assert count > 100
    assert slowest < 1
