"""Traps after addresses that crawls of whole sites have met: of forums, blogs, wikis, repositories of documents.

The forms are those of ArchiveTeam's lists of what to ignore (ArchiveBot, MIT): a list is a host, which answers all addresses of
its forms with hardly any text, and leads to ten further ones.
"""

import re

from tests.support.webs.articles import Articles
from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page
from tests.support.webs.words import chance, hashed

REPORTED = {
    "forum": [
        "/viewtopic.php?f=#&t=#&p=#", "/viewtopic.php?t=#&view=next", "/viewtopic.php?t=#&view=previous", "/showpost.php?p=#",
        "/showthread.php?t=#&goto=newpost", "/index.php?topic=#.#;prev_next=next", "/index.php?action=profile;u=#;sort=posts",
        "/posting.php?mode=reply&t=#", "/misc.php?do=whoposted&t=#", "/forumdisplay.php?f=#&sort=views&page=#",
        "/index.php?action=calendar;year=#;month=#", "/posts/#/share",
    ],
    "blog": [
        "/#/#/post/?replytocom=#", "/#/#/post/?share=twitter&nb=#", "/search?updated-max=#&max-results=#&reverse-paginate=true",
        "/archive?toggle=MONTHLY-#", "/jetpack-comment/?c=#", "/tag/t#/page/#/", "/#/post/quote-comment-#/",
    ],
    "wiki": [
        "/index.php?title=P#&oldid=#", "/index.php?title=P#&diff=#&oldid=#", "/index.php?title=P#&action=history&offset=#",
        "/index.php?title=Special:RecentChanges&from=#&days=#", "/index.php?title=P#&action=edit&section=#",
        "/wiki/Special:WhatLinksHere/P#?limit=#", "/index.php?title=Special:Log&user=U#&page=P#",
    ],
    "documents": [
        "/discover?filtertype_1=author&filter_1=#&filtertype_2=subject&filter_2=#", "/search-filter?filtertype_0=title&field=#",
        "/simple-search?filter_type=author&author_page=#", "/browse?type=dateissued&starts_with=#", "/recent?dateIssued_page=#",
    ],
    "repeated": [
        "/images/#/images/#/images/", "/news/#/news/news/#/", "/css/css/img/#/img/", "/a/#/%25252525#/", "/page/#/amp;amp;#",
    ],
}  # fmt: skip
"""By host: forms of addresses, with ``#`` for a number."""
_NUMBERS = 10**6


def reported(kind: str, articles: int = 150) -> NamedWeb:
    """The trap of one of the lists."""
    mixed = Articles(f"reported-{kind}.localhost", articles)
    forms = REPORTED[kind]
    known = re.compile("|".join(re.escape(each).replace(r"\#", "[0-9]+") for each in forms))

    def answers(_: str, target: str) -> Answer:
        if target == "/":
            return Page("Archive", "An archive of everything.", [*mixed.home, *_links(forms, target)])
        if not known.fullmatch(target):
            return mixed.page(target) or NOTHING
        # the trap can't say how deep it is, as its addresses have no depth
        return Page(
            "Archive of everything",
            f"No entries for {target}.",
            [*_links(forms, target), *mixed.shown(target, hashed(target) % 5)],
        )

    return mixed.web(answers, within=articles * 10 + 1_000, budget=12)


def _links(forms: list[str], target: str) -> list[str]:
    draw = chance("forms", target)
    return [re.sub("#", lambda _: str(draw.randrange(_NUMBERS)), form) for form in draw.choices(forms, k=10)]
