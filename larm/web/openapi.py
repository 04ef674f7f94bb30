"""The OpenAPI 3.1 description of the API, made of its Structs. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import msgspec

from larm import __version__
from larm.web.access import Kind
from larm.web.endpoint import Endpoint, Problem


def description(endpoints: Sequence[Endpoint], root: str) -> dict[str, Any]:
    """Of all of them."""
    types: list[type] = list(dict.fromkeys([Problem, *(kind for each in endpoints for kind in (each.asks, each.answers))]))
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    by_type: dict[type, Any] = dict(zip(types, schemas, strict=True))
    paths: dict[str, Any] = {}
    for each in endpoints:
        paths.setdefault(root + each.path, {})[each.method.lower()] = _operation(each, by_type, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "larm", "version": __version__, "description": "Search crawls, and look after them."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(each: Endpoint, by_type: dict[type, Any], components: dict[str, Any]) -> dict[str, Any]:
    problem = {"description": "a problem", "content": {"application/problem+json": {"schema": by_type[Problem]}}}
    found: dict[str, Any] = {
        "operationId": each.handler.__name__,
        "summary": inspect.getdoc(each.handler) or "",
        "responses": {
            "200": {"description": "the answer", "content": {"application/json": {"schema": by_type[each.answers]}}},
            "default": problem,
        },
    }
    if each.kind is Kind.CHANGE:
        found["security"] = [{"token": []}]
    if each.method == "POST":
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": by_type[each.asks]}}}
    else:
        found["parameters"] = list(_parameters(each.asks, components))
    return found


def _parameters(asks: type[msgspec.Struct], components: dict[str, Any]) -> list[dict[str, Any]]:
    properties = components[asks.__name__].get("properties", {})
    required = components[asks.__name__].get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema} for name, schema in properties.items()
    ]
