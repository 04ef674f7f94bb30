"""Contents: what the body of an item must be, and what it is found by. Pure."""

from larm.peers.yacy.chunk import BadChunkError, check_chunk, read_chunk, words_in
from larm.peers.yacy.hashes import packed
from larm.peers.yacy.item import Header, Kind
from larm.peers.yacy.page import BadPageError, place_of, read_page


def hashes_in(header: Header, body: bytes) -> list[bytes]:
    """What it is found by. Raises BadChunkError, BadPageError."""
    return [packed(read_page(body).hash)] if header.kind is Kind.PAGE else words_in(body)


def unfit(header: Header, body: bytes) -> str:
    """Why this body of somebody else's is not kept."""
    try:
        if header.kind is Kind.WORDS:
            check_chunk(read_chunk(body), header.first, header.last)
        elif header.first != header.last or header.first != place_of(read_page(body)):
            return "it lies elsewhere than it says"
    except (BadChunkError, BadPageError) as error:
        return str(error)
    return ""
