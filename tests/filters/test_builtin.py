"""The filters that come with larm, by the vectors of LARM-48 to LARM-52."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import msgspec
import pytest

from larm.config import FiltersSettings
from larm.errors import ConfigError, StorageError
from larm.filters.archive_scope import ArchiveScope
from larm.filters.known_paths import KnownPathsFilter
from larm.filters.length import LengthFilter
from larm.filters.scope import ScopeFilter, StartScope
from larm.filters.visited import VisitedFilter
from larm.frontier.robots.desk import RobotsDesk
from larm.kit.disk.seen_set import DiskSeenSet
from larm.model.host_resolver import HostResolver
from larm.model.message import REDIRECT, START, Known, URLMessage
from larm.model.region import host_region
from larm.model.url import URLNormalizer
from larm.seams import Filter
from larm.testing.fakes import Drops, message


def sift(part: Filter, *addresses: str) -> list[str]:
    """What passes; what `explain` says beforehand must be the same."""
    messages = [message(address) for address in addresses]
    expected = [each.url.access for each in messages if part.explain(each) is None]
    drops = Drops()
    passing = [each.url.access for each in part.sift(messages, drops)]
    assert passing == expected
    assert sorted(passing + drops.urls()) == sorted(each.url.access for each in messages)
    return passing


# -- length (LARM-48)


def test_length_counts_the_whole_address() -> None:
    part = LengthFilter(500)
    fits = "http://a.org/".ljust(500, "x")
    assert sift(part, fits, fits + "x", "http://a.org/") == [fits, "http://a.org/"]


def test_length_is_that_of_the_access_form() -> None:
    """A fragment is not sent; what is escaped is sent escaped."""
    part = LengthFilter(20)
    assert sift(part, "http://a.org/1234567#and-a-long-fragment") == ["http://a.org/1234567"]
    assert sift(part, "http://a.org/ü23") == []


def test_length_says_what_it_is() -> None:
    drops = Drops()
    LengthFilter(12).sift([message("http://a.org/")], drops)
    assert drops.reasons() == ["13 characters, filters.length.max is 12"]
    assert LengthFilter(12).explain(message("http://a.org/")) == "13 characters, filters.length.max is 12"


# -- scope (LARM-49)

MUENCHEN = r"http://[^/]*\.uni-muenchen\.de.*"


def test_vector_of_larm_49() -> None:
    """The whole normalised URL must match, whatever its case."""
    part = ScopeFilter(MUENCHEN)
    assert sift(
        part,
        "http://www.uni-muenchen.de/x",
        "http://evil.com/?http://www.uni-muenchen.de",
        "HTTP://WWW.CIS.UNI-MUENCHEN.DE/A",
    ) == ["http://www.uni-muenchen.de/x", "http://www.cis.uni-muenchen.de/A"]


@pytest.mark.parametrize(
    ("pattern", "address", "passes"),
    [
        ("http://a/x", "http://a/x", True),
        ("http://a/x", "http://a/xy", False),  # all of it
        ("a/x", "http://a/x", False),
        ("http://a/X|http://b/.*", "http://a/x", True),  # an alternative is not cut short by another
        ("http://a/x|http://a/xy", "http://a/xy", True),
        (".*", "https://anything.example/?q=1", True),
        ("http://a/%7euser/", "http://a/~user/", True),  # as the normaliser writes it
        ("http://a/~user/", "http://a/~user/", False),
        ("http://a/dir/", "http://a/dir/index.html", True),
    ],
)
def test_scope_is_matched_as_a_whole_and_normalised(pattern: str, address: str, passes: bool) -> None:
    assert bool(sift(ScopeFilter(pattern), address)) is passes


def test_scope_of_a_resolved_host() -> None:
    normalizer = URLNormalizer(HostResolver(starts=[("www.", "")]))
    inside = URLMessage(normalizer.parse("http://www.cnn.com/x"))
    assert ScopeFilter("http://cnn.com/.*").explain(inside) is None


def test_a_dot_matches_newlines() -> None:
    """LARM-49; no URL of ours has one, but the flag is a promise."""
    assert ScopeFilter("a.b")._match("a\nb")


@pytest.mark.parametrize("pattern", ["http://[", "(", "*", "(?P<a>x)(?P<a>y)", "a{2,1}"])
def test_a_wrong_expression_is_reported(pattern: str) -> None:
    """LARM-8."""
    with pytest.raises(ConfigError, match="restrictto: wrong expression"):
        ScopeFilter(pattern)


def test_scope_says_why() -> None:
    said = "http://b/ does not match http://a/ as a whole; another -restrictto REGEX may"
    assert ScopeFilter("http://a/").explain(message("http://b/")) == said


# -- scope of a crawl without an expression


def hosts(*names: str) -> StartScope:
    return StartScope(map(host_region, names))


def test_where_there_is_no_start_url_there_is_no_scope() -> None:
    assert "no start URL here" in str(hosts().explain(message("http://a.org/")))
    assert str(hosts("b.org").explain(message("http://a.org/"))).endswith(
        "a start URL there (--add) or -restrictto REGEX has it"
    )


def test_start_hosts_are_the_scope() -> None:
    part = hosts("a.org", "b.org:8080")
    assert sift(part, "http://a.org/", "https://a.org/x", "http://www.a.org/", "http://b.org/", "http://b.org:8080/") == [
        "http://a.org/",
        "https://a.org/x",
        "http://b.org:8080/",
    ]


def test_where_a_start_url_redirects_to_is_inside() -> None:
    part = hosts("a.org")
    moved = message("https://www.a.org/", "http://a.org/", REDIRECT)
    assert part.sift([message("https://www.a.org/early"), moved], Drops()) != []
    assert sift(part, "https://www.a.org/x") == ["https://www.a.org/x"]
    assert part.hosts == {"a.org", "www.a.org"}


def test_where_any_other_page_redirects_to_is_not() -> None:
    part = hosts("a.org")
    drops = Drops()
    assert part.sift([message("http://ads.org/", "http://a.org/x", REDIRECT, depth=1)], drops) == []
    assert drops.reasons() == ["out of scope"]
    assert part.hosts == {"a.org"}


@pytest.mark.parametrize("part", [ScopeFilter(r"http://a\.org/.*"), StartScope([host_region("a.org")])])
def test_what_was_outside_is_known_at_once(part: ScopeFilter | StartScope) -> None:
    inside, outside, new = message("http://a.org/"), message("http://b.org/"), message("http://b.org/x")
    asked = [each.url.fingerprint for each in (inside, outside, new)]
    assert part.recall(asked) == set()
    part.sift([inside, outside], Drops())
    assert part.recall(asked) == {outside.url.fingerprint}


def test_what_was_outside_may_come_inside() -> None:
    part = hosts("a.org")
    early = message("https://www.a.org/early")
    part.sift([early], Drops())
    part.sift([message("https://www.a.org/", "http://a.org/", REDIRECT)], Drops())
    assert part.recall([early.url.fingerprint]) == set()


def test_what_is_known_to_be_outside_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("larm.filters.scope._KEPT", 10)
    part = hosts("a.org")
    urls = [message(f"http://b.org/{number}") for number in range(25)]
    for each in urls:
        part.sift([each], Drops())
    assert part.recall([each.url.fingerprint for each in urls]) == {each.url.fingerprint for each in urls[20:]}


def test_explain_adds_no_host() -> None:
    part = hosts("a.org")
    assert "not the host of a start URL" in str(part.explain(message("http://b.org/", "http://a.org/", REDIRECT)))
    assert part.hosts == {"a.org"}


# -- known paths (LARM-50, LARM-51)


def known(*more: str) -> KnownPathsFilter:
    return KnownPathsFilter((*FiltersSettings().known_paths, *more))


OLD_VIEWS = [f"?{column}={order}" for column, order in product("NMSD", "AD")]
NEW_VIEWS = [f"?C={column};O={order}" for column, order in product("NMSD", "AD")]


@pytest.mark.parametrize("view", OLD_VIEWS + NEW_VIEWS)
def test_views_of_directories_are_dropped(view: str) -> None:
    """LARM-50, LARM-51: upper case, which LARM's table never matched."""
    assert sift(known(), f"http://a/{view}", f"http://a/dir/{view}", f"http://a/dir/sub/{view.lower()}") == []


@pytest.mark.parametrize("view", ["?C=X;O=A", "?N=B", "?X=A", "?C=N", "?N=A&x=1", "?C=N;O=A;F=2"])
def test_other_queries_pass(view: str) -> None:
    assert sift(known(), f"http://a/{view}") == [f"http://a/{view}"]


def test_a_view_is_one_of_a_directory() -> None:
    assert sift(known(), "http://a/page?N=A") == ["http://a/page?N=A"]


def test_robots_txt_is_no_page() -> None:
    assert sift(known(), "http://a/robots.txt", "http://a/ROBOTS.txt", "http://a/dir/robots.txt") == ["http://a/dir/robots.txt"]
    assert sift(known(), "http://a/robots.txt.html") == ["http://a/robots.txt.html"]


def test_lists_come_from_outside() -> None:
    part = KnownPathsFilter(["/Private/*", "/one", "*.ZIP", "Ads.example"])
    dropped = ["http://a/private/x", "http://a/one", "http://a/X.zip", "http://ads.example/"]
    passing = ["http://a/robots.txt", "http://a/zip", "http://a/one/two", "http://a/private"]
    assert sift(part, *dropped, *passing) == passing


def test_empty_lists_match_nothing() -> None:
    assert sift(KnownPathsFilter([]), "http://a/robots.txt", "http://a/?N=A") != []


def test_known_paths_say_what_they_know() -> None:
    part = known("b")
    assert part.explain(message("http://a/robots.txt")) == "/robots.txt is in filters.known_paths"
    assert part.explain(message("http://a/?N=D")) == "/?n=d is in filters.known_paths"
    assert part.explain(message("http://b/")) == "host b is in filters.known_paths"


# -- visited (LARM-52)


@pytest.fixture
def seen(tmp_path: Path) -> DiskSeenSet:
    return DiskSeenSet(tmp_path / "visited.db", 1_000)


def test_each_normalised_url_passes_once(seen: DiskSeenSet) -> None:
    part = VisitedFilter(seen)
    drops = Drops()
    batch = [message(f"http://a/{path}") for path in ("x", "y", "x", "dir/", "dir/index.html")]
    assert [each.url.access for each in part.sift(batch, drops)] == ["http://a/x", "http://a/y", "http://a/dir/"]
    assert drops.urls() == ["http://a/x", "http://a/dir/index.html"]
    assert set(drops.reasons()) == {"visited"}
    assert part.sift(batch, Drops()) == []
    seen.close()


def test_explain_does_not_remember(seen: DiskSeenSet) -> None:
    part = VisitedFilter(seen)
    assert part.explain(message("http://a/")) is None
    assert len(seen) == 0
    part.sift([message("http://a/")], Drops())
    assert part.explain(message("http://a/index.html")) == "seen before"
    seen.close()


def test_a_visited_set_that_can_not_be_read_ends_the_crawl(tmp_path: Path) -> None:
    seen = DiskSeenSet(tmp_path / "visited.db", 1, tail=2)
    seen.add_new([1, 2, 3])
    seen.apply(seen.cut())  # so that it must look at the disk
    seen.close()
    with pytest.raises(StorageError, match="visited"):
        VisitedFilter(seen).sift([message("http://a/")], Drops())


def test_names_of_the_logs() -> None:
    """LARM-97."""
    names = [LengthFilter, ScopeFilter, StartScope, KnownPathsFilter, VisitedFilter, RobotsDesk]
    assert [each.log_name for each in names] == [
        "URLLengthFilter",
        "URLScopeFilter",
        "URLScopeFilter",
        "KnownPathsFilter",
        "URLVisitedFilter",
        "RobotExclusionFilter",
    ]


def test_a_revisited_page_passes(seen: DiskSeenSet) -> None:
    """It was seen, of course."""
    drops = Drops()
    part = VisitedFilter(seen)
    first = message("http://a.org/")
    again = msgspec.structs.replace(first, known=Known("", "", 1))
    assert part.sift([first], drops) == [first]
    assert part.sift_known([again, first], drops) == [again]
    assert part.sift([again, first], drops) == [again]
    seen.close()


@pytest.mark.parametrize("expression", [r"http://\Qa.org\E/.*", r".*/\p{L}+", r".*/\PL{3}", ".*/[[:alpha:]]+"])
def test_scope_takes_expressions_of_perl(expression: str) -> None:
    part = ScopeFilter(expression)
    address = "http://a.org/123" if "P" in expression else "http://a.org/abc"
    assert sift(part, address, "http://axorg/a-1-") == [address]


SLOW = r"http://a/((x|xx)+y|.)"
HOSTILE = "http://a/" + "x" * 60 + "y0"


def test_slow_url_is_dropped_counted_and_explained() -> None:
    part, drops = ScopeFilter(SLOW), Drops()
    others = [message("http://a/z"), message("http://a/zz")]
    hostile = [message(HOSTILE), message(HOSTILE + "0")]
    assert part.sift([*hostile, *others], drops) == others[:1]
    assert drops.reasons() == ["out of scope", *["matching takes too long"] * 2]
    assert part.recall([each.url.fingerprint for each in hostile]) == {each.url.fingerprint for each in hostile}
    told = part.too_slow()
    assert (told["urls"], told["example"], told["pattern"]) == (2, HOSTILE, SLOW)
    assert f"matching takes too long: {HOSTILE} with -restrictto {SLOW}" in str(part.explain(hostile[0]))
    archives = ArchiveScope(ScopeFilter(SLOW))
    assert archives.judge(URLMessage(hostile[0].url, referrer=START)) == "matching takes too long"
    assert archives.too_slow()["example"] == HOSTILE


def test_url_is_explained_as_too_slow_when_a_crawl_may_have_dropped_it_so() -> None:
    part, url = ScopeFilter("http://a/(.?){60}b"), message("http://a/" + "a" * 60 + "b!!!!")
    assert "matching takes too long" in str(part.explain(url))
    assert part.too_slow() == {}, "what was only explained was not dropped"


def test_expression_that_is_tried_is_refused_when_a_long_name_takes_too_long() -> None:
    ScopeFilter(SLOW)
    with pytest.raises(ConfigError, match=r"matching \S+ with \S+ takes too long; write it without"):
        ScopeFilter(SLOW, tried=True)


@pytest.mark.parametrize("expression", [r".*\\Q", r"http://a\.org/(?P<path>.*)", "[a-z:]+"])
def test_what_only_looks_like_it_is_none(expression: str) -> None:
    ScopeFilter(expression)


def test_what_is_inside_by_another_name_is_not_known_to_be_outside() -> None:
    part = ScopeFilter(r".*/index\.html")
    folder, other = message("http://b.org/"), message("http://b.org/x")
    part.sift([folder, other], Drops())
    assert part.recall([folder.url.fingerprint, other.url.fingerprint]) == {other.url.fingerprint}
    assert part.sift([message("http://b.org/index.html")], Drops()) != []


def test_an_address_outside_is_matched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scope, asked = ScopeFilter(r"http://a/.*"), []
    match = scope._match
    monkeypatch.setattr(scope, "_match", lambda text, **least: asked.append(text) or match(text, **least))
    assert scope.sift([message("http://b/x"), message("http://a/y")], lambda *_: None) == [message("http://a/y")]
    assert asked == ["http://b/x", "http://a/y"]
    assert scope.explain(message("http://b/x"))
    assert asked[2:] == ["http://b/x"]
