"""All named webs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.webs.calendars import calendar_path, calendar_query, calendar_thin
from benchmarks.webs.catalogues import genealogy, own_words, parts, phone_directory, products, shop, stations
from benchmarks.webs.chinese import chinese_site
from benchmarks.webs.conversations import blog, forum, mailing_list
from benchmarks.webs.echoes import logins, print_views, redirects
from benchmarks.webs.facets import facets_path, facets_query
from benchmarks.webs.language_reference import language_reference
from benchmarks.webs.library_reference import library_reference
from benchmarks.webs.lists import pagination, sort_orders
from benchmarks.webs.manual_versions import manual_versions
from benchmarks.webs.mazes import deep_relative, session_path, session_query, soft_404
from benchmarks.webs.named import NamedWeb
from benchmarks.webs.reported import REPORTED, reported
from benchmarks.webs.repositories import one_path, repository
from benchmarks.webs.sequences import gallery, poems
from benchmarks.webs.tarpits import tarpit
from benchmarks.webs.wikis import wiki

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
