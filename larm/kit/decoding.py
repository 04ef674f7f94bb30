"""decoded: what somebody else has sent as a value of a type, or one kind of error, whatever it is. Pure.

msgspec itself has a RecursionError for lists in lists without end, which nobody expects who expects what is malformed.
"""

from typing import TypeVar

import msgspec

T = TypeVar("T")


def decoded(data: bytes, kind: type[T]) -> T:
    """Of JSON. Raises msgspec.MsgspecError."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None


def decoded_msgpack(data: bytes, kind: type[T]) -> T:
    """Of msgpack. Raises msgspec.MsgspecError."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None


_TOO_DEEP = "it is nested too deeply"
