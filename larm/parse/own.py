"""as_document: what a processor of the user's returned, as a Document on which the rest of a crawl can rely.

ByMime calls it, on the fetcher threads. Structs do not look at what they are made of, so a title that is None would end the
thread that first measures it; here it costs the one page.
"""

import msgspec

from larm.model.document import Document
from larm.model.links import Links
from larm.model.own_fields import as_fields


def as_document(returned: object) -> Document:
    """A Document may have a tuple of `Link` as its links, and lists in place of tuples. Raises TypeError on what is none."""
    if not isinstance(returned, Document):
        raise TypeError(f"process returned {returned!r:.100}, expected a Document")
    said = msgspec.structs.asdict(returned)
    said["fields"] = as_fields(said["fields"])
    if not isinstance(said["links"], Links):
        said["links"] = Links.of(said["links"])
    try:
        return msgspec.convert(said, Document)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise TypeError(f"Document.{where.rstrip('`')}: {what}") from None
