"""What follows from the outcome of a fetch (LARM-16, LARM-17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from larm.config import FrontierSettings
from larm.engine.landed import Landed, start_visit
from larm.engine.landing import NOWHERE, Lander
from larm.model.crawl_hash import digest
from larm.model.document import Document, Visit
from larm.model.lease import Lease
from larm.model.links import Link, Links
from larm.model.message import FRAME, LOST, ORDINARY, REDIRECT, START, UNKNOWN, Known, URLMessage, as_whole
from larm.model.outcome import Failed, FailReason, Fetched, Moved, NotModified, Outcome, Refused, Timing
from larm.model.url import URLNormalizer
from larm.testing.fakes import message, url

TIMING = Timing(0.1234, 777)
HERE = "http://a.org/dir/page"
LINKS = (
    Link(url("http://a.org/1"), ORDINARY, "one"),
    Link(url("http://b.org/2"), FRAME, ""),
    Link(url("http://a.org/logo.png"), ORDINARY, "", follow=False),
)


class Process:
    """Makes the same document of everything."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.asked: list[tuple[URLMessage, Fetched]] = []

    def process(self, message: URLMessage, fetched: Fetched) -> Document:
        self.asked.append((message, fetched))
        return self.document


DOCUMENT = Document("text/html", "Title", "text", Links.of(LINKS), warnings=("bad link",))


def lander(max_depth: int | None = None, document: Document = DOCUMENT, **settings: Any) -> Lander:
    frontier = msgspec.structs.replace(FrontierSettings(), **settings)
    return Lander(Process(document).process, URLNormalizer().join, frontier, max_depth)


def land(outcome: Outcome, about: URLMessage | None = None, by: Lander | None = None) -> Landed:
    about = about or message(HERE, "http://a.org/", FRAME, depth=2)
    by = by or lander()
    landed = [by.land(Lease(1, about.url.host, about), outcome)]
    by.follow(landed)
    return landed[0]


def fetched(status: int = 200, truncated: bool = False) -> Fetched:
    return Fetched(status, {"etag": "x"}, b"<p>body", TIMING, truncated)


def visit_of(landed: Landed) -> Visit:
    assert landed.visit is not None
    return landed.visit


# -- pages


def test_a_page_is_stored_with_all_that_is_known_of_it() -> None:
    landed = land(fetched())
    visit = visit_of(landed)
    assert (visit.page, visit.url, visit.referrer, visit.link_type) == (HERE, url(HERE), "http://a.org/", FRAME)
    assert (visit.status, visit.headers, visit.body, visit.document) == (200, {"etag": "x"}, b"<p>body", DOCUMENT)
    assert tuple(visit.links) == LINKS, "all of them, for links.log"
    assert landed.page
    assert not landed.error
    assert landed.warnings == ("bad link",)


def test_its_links_go_back_as_one_batch_of_messages() -> None:
    """LARM-14; those that are not to be followed stay out."""
    assert list(land(fetched()).messages) == [
        URLMessage(url("http://a.org/1"), HERE, ORDINARY, depth=3),
        URLMessage(url("http://b.org/2"), HERE, FRAME, depth=3),
    ]


@pytest.mark.parametrize(("max_depth", "followed"), [(None, 2), (3, 2), (2, 0), (0, 0)])
def test_max_depth_counts_links_from_a_start_url(max_depth: int | None, followed: int) -> None:
    landed = land(fetched(), by=lander(max_depth))
    assert len(landed.messages) == followed
    assert len(visit_of(landed).links) == 3


def test_depth_zero_is_the_start_urls_alone() -> None:
    assert land(fetched(), message(HERE), lander(0)).page
    assert not land(fetched(), message(HERE), lander(0)).messages
    assert land(fetched(), message(HERE), lander(1)).messages


def test_counts_and_line_of_a_page() -> None:
    landed = land(fetched())
    assert landed.counts == {
        "downloader/request_count": 1,
        "downloader/response_bytes": 777,
        "downloader/response_status_count/200": 1,
    }
    assert landed.log_line == f"123 ms: 200 7 text/html: {HERE}"


def test_a_truncated_page_is_stored_and_told() -> None:
    landed = land(fetched(truncated=True))
    assert landed.page
    assert landed.messages
    assert landed.counts["downloader/truncated"] == 1
    assert landed.error
    assert "cut off at fetch.page_size" in landed.log_line


def test_a_page_with_a_flaw_is_stored_and_told() -> None:
    headers = {"etag": "x", "last-modified": "then", "date": "now"}
    landed = land(Fetched(200, headers, b"<p>body", TIMING, truncated=True, flaw="the gzip ends too early"))
    assert landed.visit is not None
    assert landed.visit.headers == {"date": "now"}, "nothing to ask with: else it would be unchanged, and stay half"
    assert (landed.counts["downloader/flawed"], landed.error) == (1, True)
    assert landed.log_line == f"123 ms: 200 7 text/html (the gzip ends too early): {HERE}"


# -- answers without a page


@pytest.mark.parametrize("status", [204, 301, 302, 307, 400, 401, 403, 404, 410, 451, 500, 503])
def test_refused_stores_no_document(status: int) -> None:
    landed = land(Refused(status, {}, TIMING))
    assert not landed.page
    assert not landed.messages
    assert landed.again is None
    assert landed.error is (status >= 300)
    assert landed.counts.get(NOWHERE, 0) == (status < 400 and status != 204)  # what is 400 or more is counted by its status
    assert landed.counts[f"downloader/response_status_count/{status}"] == 1
    assert landed.log_line == f"123 ms: {status}: {HERE}"


def test_gone_is_noted_for_a_later_visit() -> None:
    visit = visit_of(land(Refused(404, {}, TIMING)))
    assert (visit.url, visit.status, visit.document, len(visit.links)) == (url(HERE), 404, None, 0)


def test_what_is_tried_again_is_not_noted_yet() -> None:
    """It is in the river; in the book as well, a revisit would ask for it twice."""
    assert land(Refused(500, {}, TIMING)).visit is None
    last = msgspec.structs.replace(message(HERE), tries=FrontierSettings().retries)
    assert visit_of(land(Refused(500, {}, TIMING), last)).status == 500


@pytest.mark.parametrize("reason", list(FailReason))
def test_failures_are_counted_by_reason(reason: FailReason) -> None:
    landed = land(Failed(reason, "what libcurl says", TIMING))
    assert landed.counts == {
        f"downloader/exception_type_count/{reason.value}": 1,
        "downloader/request_count": 1,
        "downloader/response_bytes": 777,
    }
    assert landed.error
    assert not landed.page
    assert landed.log_line == f"123 ms: {reason.value}: what libcurl says: {HERE}"


def test_not_modified_stores_no_page_but_that_it_is_current() -> None:
    landed = land(NotModified({}, TIMING), msgspec.structs.replace(message(HERE), known=UNKNOWN))
    assert (landed.page, landed.messages, landed.error) == (False, (), False)
    assert landed.visit is not None
    assert (landed.visit.page, landed.visit.status, len(landed.visit.links)) == (HERE, 304, 0)
    assert landed.counts["downloader/response_status_count/304"] == 1
    assert landed.counts["revisit/unchanged"] == 1


def test_a_body_that_is_the_one_we_have_is_not_processed() -> None:
    """For servers that answer 200 whatever one asks."""
    process = Process(DOCUMENT)
    by = Lander(process.process, URLNormalizer().join, FrontierSettings(), None)
    known = msgspec.structs.replace(message(HERE), known=Known("", "", digest(b"<p>body")))
    landed = land(fetched(), known, by)
    assert (landed.page, process.asked, landed.counts["revisit/unchanged"]) == (False, [], 1)
    other = msgspec.structs.replace(message(HERE), known=Known("", "", digest(b"<p>older")))
    landed = land(fetched(), other, by)
    assert (landed.page, len(process.asked), landed.counts["revisit/changed"]) == (True, 1, 1)


# -- redirects


def moved(location: str, about: URLMessage | None = None, by: Lander | None = None) -> Landed:
    return land(Moved(302, location, TIMING), about, by)


def test_a_page_that_was_lost_with_its_agent_has_not_changed() -> None:
    landed = land(fetched(), msgspec.structs.replace(message(HERE), known=LOST))
    assert landed.page
    assert not [name for name in landed.counts if name.startswith("revisit/")]


def test_a_redirect_is_a_link_of_type_2_and_a_message() -> None:
    landed = moved("../other")
    target = url("http://a.org/other")
    assert tuple(visit_of(landed).links) == (Link(target, REDIRECT, ""),)
    assert (visit_of(landed).page, visit_of(landed).document) == (HERE, None)
    assert list(landed.messages) == [
        URLMessage(target, HERE, REDIRECT, 2, redirects=1, chain=(url(HERE).fingerprint,), tried=(url(HERE).spelling,))
    ]
    assert not landed.page
    assert not landed.error
    assert landed.log_line == f"123 ms: 302 -> ../other: {HERE}"


def test_the_way_of_a_redirect_costs_no_depth() -> None:
    assert moved("/other", by=lander(max_depth=2)).messages[0].depth == 2


def test_a_redirect_to_the_same_normalised_url_goes_past_the_filters() -> None:
    """/dir/index.html to /dir/: the visited filter would drop it, and the page would be lost."""
    about = message("http://a.org/dir/index.html", "http://a.org/", depth=1)
    landed = moved("/dir/", about)
    assert landed.messages == ()
    again = URLMessage(url("http://a.org/dir/"), about.url.access, REDIRECT, 1, redirects=1, chain=(about.url.fingerprint,))
    assert landed.again == msgspec.structs.replace(again, tried=(about.url.spelling,))
    assert visit_of(landed).links[0].link_type == REDIRECT


@pytest.mark.parametrize("location", ["/dir/", "/other"])
def test_what_was_held_back_and_goes_on_is_not_held_back_again_where_it_leads(location: str) -> None:
    """Else a round would bring back all that it asked for, and nothing would have been read."""
    about = msgspec.structs.replace(message("http://a.org/dir/index.html", "http://a.org/", depth=1), released=True)
    landed = moved(location, about)
    assert [each.released for each in (*landed.messages, *filter(None, [landed.again]))] == [True]


def test_on_a_revisit_it_replaces_the_page_that_is_stored() -> None:
    """It is the same page for the index, which would have it twice; what is known is that of the other address."""
    about = msgspec.structs.replace(message("http://a.org/dir/"), known=Known("etag", "", 7))
    landed = moved("/dir/index.html", about)
    assert "revisit/redirected" not in landed.counts
    again = landed.again
    assert again is not None
    assert again.known == as_whole(Known("etag", "", 7)) == Known("", "", -7)
    assert visit_of(land(fetched(), again)).revisited


def test_a_redirect_to_another_page_takes_nothing_of_it_along() -> None:
    """Else the visited filter would let it pass."""
    about = msgspec.structs.replace(message("http://a.org/dir/"), known=Known("etag", "", 7))
    assert moved("/other", about).messages[0].known is None


def test_a_redirect_to_itself_ends_there() -> None:
    landed = moved(HERE + "#top")
    assert (landed.again, landed.messages, landed.error) == (None, (), True)
    assert landed.counts["redirect/circle"] == 1


@pytest.mark.parametrize("around", [2, 3, 4])
def test_a_ring_of_redirects_is_told_wherever_it_is_entered(around: int) -> None:
    about = message("http://a.org/in")
    for number in range(around):
        landed = moved(f"/{number}", about)
        assert not landed.counts.get("redirect/circle")
        (about,) = landed.messages
    landed = moved("/0", about, by=lander())
    assert landed.counts["redirect/circle"] == 1


def test_two_spellings_that_redirect_to_each_other_come_to_an_end() -> None:
    about: URLMessage | None = message("http://a.org/dir/")
    steps = 0
    while about is not None:
        there = "/dir/index.html" if about.url.access.endswith("dir/") else "/dir/"
        landed = moved(there, about)
        about, steps = landed.again, steps + 1
    assert steps == FrontierSettings().redirects + 1
    assert landed.counts["redirect/too_many"] == 1


def test_five_redirects_in_a_row_are_followed() -> None:
    """LARM-17."""
    about = message(HERE)
    for number in range(5):
        (about,) = moved(f"/{number}", about).messages
    assert about.redirects == 5
    landed = moved("/6", about)
    assert (landed.messages, landed.again, landed.error) == ((), None, True)
    assert landed.counts["redirect/too_many"] == 1
    assert landed.log_line.endswith("more than 5 in a row")
    assert len(visit_of(landed).links) == 1, "links.log has it all the same"


def test_redirects_can_be_turned_off() -> None:
    assert moved("/x", by=lander(redirects=0)).messages == ()


@pytest.mark.parametrize("location", ["http://[", "mailto:x@a.org", "javascript:0", "ftp://a.org/", "http://a b/"])
def test_a_redirect_that_leads_to_no_page_of_ours(location: str) -> None:
    landed = moved(location)
    assert (landed.messages, landed.again, landed.error) == ((), None, True)
    assert location in landed.log_line
    assert landed.visit is not None
    assert (landed.visit.document, len(landed.visit.links)) == (None, 0)
    assert "which is no address" in landed.visit.failure
    assert landed.counts[NOWHERE] == 1


def test_links_found_after_a_redirect_begin_anew() -> None:
    about = URLMessage(url(HERE), START, REDIRECT, depth=1, redirects=3, tries=1)
    assert [(each.redirects, each.tries, each.depth) for each in land(fetched(), about).messages] == [(0, 0, 2)] * 2


# -- start URLs


def test_start_urls_stand_in_links_log() -> None:
    """LARM-89."""
    visit = start_visit([message("http://a.org/"), message("http://b.org/")])
    assert (visit.page, visit.url, visit.document) == ("<start>", None, None)
    assert [(link.url.access, link.link_type) for link in visit.links] == [("http://a.org/", 0), ("http://b.org/", 0)]


def test_links_to_visited_pages_never_become_messages() -> None:
    """They are told apart before: what the visited filter would drop."""
    known = LINKS[0].url
    asked: list[list[int]] = []

    def recall(fingerprints: Sequence[int]) -> dict[str, set[int]]:
        asked.append(list(fingerprints))
        return {"visited": {known.fingerprint}}

    by = Lander(Process(DOCUMENT).process, URLNormalizer().join, FrontierSettings(), None, recall=recall)
    about = message(HERE, "http://a.org/", FRAME, depth=2)
    pages = [by.land(Lease(number, about.url.host, about), fetched()) for number in (1, 2)]
    known_links = by.follow(pages)
    landed, other = pages
    assert asked == [2 * [link.url.fingerprint for link in LINKS if link.follow]]
    assert known_links == {"visited": [known.access] * 2}
    assert other.messages == landed.messages
    assert [message.url for message in landed.messages] == [LINKS[1].url]
    assert tuple(visit_of(landed).links) == LINKS, "the storages get them all"


def test_a_304_that_was_not_asked_for_is_no_page() -> None:
    landed = land(NotModified({}, TIMING))
    assert not landed.page
    assert "revisit/unchanged" not in landed.counts
    assert landed.counts[NOWHERE] == 1
    assert (visit_of(landed).status, visit_of(landed).failure) == (304, "HTTP status 304")
