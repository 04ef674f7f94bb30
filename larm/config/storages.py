"""Sections of config.yaml: where documents go, what a crawl may take of its machine, and what a revisit believes."""

from typing import Annotated

import msgspec

from larm.config.section import Positive, Section
from larm.kit.recurrence import Every
from larm.kit.units import ByteSize, Seconds, Share


class LimitsSettings(Section, frozen=True):
    """What a crawl may take of its machine."""

    memory: ByteSize | None = None  # of all its processes; None: half of what the machine, or its container, has, as the other
    # half is for files that the system keeps in memory, on which index and queues live, and for everybody else; 1.1 GB at most
    disk: ByteSize = ByteSize(200_000_000)  # left free on the disk of the crawl: what the last commit, and the merges and the
    # snapshot of the graph after it, write for some hundred thousand pages; 0: crawl till it is full
    bytes: ByteSize | None = None  # received in all runs of the directory; None: only the crawl's owner knows what a line costs

    def __post_init__(self) -> None:
        if self.bytes is not None and self.bytes < 1:
            raise ValueError("bytes: nothing can be crawled with 0; null sets no limit")


class Keep(Section, frozen=True):
    """Which versions of pages stay in the log storage; of a page that is not gone its last one always does. None: all."""

    versions: Positive | None = None  # of a page, as it is now included; of one that is gone, one less
    age: Seconds | None = None  # of what is not as it is now
    size: ByteSize | None = None  # of all page files together: of what is not as it is now, the oldest goes first


class LogSettings(Section, frozen=True):
    """store.log, links.log and the page files."""

    page_file_size: ByteSize = ByteSize(50_000_000)  # LARM-94
    compress: bool = True  # the page files: a fifth of the room, 2 to 5 us a KB; without, they are LARM's, to the byte
    keep: Keep = Keep()
    links: bool = True  # links.log, for other programs: 6.4 KB a page of 50 links; larm's own link graph takes a tenth of it


class Field(Section, frozen=True):
    """What becomes of a field of documents in the index (LARM-88)."""

    index: bool = True  # it is found by its whole value, field:value
    store: bool = True  # it is shown with results
    tokenise: bool = False  # it is found by each of its words, too


class IndexSettings(Section, frozen=True):
    """The full-text index."""

    commit_after: Seconds = Seconds(30)  # at the first checkpoint after a page has waited so long; 0: at each checkpoint
    text_size: ByteSize = ByteSize(20_000_000)  # text of a page that is indexed and kept for snippets: all that is fetched
    merge_duplicates: bool = True  # of pages with the same text index the first one
    fields: dict[str, Field] = {}  # of documents, by name, where they differ from the defaults


class WarcSettings(Section, frozen=True):
    """WARC files, where the storage ``warc`` is in the chain."""

    size: ByteSize = ByteSize(1_000_000_000)  # of a file, as the standard recommends


class StorageSettings(Section, frozen=True):
    """Where documents go: names of built-in storages, or ``package.module:Class`` of your own."""

    chain: tuple[str, ...] = ("log", "index", "graph")
    log: LogSettings = LogSettings()
    index: IndexSettings = IndexSettings()
    warc: WarcSettings = WarcSettings()


class RecrawlSettings(Section, frozen=True):
    """Revisiting a finished crawl."""

    every: Every | None = None  # larm serve starts it again so long after its last run, or at these times
    current: Seconds = Seconds(43_200)  # longest time for which a server is believed that a page is current (Cache-Control,
    # Expires), so that a revisit does not ask for it: who comes every day wants all of it, who comes hourly what may be new
    share: Share = Share(1)  # of the pages, those that have most likely changed; the larger it is, the less has to be guessed
    give_up: Seconds = Seconds(30 * 86_400)  # how long a page may fail to be reached, in 5 revisits at least
    most_gone: Annotated[float, msgspec.Meta(ge=0, le=1)] = (
        0.5  # share of a host's pages forgotten at once; 1: believe anything
    )
