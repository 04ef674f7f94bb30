"""SyntheticWeb from the other end of the wire: good hosts and the records of what was asked."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from larm.testing.clock import FakeClock
from larm.testing.replies import Reply, html
from larm.testing.request_log import Request
from larm.testing.web import SyntheticWeb
from tests.support.bad_replies import stall, unavailable
from tests.testing.client import Client, get


def test_host_header_selects_the_site() -> None:
    with SyntheticWeb() as web:
        web.host("a.localhost").page(
            "/", title="A & B", text="one\n\ntwo", links=["/x?y=1&z", ("http://b.localhost:{port}/", "to b")]
        )
        web.host("b.localhost").page("/", title="B")
        status, headers, body = get(web, "A.localhost")
        assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert b"<title>A &amp; B</title>" in body
        assert b"<p>one</p>\n<p>two</p>" in body
        assert b'<a href="/x?y=1&amp;z">' in body
        assert f'<a href="http://b.localhost:{web.port}/">to b</a>'.encode() in body
        assert b"<title>B</title>" in get(web, "b.localhost")[2]
        assert get(web, "c.localhost")[0] == 404
        assert get(web, "a.localhost", "/unknown")[0] == 404
        assert web.url("a.localhost", "/x") == f"http://a.localhost:{web.port}/x"


def test_one_connection_carries_many_requests() -> None:
    with SyntheticWeb() as web, Client(web) as client:
        web.host("a.localhost").page("/", title="A")
        for _ in range(3):
            assert client.get("a.localhost")[0] == 200
        assert [request.connection for request in web.requests] == [1, 1, 1]
        assert get(web, "a.localhost")[0] == 200
        assert web.requests[-1].connection == 2


def test_pipelined_requests_are_answered_in_order_even_if_the_first_is_slow() -> None:
    with SyntheticWeb() as web, Client(web) as client:
        site = web.host("a.localhost")
        site.add("/slow", Reply(body=b"slow", delay=0.05))
        site.add("/fast", Reply(body=b"fast"))
        client.send(("a.localhost", "/slow"), *[("a.localhost", "/fast")] * 500, ("a.localhost", "/slow"))
        one = len(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
        answers = client.read(one * 502)
        assert answers[:one].endswith(b"slow")
        assert answers[one:-one].count(b"fast") == 500
        assert answers.endswith(b"slow")


def test_a_request_in_single_bytes_is_understood() -> None:
    with SyntheticWeb() as web, Client(web) as client:
        web.host("a.localhost").add("/", Reply(body=b"hi"))
        for byte in b"GET / HTTP/1.1\r\nhOsT: a.localhost:80\r\nConnection: close\r\n\r\n":
            client.socket.sendall(bytes([byte]))
        assert client.read_all().endswith(b"\r\n\r\nhi")


def test_head_and_posted_bodies_keep_the_connection_in_step() -> None:
    with SyntheticWeb() as web, Client(web) as client:
        web.host("a.localhost").page("/", title="A")
        status, headers, body = client.get("a.localhost", method="HEAD")
        assert (status, body) == (200, b"")
        assert int(headers["content-length"]) > 50
        client.http.request("POST", "/", body=b"GET /no HTTP/1.1\r\n\r\n", headers={"Host": "a.localhost"})
        client.http.getresponse().read()
        assert client.get("a.localhost")[0] == 200
        assert [request.path for request in web.requests] == ["/", "/", "/"]


def test_what_is_not_http_gets_a_400() -> None:
    with SyntheticWeb() as web, Client(web) as client:
        client.socket.sendall(b"EHLO mail\r\n\r\n")
        assert client.read_all().startswith(b"HTTP/1.1 400 ")
        assert web.requests == []


def test_robots_are_404_unless_set() -> None:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.otherwise(html("anything"))
        assert get(web, "a.localhost", "/robots.txt")[0] == 404
        site.robots("User-agent: *\nDisallow: /secret")
        assert get(web, "a.localhost", "/robots.txt")[2] == b"User-agent: *\nDisallow: /secret"
        site.status("/robots.txt", 503, Retry_After="7")
        status, headers, _ = get(web, "a.localhost", "/robots.txt")
        assert (status, headers["retry-after"]) == (503, "7")


def test_redirects_name_their_target() -> None:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.redirect("/r", "/x")
        site.redirect("/s", "http://b.localhost:{port}/", 307)
        status, headers, _ = get(web, "a.localhost", "/r")
        assert (status, headers["location"]) == (301, "/x")
        status, headers, _ = get(web, "a.localhost", "/s")
        assert (status, headers["location"]) == (307, web.url("b.localhost"))


def test_a_current_copy_is_not_sent_again_until_the_page_changes() -> None:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", title="old", text="kept", links=["/x"])
        _, old, body = get(web, "a.localhost")
        status, headers, nothing = get(web, "a.localhost", If_None_Match=old["etag"])
        assert (status, nothing, headers["etag"]) == (304, b"", old["etag"])
        assert get(web, "a.localhost", If_None_Match=f'"other", W/{old["etag"]}')[0] == 304
        assert get(web, "a.localhost", If_None_Match="*")[0] == 304
        assert get(web, "a.localhost", If_Modified_Since=old["last-modified"])[0] == 304
        assert get(web, "a.localhost", If_Modified_Since=old["last-modified"], If_None_Match='"other"')[0] == 200
        site.change("/", title="new")
        status, new, changed = get(web, "a.localhost", If_None_Match=old["etag"])
        assert status == 200
        assert changed == body.replace(b"old", b"new")
        assert new["etag"] != old["etag"]
        assert get(web, "a.localhost", If_Modified_Since=old["last-modified"])[0] == 200
        assert web.fetched() == {"a.localhost/": 4}


def test_changing_or_removing_what_is_not_there_is_an_error() -> None:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        with pytest.raises(KeyError):
            site.change("/", title="x")
        site.page("/")
        site.remove("/")
        assert get(web, "a.localhost")[0] == 404
        with pytest.raises(KeyError):
            site.remove("/")


def test_first_answers_come_before_the_usual_one() -> None:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/", title="A")
        site.first("/", unavailable(retry_after=1), unavailable())
        answers = [get(web, "a.localhost") for _ in range(3)]
        assert [status for status, _, _ in answers] == [503, 503, 200]
        assert answers[0][1]["retry-after"] == "1"


def test_a_broken_host_answers_so_to_everything_until_it_is_mended() -> None:
    with SyntheticWeb() as web:
        site = web.host("a.localhost")
        site.page("/")
        site.broken = unavailable()
        assert [get(web, "a.localhost", path)[0] for path in ("/", "/robots.txt", "/x")] == [503, 503, 503]
        site.broken = None
        assert get(web, "a.localhost")[0] == 200


def test_a_handler_makes_webs_without_end() -> None:
    def calendar(request: Request) -> Reply:
        day = int(request.path.removeprefix("/day/"))
        return html(f'<a href="/day/{day + 1}">tomorrow</a>')

    with SyntheticWeb() as web:
        web.host("a.localhost").otherwise(calendar)
        assert b"/day/42" in get(web, "a.localhost", "/day/41")[2]


def test_an_error_in_a_handler_comes_up_at_the_end() -> None:
    def broken(request: Request) -> Reply:
        raise ZeroDivisionError(request.path)

    with pytest.raises(ZeroDivisionError, match="/x"), SyntheticWeb() as web:  # noqa: PT012  its end raises
        web.host("a.localhost").otherwise(broken)
        with Client(web) as client:
            client.send(("a.localhost", "/x"))
            assert client.read_all() == b""


def test_a_transport_that_asyncio_ends_twice_is_no_error() -> None:
    web = SyntheticWeb()
    with pytest.raises(AttributeError, match="ours"), web:  # noqa: PT012  its end raises
        assert web._loop is not None
        for message, error in (
            ("Exception in callback _SelectorTransport._call_connection_lost(None)", AttributeError("'NoneType' object")),
            ("Exception in callback Connection._next()", AttributeError("ours")),
        ):
            web._loop.call_soon_threadsafe(web._loop.call_exception_handler, {"message": message, "exception": error})


def test_requests_are_recorded_with_headers_and_times() -> None:
    clock = FakeClock(7.0)
    with SyntheticWeb(clock=clock) as web:
        web.host("a.localhost").page("/x")
        get(web, "a.localhost", "/x?q", User_Agent="larm/1")
        request = web.requests[0]
        assert (request.host, request.path, request.method, request.status) == ("a.localhost", "/x?q", "GET", 404)
        assert (request.started, request.ended) == (7.0, 7.0)
        assert request.headers["user-agent"] == "larm/1"
        assert request.headers["host"] == "a.localhost:1"


def test_fetched_counts_pages_that_were_served() -> None:
    with SyntheticWeb() as web:
        web.host("a.localhost").page("/")
        web.host("a.localhost").robots("")
        web.host("b.localhost").page("/x?y")
        for host, path in [
            ("a.localhost", "/"),
            ("a.localhost", "/robots.txt"),
            ("b.localhost", "/x?y"),
            ("a.localhost", "/no"),
        ] * 2:
            get(web, host, path)
        assert web.fetched() == Counter({"a.localhost/": 2, "b.localhost/x?y": 2})
        assert web.fetched("b.localhost") == {"b.localhost/x?y": 2}
        web.log.clear()
        assert web.fetched() == {}


def test_overlaps_are_seen_at_a_slow_host_only_where_they_are() -> None:
    with SyntheticWeb() as web:
        for name in ("a.localhost", "b.localhost"):
            web.host(name).delay = 0.05
            web.host(name).page("/")
        with Client(web) as one, Client(web) as two:
            one.send(("a.localhost", "/"))
            two.send(("b.localhost", "/"))
            one.read(10)
            two.read(10)
        assert (web.overlaps("a.localhost"), web.overlaps("b.localhost")) == (0, 0)
        web.host("a.localhost").add("/stall", stall(b"HTTP"))
        with Client(web) as one:
            one.send(("a.localhost", "/stall"))
            one.read(4)
            get(web, "a.localhost")
        assert web.overlaps("a.localhost") == 1


def test_closest_and_alternation() -> None:
    clock = FakeClock()
    with SyntheticWeb(clock=clock) as web:
        assert (web.closest("a.localhost"), web.alternation()) == (math.inf, 0.0)
        for host, wait in [
            ("a.localhost", 2.0),
            ("b.localhost", 1.0),
            ("a.localhost", 0.5),
            ("a.localhost", 9.0),
            ("b.localhost", 0.0),
        ]:
            get(web, host)
            clock.advance(wait)
        assert web.closest("a.localhost") == 0.5
        assert web.closest("b.localhost") == 10.5
        assert web.alternation() == 0.75


def test_sites_can_only_be_built_when_the_port_is_known() -> None:
    with pytest.raises(RuntimeError, match="inside `with`"):
        SyntheticWeb().host("a.localhost")
