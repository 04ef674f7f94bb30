"""MailFilter: where a host is not in memory but has its turn some time, what is found of it waits on the disk till then.

It stands in every chain in front of the first filter that looks at the records of hosts, behind that which remembers URLs:
none waits twice. Runs on the handler thread. It drops nothing, and has no log of its own.
"""

from collections.abc import Sequence

from larm.frontier.hosts import HostBook
from larm.frontier.turns import Turns
from larm.kit.threads.tally import Tally
from larm.model.message import URLMessage
from larm.seams import Drop


class MailFilter:
    """Implements `larm.seams.Filter`. What waits here keeps the crawl going."""

    name = "mail"
    log_name = "filter_errors"

    def __init__(self, book: HostBook, turns: Turns, tally: Tally) -> None:
        # constant after construction
        self._book = book
        self._turns = turns
        self._tally = tally

    def sift(self, batch: Sequence[URLMessage], drop: Drop) -> list[URLMessage]:  # noqa: ARG002
        """See `larm.seams.Filter`."""
        if self._book.is_whole:
            return list(batch)
        passing: list[URLMessage] = []
        with self._book.lock:
            for message in batch:
                key = message.url.host
                if self._book.takes_mail_locked(key) and self._turns.places.stands(key):
                    self._book.mail.put(message)
                else:
                    passing.append(message)
        self._tally.rise(len(batch) - len(passing))  # the handler lets it fall by all that do not pass
        self._book.relieve()
        return passing

    def explain(self, message: URLMessage) -> None:
        """See `larm.seams.Filter`."""
