"""The API ``/api/v1``: an `Endpoint` is one question, with the Structs that it is asked with and answers. On the event loop.

Questions are read and answers written by these, and described by them (OpenAPI 3.1), so the description is right.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from larm import __version__
from larm.errors import LarmError
from larm.kit.decoding import decoded
from larm.web.access import Kind

ROOT = "/api/v1"
Handler = Callable[[Request], Awaitable[Response]]


class Problem(msgspec.Struct, frozen=True):
    """Why there is no answer (RFC 9457)."""

    title: str
    status: int
    detail: str = ""


class ProblemError(Exception):
    """What a handler raises where the answer is a `Problem`."""

    def __init__(self, status: int, title: str, detail: str = "") -> None:
        super().__init__(title)
        self.problem = Problem(title, status, detail)


class Endpoint(NamedTuple):
    """One of them."""

    method: str
    """GET: parameters in the address; POST: as a JSON body."""
    path: str
    """Below ``/api/v1``."""
    kind: Kind
    asks: type[msgspec.Struct]
    answers: type[msgspec.Struct]
    handler: Callable[[Request, Any], Awaitable[msgspec.Struct]]
    """Its docstring is the description."""


def handler_of(endpoint: Endpoint) -> Handler:
    """What answers it."""

    async def answer(request: Request) -> Response:
        if not request.app.state.access.allows(endpoint.kind, request):
            problem = Problem("a token is needed", 401, "send it as Authorization: Bearer TOKEN")
            return problem_response(problem, {"www-authenticate": "Bearer"})
        try:
            asked = await _asked(request, endpoint)
            return _response(await endpoint.handler(request, asked))
        except msgspec.MsgspecError as error:
            return problem_response(Problem("the question can't be understood", 400, str(error)))
        except ProblemError as error:
            return problem_response(error.problem)
        except LarmError as error:
            detail = "" if request.app.state.access.is_stranger(request) else str(error)  # it names paths of this machine
            return problem_response(Problem("it can't be read", 503, detail))

    return answer


def describe(endpoints: Sequence[Endpoint]) -> Handler:
    """What answers ``openapi.json``."""
    text = msgspec.json.encode(description(endpoints, ROOT))

    async def answer(_: Request) -> Response:
        return Response(text, media_type="application/json")

    return answer


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """As RFC 9457 has it."""
    response = _response(problem, problem.status, headers)
    response.headers["content-type"] = "application/problem+json"
    if problem.status == 503:
        response.headers["retry-after"] = "2"
    return response


async def _asked(request: Request, endpoint: Endpoint) -> msgspec.Struct:
    if endpoint.method == "POST":
        return decoded(await request.body(), endpoint.asks)
    fields = {each.encode_name: getattr(each.type, "__origin__", each.type) for each in msgspec.structs.fields(endpoint.asks)}
    given = request.query_params
    values: dict[str, object] = {}
    for name in given:
        if name not in fields:
            raise ProblemError(400, "the question can't be understood", f"no such parameter: {name[:50]}")
        values[name] = given.getlist(name) if fields[name] == tuple[str, ...] else given[name]
    return msgspec.convert(values, endpoint.asks, strict=False)


def _response(value: msgspec.Struct, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


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
