"""URL parsing, resolving and normalising against public suites; each score is printed (``pytest -s``) and holds a bar."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from larm.model.link_memo import LinkMemo
from larm.model.url import BadUrl, Url, URLNormalizer
from larm.testing.fakes import normalised
from tests.conformance.url_policies import CRAWLER_COMMONS, POLICIES, W3LIB_NO_COUNTERPART, Policy
from tests.parse.pages import document
from tests.shared_data import shared

NORMALIZER = URLNormalizer()
SCHEMELESS = re.compile(r"(?![a-z][a-z0-9+.-]*:)", re.IGNORECASE)


def report(suite: str, right: int, of: int) -> None:
    print(f"\n{suite}: {right} of {of} ({right / of:.2%})")


def access_or_none(text: str, base: str | None = None) -> str | None:
    try:
        return (NORMALIZER.parse(text) if base is None else NORMALIZER.join(base, text)).access
    except BadUrl:
        return None


def json_file(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def whatwg_access(case: dict[str, Any]) -> str | None:
    """The expected href without fragment and credentials, which larm drops; None where it must refuse."""
    if case.get("failure") or case["protocol"] not in ("http:", "https:"):
        return None
    question = "?" if case["href"].partition("#")[0].endswith("?") else ""
    return f"{case['protocol']}//{case['host']}{case['pathname']}{case['search'] or question}"


def test_whatwg() -> None:
    """url-whatwg: every case, other schemes refused. Left out: schemeless text without a base, which larm reads as http."""
    cases = [case for case in json_file(shared("url-whatwg", "given", "urltestdata.given.json")) if isinstance(case, dict)]
    cases = [case for case in cases if case["base"] is not None or not SCHEMELESS.match(case["input"])]
    wrong = [
        (case["input"], case["base"], got, whatwg_access(case))
        for case in cases
        if (got := access_or_none(case["input"], case["base"])) != whatwg_access(case)
    ]
    report("url-whatwg, all", len(cases) - len(wrong), len(cases))
    http = [case for case in cases if whatwg_access(case)]
    report("url-whatwg, http(s)", len(http) - sum(want is not None for *_, want in wrong), len(http))
    assert wrong == []
    assert len(http) >= 120
    assert len(cases) >= 420


def test_real_links() -> None:
    """links-real: each href resolved against its page through a memo shared by all pages, as in a crawl."""
    rows = [
        json.loads(line) for line in shared("links-real", "given", "resolve.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    memo = LinkMemo(NORMALIZER, size=2_000)
    wrong = []
    for row in rows:
        expected = row["expected"]
        wanted = expected.partition("#")[0] if expected and expected.startswith(("http:", "https:")) else None
        if row["href"].strip().partition("#")[0] == "":
            wanted = None  # LARM-102: a fragment is no link
        try:
            url = memo.at(row["base"]).resolve(row["href"])
        except BadUrl:
            url = None
        if (url and url.access) != wanted:
            wrong.append((row, url))
    report("links-real, resolve", len(rows) - len(wrong), len(rows))
    assert len(wrong) <= 0.005 * len(rows), wrong[:5]


def iipc_texts() -> set[str]:
    texts = set(json_file(shared("url-iipc", "given", "idempotence.json")))
    texts |= set(json_file(shared("url-iipc", "given", "parsing.json")))
    for pairs in json_file(shared("url-iipc", "given", "surt.json")).values():
        texts |= {*pairs, *pairs.values()}
    texts |= {f"http://{host}/" for host in json_file(shared("url-iipc", "given", "funky_ipv4.json"))}
    return {text for text in texts if isinstance(text, str)}


@pytest.mark.parametrize("lowercase_path", [False, True])
def test_iipc_is_normalised_idempotently(lowercase_path: bool) -> None:
    normalizer = URLNormalizer(lowercase_path=lowercase_path)
    texts = iipc_texts()
    wrong = [text for text in texts if normalised(normalizer, once := normalised(normalizer, text)) != once]
    report("url-iipc, idempotent", len(texts) - len(wrong), len(texts))
    assert wrong == []
    assert len(texts) > 300


def test_iipc_ipv4_spellings() -> None:
    hosts = json_file(shared("url-iipc", "given", "funky_ipv4.json"))
    wrong = {
        host: access
        for host, wanted in hosts.items()
        if (access := access_or_none(f"http://{host}/")) != (wanted and f"http://{wanted}/")
    }
    report("url-iipc, IPv4", len(hosts) - len(wrong), len(hosts))
    assert wrong == {"0000xa": "http://0000xa/"}  # refused by the standard's older text; today it doesn't end in a number


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.what)
def test_policies(policy: Policy) -> None:
    """Two spellings are one address exactly where the table says so."""
    one, other = (NORMALIZER.parse(text).normalised for text in (policy.one, policy.other))
    assert (one == other) is policy.shared
    assert policy.shared or policy.why


def test_policies_are_in_the_manual() -> None:
    manual = " ".join((Path(__file__).parents[2] / "docs" / "crawling.rst").read_text(encoding="utf-8").split())
    assert [policy.what for policy in POLICIES if policy.what.partition(" (")[0] not in manual] == []


def test_crawlercommons_agrees_but_for_declared_policies() -> None:
    path = shared("url-crawlercommons", "given", "weirdToNormalizedUrls.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if row and not row[0].startswith("#")]
    differ = set()
    for weird, normal, *_ in rows:
        try:
            agree = NORMALIZER.parse(weird).normalised == NORMALIZER.parse(normal).normalised
        except BadUrl:
            agree = False
        if not agree:
            differ.add(weird)
    report("url-crawlercommons", len(rows) - len(differ), len(rows))
    assert differ == set(CRAWLER_COMMONS)


def test_crawlercommons_invalid() -> None:
    lines = shared("url-crawlercommons", "given", "invalidUrls.csv").read_text(encoding="utf-8").splitlines()
    urls = [line for line in lines if line and not line.startswith("#")]
    assert [access_or_none(url) for url in urls] == [None] * len(urls)
    assert urls


def test_w3lib_safe_urls() -> None:
    """url-w3lib: the calls that make a URL safe to send. Both sides in access form: w3lib keeps credentials, fragment, port 80
    and non-ASCII hosts with an empty label, larm does not. Other schemes and paths alone are no URL to larm, whatever w3lib
    makes of them. Calls with another encoding than UTF-8, and helpers for parameters, have no counterpart."""
    path = shared("url-w3lib", "given", "w3lib-calls.jsonl")
    calls = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    calls = [call for call in calls if call["func"] in ("safe_url_string", "safe_download_url", "any_to_uri")]
    calls = [call for call in calls if isinstance(call["args"][0], str) and len(call["args"]) == 1 and not call["kwargs"]]
    web = [call for call in calls if call["args"][0].startswith("http")]
    wrong = [
        call["line"]
        for call in web
        if (got := access_or_none(call["args"][0])) is None or got != access_or_none(call["expected"])
    ]
    report("url-w3lib, http", len(web) - len(wrong), len(web))
    assert wrong == []
    assert len(web) >= 30
    others = [call["args"][0] for call in calls if call not in web]
    assert [text for text in others if access_or_none(text)] == ["©"]  # typed alone, it is a host name


def test_w3lib_base_urls() -> None:
    """url-w3lib: where a link leads tells the base. Every other function has a counterpart, or a reason for none."""
    calls = []
    for name in ("w3lib-calls.jsonl", "w3lib-html-calls.jsonl"):
        calls += map(json.loads, shared("url-w3lib", "given", name).read_text(encoding="utf-8").splitlines())
    tested = {"safe_url_string", "safe_download_url", "any_to_uri", "get_base_url"}
    assert {call["func"] for call in calls} <= tested | set(W3LIB_NO_COUNTERPART)
    bases = [call for call in calls if call["func"] == "get_base_url" and isinstance(call["args"][0], str)]
    for call in bases:
        page = call["args"][1] if len(call["args"]) > 1 else "http://a.localhost/"
        link = document(call["args"][0] + "--><a href=x>", url=page).links[-1]
        assert link.url.access == NORMALIZER.join(call["expected"] or page, "x").access, call
    report("url-w3lib, base", len(bases), len(bases))


def test_real_hosts_are_their_own_key() -> None:
    """hosts-real: 10,000 names, as http URLs, normalise to themselves."""
    names = shared("hosts-real", "given", "opendns-top-domains.txt").read_text(encoding="utf-8").split()
    urls: list[Url] = [NORMALIZER.parse(name) for name in names]
    assert [url.host for url in urls] == names
    assert all(normalised(NORMALIZER, url.normalised) == url.normalised == f"http://{url.host}/" for url in urls)
