"""Answers of HTTP servers, right and wrong, from the suites of curl and llhttp, played as raw bytes.

Nothing may hang; what is broken must not become a page; what is good must arrive whole.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from larm.config import Fetch, Robots
from larm.kit.clock import SystemClock
from larm.kit.units import Seconds
from larm.model.outcome import Failed, Fetched, Outcome
from tests.fetching.driving import lease, make_fetcher
from tests.fetching.raw_server import RawServer
from tests.shared_data import shared

# curl's errors that an answer alone can cause; its others come from options that larm has no use for
FROM_THE_ANSWER = {1, 8, 16, 18, 52, 56, 61}
# pages for curl, not for us: transfer encodings nobody asked for, a half answer to PUT, ICY, a download in two halves;
# and two gzip members, of which libcurl takes one
NO_PAGES = {1125, 1170, 1171, 1591, 3025, 3035, 2305}
TIMEOUT = 3.0


def play(answers: Mapping[str, bytes]) -> dict[str, Outcome]:
    """The outcome of each answer, by name. The server closes after it, so that nobody waits for an end that is missing."""
    clock = SystemClock()
    with RawServer(lambda request: answers[request.split(b" ")[1].decode().removeprefix("/")]) as server:
        fetcher = make_fetcher(Fetch(timeout=Seconds(TIMEOUT)), Robots())
        waiting = list(answers)
        outcomes: dict[str, Outcome] = {}
        deadline = clock.monotonic() + 30.0
        try:
            while waiting or fetcher.in_flight:
                assert clock.monotonic() < deadline
                while waiting and fetcher.in_flight < 16:
                    fetcher.start(lease(server.url("/" + waiting.pop())))
                for one, outcome in fetcher.wait(1.0):
                    outcomes[one.message.url.access.rpartition("/")[2]] = outcome
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
    compared = broken = 0
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
            elif case["id"] not in NO_PAGES and b"zstd" not in head:
                assert isinstance(outcome, Fetched), f"{name}: {outcome}"
                expected = decoded(head, body)
                if expected is not None:
                    assert outcome.body == expected, name
                    compared += 1
    assert compared > 200
    assert broken > 20


def reply(case: dict[str, Any], key: str) -> bytes:
    raw = base64.b64decode(case["replies"][key])
    return raw.replace(b"%TESTNUMBER", str(case["id"]).encode())


def split(raw: bytes) -> tuple[bytes, bytes]:
    """Head and body of the final answer."""
    head, body = [*re.split(rb"\r?\n\r?\n", raw, maxsplit=1), b""][:2]
    return split(body) if re.match(rb"HTTP/\S+ 1", head) and body.startswith(b"HTTP/") else (head, body)


def decoded(head: bytes, body: bytes) -> bytes | None:
    """The body without its framing and encoding, by other means than libcurl's; None: it takes more than a few lines."""
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
    coding = fields.get(b"content-encoding", b"identity").lower()
    if coding in (b"gzip", b"x-gzip"):
        return zlib.decompressobj(47).decompress(body)
    if coding == b"deflate":
        try:
            return zlib.decompress(body)
        except zlib.error:
            return zlib.decompress(body, -15)
    return body if coding in (b"identity", b"none") else None


def test_llhttp_responses() -> None:
    blocks = {}
    for file in sorted(shared("http-llhttp", "given").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        for number, (raw, log) in enumerate(re.findall(r"```http\n(.*?)```\s*```log\n(.*?)```", text, re.DOTALL)):
            blocks[f"{file.stem}-{number}"] = (unescaped(raw), log)
    assert len(blocks) >= 60
    outcomes = play({name: raw for name, (raw, _) in blocks.items()})
    compared = 0
    for name, (_, log) in blocks.items():
        outcome = outcomes[name]
        if "error code" in log or log.count("message begin") != 1 or not isinstance(outcome, Fetched):
            continue  # the suite is for a parser that may be strict; libcurl decides what it takes, and says so
        spans = re.findall(r'span\[body\]=(?:"(.*)"|(cr|lf))', log)
        assert outcome.body == "".join(text or {"cr": "\r", "lf": "\n"}[end] for text, end in spans).encode(), name
        compared += 1
    assert compared >= 25
    for name in ("sample-3", "sample-16", "transfer-encoding-1", "content-length-2", "connection-9"):
        assert isinstance(outcomes[name], Failed), name


def unescaped(block: str) -> bytes:
    """The bytes that a block of the suite stands for."""
    text = re.sub(r"\\\n", "", block.removesuffix("\n")).replace("\n", "\r\n")
    text = re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), text)
    for escape, char in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(escape, char)
    return text.encode("latin-1")
