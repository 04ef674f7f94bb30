"""Names of the files of an archive: which ones in ``warc/`` are larm's."""

import re
from typing import Final

FOLDER: Final = "warc"
"""In a crawl's directory."""
PAYLOADS: Final = "payloads.db"
"""The table of what is in the archive, among the queues."""
OPEN: Final = ".open"
"""The end of the name of a file that is being written."""
OURS: Final = re.compile(r"(larm-\d{17}-\d{5,})(?:(\.warc\.(?:gz|zst))|\.cdxj)(?:\.open)?")
