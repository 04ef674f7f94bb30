"""RemoteSearcher: the indexes of another machine's ``larm serve``. Implements `larm.seams.Searcher`. Any thread.

For machines that the user names by their addresses and trusts: it asks their API, with a token where they want one, and their
scores are taken as ours. Strangers are asked by `larm.peers.channel`.
"""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from larm.errors import UsageError
from larm.fetch.http_client import HttpClient, NoAnswer, is_address
from larm.kit.decoding import decoded
from larm.model.findings import MOST_HITS, Asked, Findings, WordStatistics
from larm.peers.strangers import findings_of

STATISTICS = "/api/v1/statistics"
FINDINGS = "/api/v1/findings"
_SECONDS = 5.0
"""Where the question has no deadline: the other machine stops a search after as long."""
_LARGEST = 10_000
"""Bytes of a hit, and of all that is not a hit: an answer may have as many as were asked for."""
A = TypeVar("A")


class _Problem(msgspec.Struct, frozen=True):
    title: str = ""
    detail: str = ""


class RemoteSearcher:
    """Constant after construction."""

    def __init__(self, url: str, http: HttpClient, token: str = "") -> None:
        """``url``: ``http://192.0.2.7:7070``. Raises UsageError."""
        url = url.rstrip("/")
        if not is_address(url):
            raise UsageError(f"{url}: expected the address of a larm serve, such as http://192.0.2.7:7070")
        self.name = url.partition("://")[2]
        self._url = url
        self._http = http
        self._headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})

    def statistics(self, asked: Asked) -> WordStatistics | None:
        """None where it does not answer; `search` then says why."""
        answer = self._ask(STATISTICS, asked, WordStatistics, _LARGEST + 100 * len(asked.query))
        return None if isinstance(answer, NoAnswer) else answer

    def search(self, asked: Asked) -> Iterator[Findings]:
        """One part."""
        most = min(max(1, asked.number), MOST_HITS)
        answer = self._ask(FINDINGS, asked, Findings, _LARGEST * (most + 10))
        if isinstance(answer, NoAnswer):
            yield Findings(searcher=self.name, exact=False, failure=answer.reason)
        else:
            yield findings_of(self.name, answer, most, trusted=True, base=self._url)

    def _ask(self, path: str, asked: Asked, answers: type[A], largest: int) -> A | NoAnswer:
        seconds = _SECONDS if asked.seconds is None else asked.seconds
        body = msgspec.json.encode(msgspec.structs.replace(asked, seconds=seconds))
        came = self._http.ask("POST", self._url + path, self._headers, body, seconds=seconds, most=largest)
        if isinstance(came, NoAnswer):
            return came
        try:
            if came.status != 200:
                problem = decoded(came.body, _Problem)
                return NoAnswer(f"{problem.title[:200] or came.status}{f': {problem.detail[:300]}' if problem.detail else ''}")
            return decoded(came.body, answers)
        except msgspec.MsgspecError:
            return NoAnswer(f"what answers there with {came.status} is no larm serve, or one of another version")

    def __repr__(self) -> str:
        return f"<RemoteSearcher {self.name}>"
