"""Names of fields that users give to documents. Pure."""

import re
from collections.abc import Mapping

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def is_field_name(name: str) -> bool:
    """Lower-case letters, digits and underscores, a letter first, 40 characters at most."""
    return _NAME.fullmatch(name) is not None


def as_fields(said: object) -> dict[str, tuple[str, ...]]:
    """What a processor says, a text or several for each name. Raises TypeError where it is something else."""
    if not isinstance(said, Mapping):
        raise TypeError(f"fields: expected texts by name, got {said!r:.100}")
    found = {}
    for name, values in said.items():
        several = (values,) if isinstance(values, str) else tuple(values)
        if not isinstance(name, str) or not is_field_name(name) or not all(isinstance(each, str) for each in several):
            raise TypeError(f"fields: expected a name such as published_at, and texts, got {name!r:.50}: {values!r:.100}")
        found[name] = several
    return found
