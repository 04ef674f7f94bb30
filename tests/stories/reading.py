"""Read 20 pages of a manual, each so many times: ``python -m tests.stories.reading TIMES``. Run by ``test_costs``."""

import sys

from larm.config import Config
from larm.model.link_memo import LinkMemo
from larm.model.message import URLMessage
from larm.model.outcome import Fetched, Timing
from larm.model.url import URLNormalizer
from larm.parse.by_mime import processors
from tests.stories.manual_pages import page

PAGES = 20


def main(times: int) -> None:
    """Read them."""
    normalizer = URLNormalizer()
    read = processors(LinkMemo(normalizer), Config().processing)
    pages = []
    for number in range(PAGES):
        body = f"<!DOCTYPE html><html><head><title>{number}</title></head><body>{page(number, 1_000)}</body></html>".encode()
        fetched = Fetched(200, {"content-type": "text/html; charset=utf-8"}, body, Timing(0.01, len(body)))
        pages.append((URLMessage(normalizer.parse(f"http://manual.localhost/{number}.html")), fetched))
    for _ in range(times):
        for message, fetched in pages:
            read.process(message, fetched)


if __name__ == "__main__":
    main(int(sys.argv[1]))
