"""Where larm ends otherwise than the HTTP suites expect, and why that is right."""

CURL_NO_PAGE = {
    1591: "half an answer, from a test of PUT: its head has no end, so nobody knows whether it is one",
    3025: "ICY instead of HTTP: an option of curl's for radio streams, off there by default, too",
    3035: "a download in two halves, both cut short: curl was told to glue them; a page in halves is asked for again",
}
"""Cases of curl whose answers count as pages there, though larm records a failure."""

LLHTTP_FAILURES = ("sample-3", "sample-16", "transfer-encoding-1", "content-length-2", "connection-9")
"""Answers that llhttp refuses and that must not become a page here either.

Of the others that it refuses libcurl takes some: a bare line feed, a space before a colon, digits of a version that nobody has
heard of. A parser between a client and a server must be strict about them, since two that disagree can be played off against
each other; at the end of the line there is nobody to disagree with, and browsers take them as well.
"""
