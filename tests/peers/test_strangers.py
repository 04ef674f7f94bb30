"""Whatever a stranger answers becomes harmless: bounded, on one line, with addresses that can be opened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larm.model.findings import Findings
from larm.model.hit import Hit
from larm.peers.strangers import findings_of

PEER = "http://192.0.2.7:7070"
text = st.text(max_size=40) | st.sampled_from(
    ["\x1b[31m", "<b>", "\u202e", "a\nb", "x" * 5_000, "\x00", "\r\n\r\nHTTP/1.1 200 OK"]
)
urls = (
    st.sampled_from(
        [
            "/files/docs/a",
            "/files/../peers",
            "/copy?in=x\r\n&url=y",
            "http://a.org/",
            "HTTPS://a.org/\x1b",
            "http://a.org/\u202e\u2028",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "//a.org/",
            "http://a.org/" + "x" * 9_000,
        ]
    )
    | text
)
numbers = st.integers(-(1 << 70), 1 << 70)
hits = st.builds(
    Hit,
    title=text,
    url=urls,
    parts=st.lists(st.tuples(text, st.booleans()), max_size=5).map(tuple),
    passage=urls,
    copy=urls,
    mime=text,
    language=text,
    modified=numbers,
    fetched=numbers,
    size=numbers,
    cuts=st.lists(text, max_size=20).map(tuple),
    complete=st.booleans(),
    score=st.floats(allow_nan=False),
    explanation=text,
    digest=numbers,
    source=text,
)
answers = st.builds(
    Findings,
    searcher=text,
    hits=st.lists(hits, max_size=8).map(tuple),
    total=numbers,
    complete=numbers,
    exact=st.booleans(),
    notes=st.lists(text, max_size=3).map(tuple),
    suggestion=text,
    failure=text,
)


@given(answers, st.booleans())
def test_it_is_harmless(answer: Findings, scored: bool) -> None:
    found = findings_of("peer", answer, 5, trusted=False, scored=scored, base=PEER)
    assert found.by_rank != scored
    assert found.searcher == "peer"
    assert len(found.hits) <= 5
    assert (found.notes, found.suggestion, found.facets) == ((), "", ())
    assert 0 <= found.complete <= found.total or found.complete <= len(found.hits)
    assert found.total <= 1 << 50
    for hit in found.hits:
        assert hit.url.lower().startswith(("http://", "https://"))
        assert len(hit.url) <= 3 * 4_096
        assert 0 <= hit.score <= (1_000 if scored else 1)
        assert (hit.digest, hit.explanation, hit.source) == (0, "", "peer")
        assert not hit.passage or hit.passage.startswith(hit.url)
        assert not hit.copy or hit.copy.startswith(f"{PEER}/copy?")
        assert all(each.isprintable() for each in (hit.url, hit.copy, hit.passage))
        shown = [hit.title, hit.url, hit.copy, hit.mime, hit.language, *hit.cuts, *(part for part, _ in hit.parts)]
        assert not any(character in each for each in shown for character in "\x00\x1b\n\r")
        assert sum(len(part) for part, _ in hit.parts) <= 1_100
        assert 0 <= hit.modified < 1 << 40
        assert 0 <= hit.size <= 1 << 50
