"""Sections of config.yaml: transfers, and what is read of what they bring."""

from typing import Annotated, Literal

import msgspec

from larm.config.section import Count, Positive, Section
from larm.kit.units import ByteSize, Seconds


class PageRules(Section, frozen=True):
    """What to take of the pages of a site, by CSS selectors; empty ones change nothing."""

    when: str = ""  # only of pages that have such an element; empty: of all
    title: str = ""  # the text of the first one
    main: str = ""  # the main text: that of all of them
    without: str = ""  # what is no text of the page; links in it are followed all the same
    fields: dict[str, str] = {}  # fields of the document by name; ::attr(NAME) behind a selector is an attribute, not the text


class FetchSettings(Section, frozen=True):
    """Transfers."""

    threads: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = (
        2  # one does what it can before the next begins; 16 halve the speed (the GIL)
    )
    transfers: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = (
        128  # at a time in each thread: 500 pages/s of hosts that take .5 s
    )
    timeout: Seconds = Seconds(75)  # a whole request (LARM-15)
    page_size: ByteSize = ByteSize(20_000_000)  # decoded bytes of a body; real index pages have up to 13 MB (LARM: 2 MB)
    document_size: ByteSize = ByteSize(50_000_000)  # the same of PDF and office files: one that is cut can't be read at all
    ip: Literal["any", "4", "6"] = "any"  # "4" where a dead resolver makes AAAA look-ups slow
    insecure_hosts: tuple[str, ...] = ()  # an appliance with a certificate of its own; "all": check none


class DocumentsSettings(Section, frozen=True):
    """PDF, books (EPUB) and office files, which are read in processes of their own."""

    processes: Count = 2  # one that hangs must not stop the others; 0: such files are stored and not read
    timeout: Seconds = Seconds(10)  # most take less than one; a crawl that is stopped waits for those that are being read
    memory: ByteSize = ByteSize(400_000_000)  # address space of each; most files need 60 MB


class ProcessingSettings(Section, frozen=True):
    """From bytes to documents."""

    parser: Literal["lexbor", "html5lib"] = "lexbor"  # the same algorithm, lexbor 60 times as fast
    follow_embedded: bool = False  # also fetch images, style sheets and scripts (they are in links.log anyway)
    srcset: bool = False  # the same images again, in other sizes: five times as many links on many a page
    nofollow: bool = True  # obey rel=nofollow and meta robots
    strict_sitemaps: bool = False  # a sitemap speaks only for what is below its directory; the filters bound it anyway
    documents: DocumentsSettings = DocumentsSettings()
    processes: Count | None = None  # that read pages beside the crawl; None: one for each core but one, at most 3
    links: Positive = 150_000  # of a page: real ones have up to 83,000; each new one takes 1.3 KB of the crawl's memory at once
    effort: Positive = 1  # times the work that markup may make; 1: ten times what that of the worst real page makes
    by_mime: dict[str, str] = {}  # MIME type -> ``package.module:Class`` of a processor of your own
