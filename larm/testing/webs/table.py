"""All named webs."""

from collections.abc import Callable
from functools import partial

from larm.testing.webs.calendars import calendar_path, calendar_query, calendar_thin
from larm.testing.webs.catalogues import genealogy, own_words, parts, phone_directory, products, shop, stations
from larm.testing.webs.chinese import chinese_site
from larm.testing.webs.conversations import blog, forum, mailing_list
from larm.testing.webs.echoes import logins, print_views, redirects
from larm.testing.webs.facets import facets_path, facets_query
from larm.testing.webs.language_reference import language_reference
from larm.testing.webs.library_reference import library_reference
from larm.testing.webs.lists import pagination, sort_orders
from larm.testing.webs.manual_versions import manual_versions
from larm.testing.webs.mazes import deep_relative, session_path, session_query, soft_404
from larm.testing.webs.named import NamedWeb
from larm.testing.webs.reported import REPORTED, reported
from larm.testing.webs.repositories import one_path, repository
from larm.testing.webs.sequences import gallery, poems
from larm.testing.webs.tarpits import tarpit
from larm.testing.webs.wikis import wiki

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
