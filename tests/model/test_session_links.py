"""Sessions in the links of a page are told from numbers of articles, days and languages."""

import pytest

from larm.model.session_links import SessionLinks, session_links
from larm.model.url_shape import without_parameters
from tests.store.stored_pages import url

A, B, C = "3f2a9c01d4e5b678", "77aa01bcdef29381", "0badc0ffee123456"
HOST = "http://a.org"


def found(page: str, *targets: str) -> list[SessionLinks]:
    return list(session_links(url(HOST + page), "\n".join(HOST + each for each in targets)))


def names(page: str, *targets: str) -> list[str]:
    return [each.name for each in found(page, *targets)]


def test_a_fresh_value_in_all_links_is_one() -> None:
    assert names("/", f"/a?sid={A}", f"/b?sid={A}", f"/c?p=1&sid={A}", "/style.css") == ["sid"]
    assert names(f"/?sid={B}", f"/a?sid={A}", f"/b?sid={A}", f"/c?sid={A}") == ["sid"]
    assert names("/", f"/a;jsessionid={A}", f"/b;jsessionid={A}?p=1", f"/c;jsessionid={A}") == [";jsessionid"]


def test_each_link_may_have_its_own() -> None:
    assert names("/", f"/a?sid={A}", f"/b?sid={B}", f"/c?sid={C}") == ["sid"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((A, A, A, B), True),  # a reader has written a link with the session of another
        ((A, B, C), True),
        (("1795898110", "1795898110", "1795898111", "1795898112"), False),  # last changes of pages
        (("1795898110", "1795898111", "1795898112"), False),
    ],
)
def test_session_names_a_visitor_and_last_changes_do_not(values: tuple[str, ...], expected: bool) -> None:
    (one,) = found("/feed", *(f"/{n}?v={value}" for n, value in enumerate(values)))
    assert one.names_visitor is expected


@pytest.mark.parametrize(
    ("page", "targets"),
    [
        ("/", (f"/article?id={A}", f"/article?id={B}", f"/article?id={C}")),  # articles
        ("/cal?day=2026-11-28", ("/cal?day=2026-11-27", "/cal?day=2026-11-29", "/cal?day=2026-12-28")),
        (f"/view?id={A}", (f"/edit?id={A}", f"/print?id={A}", f"/talk?id={A}")),  # of the page itself
        ("/", ("/a?lang=deutsch", "/b?lang=deutsch", "/c?lang=deutsch")),
        ("/", (f"/a?sid={A}", f"/b?sid={A}")),  # no list
        ("/", (f"http://b.org/a?sid={A}", f"http://b.org/b?sid={A}", f"http://b.org/c?sid={A}")),  # of another host
        ("/", (f"/a?ref={A}", f"/b?ref={A}", f"/c?ref={A}", *(f"/t?p={n}" for n in range(9)))),  # few of the links
    ],
)
def test_what_tells_pages_apart_is_none(page: str, targets: tuple[str, ...]) -> None:
    assert not session_links(url(HOST + page), "\n".join(each if "://" in each else HOST + each for each in targets))


def test_the_same_list_with_other_values_is_fresh() -> None:
    (one,) = found("/", f"/a?sid={A}", f"/b?sid={A}", f"/c?sid={A}", f"/u?n=1&sid={A}")
    (other,) = found("/", f"/a?sid={B}", f"/b?sid={B}", f"/c?sid={B}", f"/u?n=2&sid={B}")
    (elsewhere,) = found("/", f"/x?sid={B}", f"/y?sid={B}", f"/z?sid={B}")
    assert one.is_fresh_beside(other)
    assert not one.is_fresh_beside(one)
    assert not one.is_fresh_beside(elsewhere)


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ("http://a.org/v?sid=1&f=2", "http://a.org/v?f=2"),
        ("http://a.org/v?f=2&sid=1", "http://a.org/v?f=2"),
        ("http://a.org/v?sid=1", "http://a.org/v"),
        ("http://a.org/v?f=2&sid=1&t=3&sid=4", "http://a.org/v?f=2&t=3"),
        ("http://a.org/v?f=2;sid=1;t=3", "http://a.org/v?f=2;t=3"),
        ("http://a.org/v?asid=1&sidb=2", "http://a.org/v?asid=1&sidb=2"),
        ("http://a.org/v?", "http://a.org/v?"),
        ("http://a.org/a/b;jsessionid=1?f=2", "http://a.org/a/b?f=2"),
        ("http://a.org/a;jsessionid=1/b", "http://a.org/a/b"),
    ],
)
def test_an_address_without_its_sessions(access: str, expected: str) -> None:
    assert without_parameters(access, {"sid", ";jsessionid"}) == expected
