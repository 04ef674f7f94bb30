"""Answers of HTTP servers, right and wrong, from the suites of curl and llhttp, played as raw bytes.

Nothing may hang; what is broken must not become a page; what is good must arrive whole.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from collections.abc import Mapping
from typing import Any

import brotli

from larm.config import FetchSettings, RobotsSettings
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, Fetched, Outcome
from tests.conformance.http_differences import CURL_NO_PAGE, LLHTTP_FAILURES
from tests.fetch.driving import lease, make_fetcher
from tests.fetch.raw_server import RawServer
from tests.shared_data import shared

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

# curl's errors that an answer alone can cause; its others come from options that larm has no use for
FROM_THE_ANSWER = {1, 8, 16, 18, 52, 56, 61}
TIMEOUT = 3.0


def play(answers: Mapping[str, bytes]) -> dict[str, Outcome]:
    """The outcome of each answer, by name. The server closes after it, so that nobody waits for an end that is missing."""
    clock = SystemClock()
    with RawServer(lambda request: answers[request.split(b" ")[1].decode().removeprefix("/")]) as server:
        fetcher = make_fetcher(FetchSettings(timeout=Seconds(TIMEOUT)), RobotsSettings())
        waiting = list(answers)
        outcomes: dict[str, Outcome] = {}
        deadline = clock.monotonic() + 30.0
        try:
            while waiting or fetcher.in_flight:
                assert clock.monotonic() < deadline
                while waiting and fetcher.in_flight < 16:
                    fetcher.start(lease(server.url("/" + waiting.pop())))
                for one, outcome in fetcher.wait(1.0):
                    name = one.message.url.access.rpartition("/")[2]
                    if isinstance(outcome, Failed) and outcome.detail.startswith("Connection died"):
                        waiting.append(name)  # five connections in a row that the server had just closed, unannounced
                    else:
                        outcomes[name] = outcome
        finally:
            fetcher.close()
    for name, outcome in outcomes.items():
        assert outcome.timing.seconds < TIMEOUT, f"{name} hangs: {outcome}"
        if isinstance(outcome, Failed):
            assert outcome.detail.isprintable(), name
    assert outcomes.keys() == answers.keys()
    return outcomes


def test_curl_replies() -> None:
    lines = shared("http-curl-replies", "given", "replies.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    outcomes = play({f"{case['id']}-{key}": reply(case, key) for case in cases for key in case["replies"]})
    pages = others = broken = 0
    for case in cases:
        ended = {key: outcomes[f"{case['id']}-{key}"] for key in case["replies"]}
        name = f"{case['id']} {case['name']}"
        if int(case["errorcode"]) in FROM_THE_ANSWER:
            assert any(isinstance(outcome, Failed) for outcome in ended.values()), name
            broken += 1
            continue
        for key, outcome in ended.items():
            head, body = split(reply(case, key))
            status = head.split()[1:2]
            if not re.fullmatch(rb"2\d\d", b"".join(status)) or status == [b"204"]:
                assert not isinstance(outcome, Fetched), name
                others += 1
            elif case["id"] not in CURL_NO_PAGE:
                assert isinstance(outcome, Fetched), f"{name}: {outcome}"
                assert outcome.body == decoded(head, body), name
                assert not outcome.flaw, name
                pages += 1
    print(f"curl: {len(cases)} cases: {pages} pages whole, {others} answers that are none, {broken} cases broken and said so")
    assert pages >= 0.3 * len(cases)
    assert broken >= 20


def reply(case: dict[str, Any], key: str) -> bytes:
    raw = base64.b64decode(case["replies"][key])
    return raw.replace(b"%TESTNUMBER", str(case["id"]).encode())


def split(raw: bytes) -> tuple[bytes, bytes]:
    """Head and body of the final answer."""
    head, body = [*re.split(rb"\r?\n\r?\n", raw, maxsplit=1), b""][:2]
    return split(body) if re.match(rb"HTTP/\S+ 1", head) and body.startswith(b"HTTP/") else (head, body)


def decoded(head: bytes, body: bytes) -> bytes:
    """The body without its framing and encodings, by other means than larm's."""
    fields = {name.lower(): value for name, value in re.findall(rb"(?m)^([\w-]+): *([^\r\n]*?) *\r?$", head)}
    if b"transfer-encoding" in fields:
        chunks, rest = [], body
        while size := int(re.match(rb"[0-9a-fA-F]*", rest)[0] or b"0", 16):  # type: ignore[index]
            rest = rest.partition(b"\n")[2]
            chunks.append(rest[:size])
            rest = rest[size:].lstrip(b"\r\n")
        body = b"".join(chunks)
    elif b"content-length" in fields:
        body = body[: int(fields[b"content-length"].split(b",")[0])]
    codings = b",".join(fields.get(name, b"") for name in (b"content-encoding", b"transfer-encoding")).lower()
    for coding in reversed(codings.replace(b" ", b"").split(b",")):
        body = unpacked(coding, body)
    return body


def unpacked(coding: bytes, body: bytes) -> bytes:
    match coding:
        case b"gzip" | b"x-gzip":
            first = zlib.decompressobj(47)
            page = first.decompress(body)
            return page + unpacked(coding, first.unused_data) if first.unused_data[:2] == b"\x1f\x8b" else page
        case b"deflate":
            try:
                return zlib.decompress(body)
            except zlib.error:
                return zlib.decompress(body, -15)
        case b"br":
            return brotli.decompress(body)
        case b"zstd":
            return zstd.decompress(body)
    return body


def test_llhttp_responses() -> None:
    blocks = {}
    for file in sorted(shared("http-llhttp", "given").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        for number, (raw, log) in enumerate(re.findall(r"```http\n(.*?)```\s*```log\n(.*?)```", text, re.DOTALL)):
            blocks[f"{file.stem}-{number}"] = (unescaped(raw), log)
    assert len(blocks) >= 60
    outcomes = play({name: raw for name, (raw, _) in blocks.items()})
    compared = lenient = failures = 0
    for name, (_, log) in blocks.items():
        outcome = outcomes[name]
        failures += isinstance(outcome, Failed)
        if not isinstance(outcome, Fetched):
            continue
        if "error code" in log or log.count("message begin") != 1:
            lenient += "error code" in log
            continue
        spans = re.findall(r'span\[body\]=(?:"(.*)"|(cr|lf))', log)
        assert outcome.body == "".join(text or {"cr": "\r", "lf": "\n"}[end] for text, end in spans).encode(), name
        compared += 1
    print(
        f"llhttp: {len(blocks)} answers, none hangs: {compared} pages whole, {failures} failures, {lenient} taken all the same"
    )
    assert compared >= 25
    for name in LLHTTP_FAILURES:
        assert isinstance(outcomes[name], Failed), name


def unescaped(block: str) -> bytes:
    """The bytes that a block of the suite stands for."""
    text = re.sub(r"\\\n", "", block.removesuffix("\n")).replace("\n", "\r\n")
    text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), text)
    for escape, char in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(escape, char)
    return text.encode("latin-1")
