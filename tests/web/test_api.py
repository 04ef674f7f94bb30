from __future__ import annotations

from xml.etree import ElementTree

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.web.conftest import Served


def test_search(server: Served) -> None:
    answer = server.get("/api/v1/search", params={"q": "tide", "n": 1, "in": ["harbour", "library"]})
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    assert (found["query"], found["page"], len(found["hits"]), found["exact"]) == ("tide", 1, 1, True)
    assert found["hits"][0]["source"] in {"harbour", "library"}
    assert "explanation" not in found["hits"][0]
    found = server.get("/api/v1/search", params={"q": "tide", "explain": "true", "page": 2, "n": 1}).json()
    assert found["hits"][0]["rank"] == 2
    assert found["hits"][0]["explanation"]["details"]


def test_a_page(server: Served) -> None:
    url = server.get("/api/v1/search", params={"q": "eels"}).json()["hits"][0]["url"]
    found = server.get("/api/v1/page", params={"url": url}).json()
    assert (found["url"], found["title"], found["source"], found["whole"]) == (url, "Eels", "harbour", True)
    assert "Eels live in ponds" in found["text"]
    assert found["links_to"] == [url.rpartition("/")[0] + "/"]
    home = server.get("/api/v1/page", params={"url": found["links_to"][0], "in": "harbour"}).json()
    assert {"url": url, "text": "further"} in home["links"]
    assert server.get("/api/v1/page", params={"url": "http://nowhere.example/"}).status_code == 404


@pytest.mark.parametrize(
    "query", ["", "q=x&n=0", "q=x&n=101", "q=x&n=x", "q=x&page=1e9", "q=x&explain=2", "q=x&unknown=1", "q=x&in=nobody", "n=1"]
)
def test_wrong_questions(server: Served, query: str) -> None:
    answer = server.get(f"/api/v1/search?{query}")
    assert answer.status_code in {400, 404}
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    assert answer.json()["title"]


def test_an_address_that_is_none(server: Served) -> None:
    """A program that asks for it gets no page for people."""
    answer = server.get("/api/v1/stats")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["detail"] == "/api/v1/openapi.json has all there is"
    assert server.get("/nowhere").headers["content-type"].startswith("text/html")


def test_the_description_is_made_of_what_is_answered(server: Served) -> None:
    described = server.get("/api/v1/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], path
            assert server.client.request(method, path).status_code in {200, 400, 401}, path
    parameters = {each["name"]: each for each in described["paths"]["/api/v1/search"]["get"]["parameters"]}
    assert list(parameters) == [
        *("q", "n", "page", "in", "sort", "site", "type", "language", "age", "facets", "explain", "alike", "as_typed"),
        *("fresh", "wait"),
    ]
    assert parameters["q"]["required"]
    assert parameters["n"]["schema"]["maximum"] == 100
    answered = described["components"]["schemas"]["SearchAnswer"]
    assert set(answered["required"]) == set(server.get("/api/v1/search", params={"q": "tide"}).json())


def test_facets_and_suggestions(server: Served) -> None:
    """As `larm search` has them; what is no value of theirs is refused."""
    answer = server.get("/api/v1/search", params={"q": "tide", "facets": "true", "in": ["harbour", "library"]}).json()
    types = next(facet for facet in answer["facets"] if facet["name"] == "type")
    assert types["whole"]
    assert [each["value"] for each in types["values"]] == ["text/html"]
    assert types["values"][0]["pages"] == 2
    assert "facets" not in server.get("/api/v1/search", params={"q": "tide"}).json()
    for narrowed, total in (({"type": "text/html"}, 1), ({"type": "text/plain"}, 0), ({"site": "a.localhost"}, 1)):
        assert server.get("/api/v1/search", params={"q": "shelf", **narrowed}).json()["total"] == total
    for wrong in ({"age": "decade"}, {"sort": "size"}, {"site": "x" * 300}):
        assert server.get("/api/v1/search", params={"q": "tide", **wrong}).status_code == 400
    found = server.get("/api/v1/suggest", params={"q": "caus"}).json()["suggestions"]
    assert found[0]["query"] == "causeway"
    assert found[0]["pages"] > 1
    answer = server.get("/suggest", params={"q": "caus", "in": "library"})
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert answer.json() == ["caus", ["causeway"]]
    assert server.get("/suggest", params={"q": "caus", "in": "nowhere"}).json() == ["caus", []]
    assert server.get("/suggest").json() == ["", []]


def test_metrics_are_read_by_prometheus(server: Served) -> None:
    server.get("/search", params={"q": "tide"})
    server.get("/nowhere/at/all")
    families = {each.name: each for each in text_string_to_metric_families(server.get("/metrics").text)}
    counted = {
        (row.labels["route"], row.labels["status"]): row.value
        for row in families["larm_http_requests"].samples
        if row.name.endswith("_total")
    }
    assert counted["/search", "200"] >= 1
    assert ("other", "404") in counted
    assert families["larm_search_seconds"].type == "histogram"


def test_opensearch(server: Served) -> None:
    answer = server.get("/opensearch.xml")
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    name = "{http://a9.com/-/spec/opensearch/1.1/}"
    root = ElementTree.fromstring(answer.text)
    assert root.tag == f"{name}OpenSearchDescription"
    assert 0 < len(root.findtext(f"{name}ShortName") or "") <= 16
    assert 0 < len(root.findtext(f"{name}Description") or "") <= 1024
    templates = {each.get("type"): each.get("template") or "" for each in root.iter(f"{name}Url")}
    page = templates["text/html"].replace("{searchTerms}", "tide%20tables").replace("{startPage?}", "")
    assert "Tide tables" in server.get(page).text
    assert server.get(templates["application/json"].replace("{searchTerms}", "tide").replace("{startPage?}", "1")).json()[
        "total"
    ]


def test_small_answers(server: Served) -> None:
    assert server.get("/healthz").text == "ok\n"
    assert server.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    assert server.get("/nothing").status_code == 404
    assert server.client.post("/search").status_code == 405
    assert server.client.head("/").status_code == 200
