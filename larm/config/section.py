"""What all sections of config.yaml are made of."""

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Weight = Annotated[float, msgspec.Meta(ge=-1_000_000, le=1_000_000)]
Factor = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]  # an infinite one would stop a host for ever


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping of config.yaml."""
