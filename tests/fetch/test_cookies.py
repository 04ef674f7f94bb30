"""Cookies that are kept for further requests."""

from larm.fetch.cookies import CookieJar

PAGE = "http://a.localhost/board/topic"


def test_cookies_beyond_a_line_that_servers_take_are_not_kept_and_a_session_is_renewed() -> None:
    jar = CookieJar()
    jar.take(PAGE, [b"Set-Cookie: sid=first; path=/"])
    for number in range(1_000):
        jar.take(PAGE, [b"Set-Cookie: seen_topic_%08d=1; path=/" % number, b"Content-Type: text/html"])
    jar.take(PAGE, [b"set-cookie: sid=second; path=/"])
    sent = jar.header(PAGE)
    assert b"sid=second" in sent
    assert b"seen_topic_00000001=1" in sent
    assert len(sent) < 6_200


def test_cookies_of_one_response_and_of_other_paths_are_bounded() -> None:
    jar = CookieJar()
    jar.take(PAGE, [b"Set-Cookie: a%d=%s" % (number, b"x" * 500) for number in range(100)])
    assert 5_000 < len(jar.header(PAGE)) < 6_200
    for number in range(1_100):
        jar.take(f"http://a.localhost/{number}/", [b"Set-Cookie: b=1; path=/%d/" % number])
    assert jar.header("http://a.localhost/10/page") == b"Cookie: b=1"
    assert jar.header("http://a.localhost/1099/page") == b""
