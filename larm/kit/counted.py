"""counted: a number and what it is of, for sentences. Pure."""


def counted(number: int, noun: str) -> str:
    """``1 page``, ``1,234 pages``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
