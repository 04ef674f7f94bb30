"""Small answers: OpenSearch description, health, metrics, robots.txt, signing in and out. On the event loop."""

from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from larm.web.access import COOKIE
from larm.web.api import ROOT, Problem, problem_response
from larm.web.metrics import crawl_metrics
from larm.web.monitor_page import all_crawls
from larm.web.page import form_of, message, page

_OPENSEARCH = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>larm</ShortName>
  <Description>Search what larm has crawled</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Url type="text/html" template="{base}search?q={{searchTerms}}&amp;page={{startPage?}}"/>
  <Url type="application/x-suggestions+json" template="{base}suggest?q={{searchTerms}}"/>
  <Url type="application/json" template="{base}api/v1/search?q={{searchTerms}}&amp;page={{startPage?}}"/>
  <Url type="application/opensearchdescription+xml" rel="self" template="{base}opensearch.xml"/>
</OpenSearchDescription>
"""
_YEAR = 31_536_000


async def opensearch(request: Request) -> Response:
    """What a browser needs to search here from its own field."""
    text = _OPENSEARCH.format(base=escape(str(request.base_url), {'"': "&quot;"}))
    return Response(text, media_type="application/opensearchdescription+xml")


async def healthz(_: Request) -> Response:
    """The server answers."""
    return PlainTextResponse("ok\n")


async def metrics(request: Request) -> Response:
    """For Prometheus."""
    text = request.app.state.metrics.text() + crawl_metrics(await all_crawls(request))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


async def robots(_: Request) -> Response:
    """Crawlers have nothing to look for in pages of results."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n")


async def login_form(request: Request) -> Response:
    """A field for the token."""
    return page(request, "login.html", after=_after(request.query_params.get("next", "")), wrong=False)


async def login(request: Request) -> Response:
    """A cookie for who knows the token."""
    token = request.app.state.access.token
    form = await form_of(request)
    after = _after(form.get("next", ""))
    if not token.matches(form.get("token", "").strip()):
        return page(request, "login.html", 403, after=after, wrong=True)
    response = RedirectResponse(after, 303)
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token.cookie, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)
    return response


async def logout(_: Request) -> Response:
    """The browser forgets the cookie."""
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


async def not_found(request: Request, _: Exception) -> Response:
    """An address that is none; a program is told in its own way."""
    if request.url.path.startswith("/api/"):
        return problem_response(Problem("there is nothing here", 404, f"{ROOT}/openapi.json has all there is"))
    state, path = request.app.state, request.url.path
    shares = state.peering.shares if state.peering is not None and not state.peering.passes.needed else None
    if shares is not None and (moved := await state.desk.look(shares.below_web_root, path)):
        return RedirectResponse(moved, 303)
    return message(request, 404, "There is nothing here", "The address is wrong, or what was here is gone.")


def _after(path: str) -> str:
    """Where to go then; only within this server."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"
