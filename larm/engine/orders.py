"""Orders: what a running crawl may be asked to do, as it stands in the journal and goes over the control socket. Values."""

import msgspec


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="order", tag=str.lower):
    """Base of all."""


class Add(Order, frozen=True):
    """URLs for the crawl; they pass all filters, like links of a start page."""

    urls: tuple[str, ...]


class Pause(Order, frozen=True):
    """Nothing is asked for any more, until `Resume`; what is in the air lands."""


class Resume(Order, frozen=True):
    """The inverse of `Pause`."""


class Set(Order, frozen=True):
    """Another value of a setting; which may change is in `larm.engine.limits`."""

    key: str
    value: str
    """YAML, as behind ``-s``."""


class Block(Order, frozen=True):
    """A host is not asked any more, in this and later runs, until `Unblock`."""

    host: str


class Unblock(Order, frozen=True):
    """The inverse of `Block`."""

    host: str


class Reopen(Order, frozen=True):
    """What a pattern of addresses holds back is asked for after all, when its host has nothing else to do."""

    pattern: str
    """As the traps filter names it: ``/calendar/0/0``."""
    host: str = ""
    """Empty: at all hosts that hold something back by it."""


class Deliver(Order, frozen=True):
    """Something for a part of the crawl that is no order of a person's; it stands in the journal only."""

    to: str
    """One of `larm.engine.steering.Steering.recipients`."""
    data: bytes


AnyOrder = Add | Pause | Resume | Set | Block | Unblock | Reopen


class Refused(msgspec.Struct, frozen=True):
    """A URL that was not added."""

    url: str
    why: str


class Done(msgspec.Struct, frozen=True):
    """The order is in the journal: it holds, also after a kill."""

    says: str
    """A sentence for a person."""
    refused: tuple[Refused, ...] = ()
