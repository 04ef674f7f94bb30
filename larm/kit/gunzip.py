"""unpack: what is within gzip, of any bytes, within a limit. Pure; any thread."""

import zlib
from contextlib import suppress
from typing import Any, Final

MEMBERS: Final = 10_000
"""That are read at most, if nothing else is said: they may be empty."""
_SLICE: Final = 1 << 16
MORE: Final = "more than"
"""How the warning begins where there is more than was unpacked."""


def unpack(body: bytes, limit: int, most: int = MEMBERS) -> tuple[bytes, str]:
    """(what is within, as far as it can be had; a warning or nothing). Several members in a row are one file (RFC 1952 2.2),
    ``most`` of them."""
    pieces: list[bytes] = []
    left, at, members = limit, 0, 0
    while at < len(body) and left > 0 and members < most:
        reader = zlib.decompressobj(wbits=31)
        begin = at
        while not reader.eof and at < len(body) and left > 0:  # in slices: what is behind the end of a member is copied
            piece = body[at : at + _SLICE]
            at += len(piece)
            before = reader.copy()
            try:
                pieces.append(reader.decompress(piece, left))
            except zlib.error as error:
                if members and not body.startswith(b"\x1f\x8b", begin):
                    return b"".join(pieces), ""  # padding
                return b"".join([*pieces, _beginning(before, piece, left)]), f"broken gzip: {error}"
            left -= len(pieces[-1])
        if not reader.eof:
            return b"".join(pieces), f"{MORE} {limit} bytes in gzip" if left <= 0 else "gzip ends too early"
        at -= len(reader.unused_data)
        members += 1
    return b"".join(pieces), f"{MORE} {members} members in gzip" if members == most and at < len(body) else ""


def _beginning(reader: Any, piece: bytes, left: int) -> bytes:
    """What there is of a piece before its error: that may be no more than a wrong check sum at the end."""
    found = bytearray()
    with suppress(zlib.error):
        for place in range(len(piece)):
            found += reader.decompress(piece[place : place + 1], left - len(found))
            if len(found) >= left:
                break
    return bytes(found)
