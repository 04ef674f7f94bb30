"""Files filter: of file: URLs, only those in a start folder that are wanted (LARM-111). Handler thread; pure."""

from larm.filters.chain import MessageFilter
from larm.model.file_rules import FileRules
from larm.model.file_url import FILES, file_path
from larm.model.message import URLMessage


class FilesFilter(MessageFilter):
    """Addresses on the web pass. The fetcher asks the rules again, as the order of the chain is the user's."""

    name = "files"

    def __init__(self, rules: FileRules) -> None:
        # constant after construction
        self._rules = rules

    def judge(self, message: URLMessage) -> str | None:
        """See `MessageFilter`."""
        return self._rules.refusal(file_path(message.url.access)) if message.url.host == FILES else None
