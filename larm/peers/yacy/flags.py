"""What a peer says it does, in four characters of five bits each (YACY-17). Pure."""

import msgspec

_BITS = ("direct", "remote_crawl", "remote_index", "root", "ssl")
_CHARACTERS = 4
_FIRST = 32  # a space: nothing set


class Flags(msgspec.Struct, frozen=True):
    """Constant."""

    direct: bool = False
    """Had a direct connection."""
    remote_crawl: bool = False
    """Crawls for others."""
    remote_index: bool = False
    """Takes references of others."""
    root: bool = False
    """Its last ping took less than a second."""
    ssl: bool = False


def write_flags(flags: Flags) -> str:
    """Four characters."""
    value = sum(getattr(flags, name) << bit for bit, name in enumerate(_BITS))
    return "".join(chr(_FIRST + (value >> 5 * n & 31)) for n in range(_CHARACTERS))


def read_flags(text: str) -> Flags:
    """Bits that nobody knows are passed over; text that is none sets nothing."""
    values = [ord(character) - _FIRST for character in text[:_CHARACTERS]]
    if len(values) < _CHARACTERS or not all(0 <= value < 32 for value in values):
        return Flags()
    return Flags(**{name: bool(values[0] >> bit & 1) for bit, name in enumerate(_BITS)})
