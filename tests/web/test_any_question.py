"""Whatever the API is asked, with and without a token: an answer as it is described, or a problem that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larm.web.access import Kind
from larm.web.api import ROOT, Endpoint, Problem
from larm.web.crawl_api import ENDPOINTS as CRAWL
from larm.web.search_api import ENDPOINTS as SEARCH
from tests.web.conftest import Served, Start
from tests.web.openapi_values import body, parameters

QUICK = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
ENDPOINTS = pytest.mark.parametrize("endpoint", [*SEARCH, *CRAWL], ids=lambda each: f"{each.method} {each.path}")
HARMLESS = {"/start", "/stop"}
"""Of these only such questions are asked as name no crawl that there is."""


@pytest.fixture(scope="module")
def closed(start: Start, harbour: Path) -> Served:
    """Of which nobody sees anything without the token."""
    return start(harbour, access={"require_token": True})


@pytest.fixture(scope="module")
def described(server: Served) -> dict[str, Any]:
    return dict(server.get(ROOT + "/openapi.json").json())


def ask(server: Served, endpoint: Endpoint, data: st.DataObject, described: dict[str, Any], headers: Any) -> httpx.Response:
    operation, schemas = described["paths"][ROOT + endpoint.path][endpoint.method.lower()], described["components"]["schemas"]
    path = ROOT + endpoint.path
    if endpoint.method == "GET":
        query = urlencode(data.draw(parameters(operation, schemas)), errors="surrogatepass")
        return server.client.get(f"{path}?{query}", headers=headers)
    asked = data.draw(body(operation, schemas))
    if endpoint.path in HARMLESS and isinstance(asked, dict) and asked.get("name") in {"harbour", "library"}:
        asked["name"] = "nobody"
    content = json.dumps(asked).encode()  # lone surrogates as escapes, NaN as it is
    return server.client.request(endpoint.method, path, content=content, headers=headers)


def is_problem(answer: httpx.Response) -> bool:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = msgspec.json.decode(answer.content, type=Problem)
    return problem.status == answer.status_code and bool(problem.title)


@ENDPOINTS
@given(data=st.data())
@QUICK
def test_an_answer_or_a_problem(server: Served, described: dict[str, Any], endpoint: Endpoint, data: st.DataObject) -> None:
    answer = ask(server, endpoint, data, described, server.bearer)
    if answer.status_code == 200:
        assert answer.headers["content-type"] == "application/json"
        msgspec.json.decode(answer.content, type=endpoint.answers)
    elif answer.status_code in {413, 414, 431}:
        assert answer.text, "the guard says that it is too large"
    else:
        assert 400 <= answer.status_code < 500, answer.text
        assert is_problem(answer)


@ENDPOINTS
@given(data=st.data())
@settings(QUICK, max_examples=5)
def test_without_a_token(closed: Served, described: dict[str, Any], endpoint: Endpoint, data: st.DataObject) -> None:
    """Nothing is answered, whatever is asked; also with a wrong one."""
    for headers in ({}, {"authorization": "Bearer " + "x" * 43}):
        answer = ask(closed, endpoint, data, described, headers)
        if answer.status_code not in {400, 413, 414, 431}:
            assert answer.status_code == 401
        assert "causeway" not in answer.text


@pytest.mark.parametrize("endpoint", [each for each in CRAWL if each.kind is Kind.CHANGE], ids=lambda each: each.path)
@given(data=st.data())
@QUICK
def test_what_changes_something_needs_the_token(
    server: Served, described: dict[str, Any], endpoint: Endpoint, data: st.DataObject
) -> None:
    answer = ask(server, endpoint, data, described, {})
    assert answer.status_code in {401, 413}
