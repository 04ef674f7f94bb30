"""The bad manners of synthetic hosts, as they look to the client."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import zlib
from collections.abc import Iterator

import pytest

from larm.testing import replies
from larm.testing.replies import Reply
from larm.testing.web import SyntheticWeb
from tests.support import bad_replies
from tests.testing.client import Client, get


@contextlib.contextmanager
def serve(reply: Reply) -> Iterator[SyntheticWeb]:
    with SyntheticWeb() as web:
        web.host("a.localhost").add("/", reply)
        yield web


def test_a_stalling_host_sends_its_beginning_and_no_more() -> None:
    with serve(bad_replies.stall(b"HTTP/1.1 200 OK\r\n")) as web, Client(web) as client:
        client.send(("a.localhost", "/"))
        assert client.read(17) == b"HTTP/1.1 200 OK\r\n"
        client.socket.settimeout(0.02)
        with pytest.raises(TimeoutError):
            client.socket.recv(1)
        assert web.requests[0].ended == float("inf")


def test_a_stalled_request_ends_when_the_client_hangs_up() -> None:
    with serve(bad_replies.stall()) as web:
        with Client(web) as client:
            client.send(("a.localhost", "/"))
            assert get(web, "b.localhost")[0] == 404  # the server has seen both: it has one thread
        while web.requests[0].ended == float("inf"):
            get(web, "b.localhost")
        assert web.requests[0].status == 0


def test_a_reset_connection() -> None:
    with serve(bad_replies.reset()) as web, Client(web) as client:
        client.send(("a.localhost", "/"))
        with pytest.raises(ConnectionResetError):
            client.read(1)


def test_half_a_body() -> None:
    with serve(bad_replies.half(b"0123456789")) as web:
        with pytest.raises(http.client.IncompleteRead) as caught:
            get(web, "a.localhost")
        assert web.fetched() == {}
    assert caught.value.partial == b"01234"


@pytest.mark.parametrize("reply", [bad_replies.endless_body(), bad_replies.endless_headers()])
def test_endless_answers_go_on_until_the_client_hangs_up_and_others_are_served_meanwhile(reply: Reply) -> None:
    with serve(reply) as web, Client(web) as client:
        client.send(("a.localhost", "/"))
        assert len(client.read(5_000_000)) == 5_000_000
        assert get(web, "b.localhost")[0] == 404
        client.socket.close()
        while web.requests[0].ended == float("inf"):
            get(web, "b.localhost")


def test_a_well_packed_page() -> None:
    with serve(bad_replies.zipped(b"<title>packed</title>")) as web:
        _, headers, body = get(web, "a.localhost")
        assert headers["content-encoding"] == "gzip"
        assert gzip.decompress(body) == b"<title>packed</title>"


def test_broken_gzip_begins_as_gzip() -> None:
    body = bad_replies.broken_gzip().body
    assert zlib.decompressobj(31).decompress(body[:15]) is not None
    with pytest.raises((zlib.error, EOFError)):
        gzip.decompress(body)


def test_a_gzip_bomb_is_valid_and_small() -> None:
    body = bad_replies.gzip_bomb(5).body
    assert len(body) < 10_000
    assert gzip.decompress(body) == bytes(5_000_000)


def test_nul_and_huge_pages() -> None:
    assert bad_replies.nul_page(10).body == bytes(10)
    assert 990_000 < len(bad_replies.huge_page(1_000_000).body) < 1_010_000
    with serve(bad_replies.huge_page(3_000_000)) as web:
        assert len(get(web, "a.localhost")[2]) == len(bad_replies.huge_page(3_000_000).body)


def test_drops_of_a_slow_host_come_one_by_one() -> None:
    with serve(Reply(body=b"x" * 50, piece=20, pause=0.001)) as web:
        assert get(web, "a.localhost")[2] == b"x" * 50
        assert web.requests[0].ended >= web.requests[0].started + 0.0039


def test_a_delayed_answer() -> None:
    with serve(replies.html("late", delay=0.03)) as web:
        web.host("a.localhost").delay = 0.03
        assert get(web, "a.localhost")[2] == b"late"
        assert web.requests[0].ended - web.requests[0].started > 0.055


def test_a_raw_answer_is_sent_as_it_is_and_ends_with_the_connection() -> None:
    with SyntheticWeb() as web, Client(web) as client:
        web.host("a.localhost").raw("/", b"HTTP/0.9 what?\n")
        client.send(("a.localhost", "/"))
        assert client.read_all() == b"HTTP/0.9 what?\n"


def test_an_unfinished_transfer_does_not_hold_up_the_end_of_the_web() -> None:
    with serve(bad_replies.endless_body()) as web, Client(web) as client:
        client.send(("a.localhost", "/"))
        client.read(10)
        web.stop()
