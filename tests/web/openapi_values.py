"""Questions made of an OpenAPI description, for `hypothesis`: what it allows, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

Values = st.SearchStrategy[Any]
NONSENSE: Values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_ODD = ["", "..", "/etc/passwd", "%00", "\x00", "\ud800", "a" * 5_000, "tide", "site:", '"', "harbour", "http://a.org/", "*["]
_TEXTS = st.text(max_size=30) | st.sampled_from(_ODD)


def allowed(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Values:
    """Values that a schema describes."""
    if "$ref" in schema:
        return allowed(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if choices := schema.get("anyOf"):
        return st.one_of(*(allowed(each, schemas) for each in choices))
    match schema.get("type"):
        case "string":
            return _TEXTS.map(lambda text: text[: schema.get("maxLength", 5_000)])
        case "integer":
            return st.integers(schema.get("minimum", -(2**63)), schema.get("maximum", 2**63))
        case "number":
            return st.floats(schema.get("minimum", -1e300), schema.get("maximum", 1e300), allow_nan=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            return st.lists(allowed(schema.get("items") or {}, schemas), max_size=3)
        case "object":
            fields = {name: allowed(each, schemas) for name, each in schema.get("properties", {}).items()}
            needed = set(schema.get("required", ()))
            return st.fixed_dictionaries(
                {name: each for name, each in fields.items() if name in needed},
                optional={name: each for name, each in fields.items() if name not in needed},
            )
    return NONSENSE


def parameters(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Values:
    """Of a question in an address: each may be there, be another thing, or be there twice."""
    described = operation.get("parameters", ())
    names = st.sampled_from([each["name"] for each in described]) if described else st.nothing()
    fit = {each["name"]: allowed(each["schema"], schemas) for each in described}
    right = st.fixed_dictionaries({}, optional=fit).map(_pairs)
    wrong = st.lists(st.tuples(names | st.text(max_size=8), _TEXTS), max_size=4)
    return right | wrong if described else wrong


def body(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Values:
    """Of a question that is posted."""
    return allowed(operation["requestBody"]["content"]["application/json"]["schema"], schemas) | NONSENSE


def _pairs(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs = []
    for name, value in values.items():
        each = value if isinstance(value, list) else [value]
        pairs += [(name, str(one).lower() if isinstance(one, bool) else str(one)) for one in each]
    return pairs
