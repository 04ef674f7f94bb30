"""Where redirects lead in the end, by what the page book has of them. Pure; for ``larm links`` and ``larm why``."""

from collections.abc import Callable

from larm.store.pages.page_row import Answer


def end_of(answer: Answer, answer_at: Callable[[str], Answer | None]) -> tuple[Answer | None, str]:
    """What was answered where the redirects end, None: nothing is known; and its address, empty: ``answer`` is no redirect.

    An answer that moved on ends nowhere: a circle. ``answer_at``: that of an address, in access form.
    """
    address, passed = "", set[str]()
    found: Answer | None = answer
    while found is not None and found.moved and not found.why and found.moved not in passed:
        address = found.moved
        passed.add(address)
        found = answer_at(address)
    return found, address
