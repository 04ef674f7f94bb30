"""All named webs."""

from collections.abc import Callable
from functools import partial

from tests.support.webs.calendars import calendar_path, calendar_query, calendar_thin
from tests.support.webs.catalogues import genealogy, own_words, parts, phone_directory, products, shop, stations
from tests.support.webs.chinese import chinese_site
from tests.support.webs.conversations import blog, forum, mailing_list
from tests.support.webs.echoes import logins, print_views, redirects
from tests.support.webs.facets import facets_path, facets_query, tag_cloud
from tests.support.webs.language_reference import language_reference
from tests.support.webs.library_reference import library_reference
from tests.support.webs.lists import pagination, sort_orders
from tests.support.webs.manual_versions import manual_versions
from tests.support.webs.mazes import deep_relative, session_path, session_query, soft_404
from tests.support.webs.named import NamedWeb
from tests.support.webs.reported import REPORTED, reported
from tests.support.webs.repositories import one_path, repository
from tests.support.webs.sequences import gallery, poems
from tests.support.webs.tarpits import tarpit
from tests.support.webs.wikis import wiki

SITES: dict[str, Callable[..., NamedWeb]] = {
    "language": language_reference,
    "library": library_reference,
    "versions": manual_versions,
    "parts": parts,
    "products": products,
    "stations": stations,
    "own-words": own_words,
    "forum": forum,
    "mailing-list": mailing_list,
    "blog": blog,
    "gallery": gallery,
    "poems": poems,
    "wiki": wiki,
    "chinese": chinese_site,
    "phones": phone_directory,
    "genealogy": genealogy,
    "shop": shop,
}
"""Webs that end, by name: called with the number of their pages (of a version, for a manual of three), or without."""
TRAPS: dict[str, Callable[..., NamedWeb]] = {
    "calendar-path": calendar_path,
    "calendar-query": calendar_query,
    "calendar-thin": calendar_thin,
    "deep-relative": deep_relative,
    "soft-404": soft_404,
    "session-path": session_path,
    "session-query": session_query,
    "rotating": partial(session_query, rotating=True),
    "facets-query": facets_query,
    "facets-path": facets_path,
    "tag-cloud": tag_cloud,
    "pagination": pagination,
    "sort-orders": sort_orders,
    "print-views": print_views,
    "redirects": redirects,
    "logins": logins,
    "repository": repository,
    "one-path": one_path,
    "tarpit": tarpit,
    **{f"reported-{kind}": partial(reported, kind) for kind in REPORTED},
}
"""Webs that don't, by name: called with the number of their articles, or without."""
WEBS = SITES | TRAPS
