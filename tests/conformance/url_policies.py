"""Which policies of crawler-commons' normaliser and of w3lib larm shares, where it differs, and why. See docs/crawling.rst.

A policy: (what, an address, what it is the same as, does larm agree, why not). The tests of `test_urls` hold larm to it, and to
the exact set of cases of the two suites that follow from what is not shared.
"""

from __future__ import annotations

from typing import NamedTuple


class Policy(NamedTuple):
    """One decision about addresses."""

    what: str
    one: str
    other: str
    shared: bool = True
    why: str = ""


SERVER = "a server may answer differently: what is only perhaps the same is fetched"
POLICIES = [
    Policy("upper case in scheme and host", "HTTP://Foo.COM/a", "http://foo.com/a"),
    Policy("the default port", "https://foo.com:443/a", "https://foo.com/a"),
    Policy("an empty path", "http://foo.com", "http://foo.com/"),
    Policy("dot segments", "http://foo.com/a/../b/./c", "http://foo.com/b/c"),
    Policy("empty segments", "http://foo.com//a///b", "http://foo.com/a/b"),
    Policy("a fragment", "http://foo.com/a#b", "http://foo.com/a"),
    Policy("space around it, tabs and line ends in it", " http://foo.com/a\n\tb ", "http://foo.com/ab"),
    Policy("escapes of unreserved characters", "http://foo.com/%7Ea%62c", "http://foo.com/~abc"),
    Policy("escapes in lower case", "http://foo.com/%c3%a9", "http://foo.com/%C3%A9"),
    Policy("raw characters outside ASCII", "http://foo.com/\u00e9 x", "http://foo.com/%C3%A9%20x"),
    Policy("IDNs", "http://b\u00fccher.de/", "http://xn--bcher-kva.de/"),
    Policy("escapes in the host", "http://foo%2Ecom/", "http://foo.com/"),
    Policy("credentials (crawler-commons keeps them)", "http://me:pw@foo.com/", "http://foo.com/"),
    Policy("an empty query", "http://foo.com/a?", "http://foo.com/a"),
    Policy("index.html (not in these two)", "http://foo.com/a/index.html", "http://foo.com/a/"),
    Policy("a point behind the host (not in these two)", "http://foo.com./a", "http://foo.com/a"),
    Policy("escapes of reserved characters", "http://foo.com/a%2Fb?c%26d", "http://foo.com/a/b?c&d", False, SERVER),
    Policy("the order of parameters", "http://foo.com/?b=1&a=2", "http://foo.com/?a=2&b=1", False, SERVER),
    Policy("parameters without a value", "http://foo.com/?a=1&b=", "http://foo.com/?a=1&b", False, SERVER),
    Policy("an empty parameter", "http://foo.com/?a=1&", "http://foo.com/?a=1", False, SERVER),
    Policy("www", "http://www.foo.com/", "http://foo.com/", False, SERVER + "; the host resolver can say so"),
    Policy("https", "https://foo.com/", "http://foo.com/", False, SERVER),
    Policy("upper case in the path", "http://foo.com/A", "http://foo.com/a", False, SERVER + "; urls.lowercase_path"),
    Policy("a slash at the end", "http://foo.com/a/", "http://foo.com/a", False, SERVER),
]

SCHEME, NO_HOST, QUERY = "larm fetches only http and https", "an address without a host", SERVER
CRAWLER_COMMONS = {
    "file:///foo/bar.txt": SCHEME,
    "ftp:/": SCHEME,
    "ftp://foo.com/index.html": SCHEME,
    "file:/path/index.html": SCHEME,
    "file:/var/www/html/////./bar/index.html": SCHEME,
    "file:/var/www/html/foo/../bar/index.html": SCHEME,
    "http:////": NO_HOST,
    "http:///////": NO_HOST,
    "http://example.com/?b=1&a=1": QUERY,
    "http://foo.com/foo.html?b=1&a=1": QUERY,
    "http://foo.com/index?b=2&a=1": QUERY,
    "http://foo.com/index?b=2&a=1#c": QUERY,
    "http://foo.com/index?a=1&b=": QUERY,
    "http://foo.com/index?b&a=1": QUERY,
    "http://foo.com/index?b=&a=1": QUERY,
    "http://foo.com/index?b=1&a=1&": QUERY,
    "http://foo.com/index?&b=1&a=1": QUERY,
    "http://foo.com/index?&=1&a=1": QUERY,
    "http://foo.com/index?=1&b=1&a=1": QUERY,
}
"""Cases whose two spellings are not one URL to larm. All others are: compared after larm's normalisation of both sides, because
larm escapes more (``( ) , : ! * ~``, ``/`` in a query, ``+`` as ``%20``) and drops ``index.html``."""

PARAMETERS = "a helper for parameters: it says nothing of what is the same"
W3LIB_NO_COUNTERPART = {
    "url_query_cleaner": PARAMETERS,
    "url_query_parameter": PARAMETERS,
    "add_or_replace_parameter": PARAMETERS,
    "replace_entities": "the HTML parser does it",
    "remove_tags": "the HTML parser does it",
    "remove_tags_with_content": "the HTML parser does it",
    "remove_comments": "the HTML parser does it",
    "replace_tags": "the HTML parser does it",
    "replace_escape_chars": "the HTML parser does it",
    "unquote_markup": "the HTML parser does it",
}
