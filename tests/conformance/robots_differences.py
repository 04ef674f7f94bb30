"""Where larm decides otherwise than a public robots.txt suite, and why. Every entry is (name of the test, agent, URL)."""

from __future__ import annotations

RFC_ENCODING = """RFC 9309 2.2.2 compares after percent-encoding what is not ASCII and decoding what needs no encoding; its own
table of examples says that /foo/bar/%62%61%7A matches /foo/bar/baz. Google's library wants a URL that is encoded already."""
MORE_THAN_RFC = """Google reads ``Allow: /x/index.html`` as ``/x/`` too. RFC 9309 does not, and it would let us in where we are
not wanted."""
MARKUP = """A robots.txt with ``<BR>`` behind each rule: RFC 9309 has no markup, so ``/<BR>`` is a path that no URL has."""
TOKEN = """RFC 9309 2.2.1 allows a product token letters, ``_`` and ``-``; larm's configuration allows no others."""
OTHER_RECORDS = """RFC 9309 2.2.4: an unknown record must not end a group, so the two User-agent lines around it share the
rules. Protego lets it."""
DOLLAR = """RFC 9309 2.2.3: ``$`` at the end is the end of the path, nothing else. Protego takes it as a dollar sign as well."""

GOOGLE = {
    ("ID_Encoding", "FooBot", "http://foo.bar/foo/bar/ツ"): RFC_ENCODING,
    ("ID_Encoding", "FooBot", "http://foo.bar/foo/bar/baz"): RFC_ENCODING,
    ("GoogleOnly_IndexHTMLisDirectory", "foobot", "http://foo.com/allowed-slash/"): MORE_THAN_RFC,
}
CRAWLER_COMMONS = {
    ("SimpleRobotRulesParserTest.testHtmlMarkupInRobotsTxt", "bogusbot", "http://www.domain.com/index.html"): MARKUP,
}
PROTEGO = {
    ("test_unicode_url_and_useragent", "UnicödeBöt", "https://site.local/admin/"): TOKEN,
    ("test_unicode_url_and_useragent", "UnicödeBöt", "https://site.local/some/randome/page.html"): TOKEN,
    ("test_unicode_url_and_useragent", "jävla-foobot", "/foo/bar.html"): TOKEN,
    ("test_unicode_url_and_useragent", "Mozilla/5.0 (compatible; Львів-bot/1.1)", "/totalitarianism/foo.htm"): TOKEN,
    ("test_grouping_unknown_keys", "agent", "/foo"): OTHER_RECORDS,
    ("test_grouping_unknown_keys", "agent", "/foobar"): OTHER_RECORDS,
    ("test_grouping_unknown_keys", "agent", "/content/2"): OTHER_RECORDS,
    ("test_special_symbols_dual_behaviour", "FooBot", "http://foo.bar/x/abc$"): DOLLAR,
    ("test_special_symbols_dual_behaviour", "FooBot", "http://foo.bar/x/abc%24"): DOLLAR,
}
"""robots-real: of the decisions that differ, some are RFC_ENCODING (``{`` against ``%7B``, ``%7b`` against ``%7B``), one is
/robots.txt itself, which RFC 9309 always allows, and some are a no-break space behind ``*``: a slip, we take it as ``*``."""

SITEMAPS = {
    "SimpleRobotRulesParserTest.testSitemap": "a bare URL on a line is no Sitemap record",
    "SimpleRobotRulesParserTest.testRelativeSitemap": "sitemaps are kept as written; who fetches them resolves them",
}
