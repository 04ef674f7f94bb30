"""Files filter: of file: URLs, only those in a start folder that are wanted (LARM-111). Handler thread; pure."""

from __future__ import annotations

from collections.abc import Sequence

from larm.model.file_rules import FileRules
from larm.model.file_url import FILES, file_path
from larm.model.message import URLMessage
from larm.seams import Drop


class FilesFilter:
    """Addresses on the web pass. The fetcher asks the rules again, as the order of the chain is the user's."""

    name = "files"
    log_name = "FilesFilter"

    def __init__(self, rules: FileRules) -> None:
        # constant after construction
        self._rules = rules

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:
        """See `larm.seams.Filter`."""
        passing: list[URLMessage] = []
        for message in batch:
            reason = self.explain(message)
            if reason is None:
                passing.append(message)
            else:
                drop([message], reason)
        return passing

    def explain(self, message: URLMessage) -> str | None:
        """See `larm.seams.Filter`."""
        return self._rules.refusal(file_path(message.url.access)) if message.url.host == FILES else None
