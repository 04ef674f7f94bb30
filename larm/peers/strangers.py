"""What others answer to a search, made harmless: bounded, one line where it is to be one, addresses that can be opened. Pure.

Scores of somebody who is trusted are as ours, as he was told how rare the words are. Those of anybody else mean nothing outside
of his own answer: only their order counts, and they are at most 1.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

import msgspec

from larm.index.search.merging import score_of
from larm.index.search.snippets import safe_line
from larm.model.facets import DAYS, Facet, FacetValue, Narrowed
from larm.model.findings import Findings
from larm.model.hit import Hit
from larm.model.own_fields import is_field_name

_LONGEST_TITLE = 500
_LONGEST_PASSAGE = 1_000
_LONGEST_URL = 4_096
_LONGEST_SENTENCE = 300
_MOST_SENTENCES = 10
_MOST_VALUES = 100
"""Of a facet."""
_MOST_FIELDS = 20
_MOST = 1 << 50
_HIGHEST = 1_000.0
"""Score that is kept; a page that has every word of a long query in its title has a tenth of it."""
_OPENED = ("http://", "https://")


def findings_of(name: str, part: Findings, most: int, *, trusted: bool, scored: bool = False, base: str = "") -> Findings:
    """An answer as a part of ours; ``name``: who answered, ``most``: hits that were asked for.

    ``base``: the address of who answered, for files that it serves itself: their addresses have none. ``scored``: scores are
    kept, and bounded, though nothing else is trusted.
    """
    schemes = (*_OPENED, "file://") if trusted else _OPENED
    given = [_at(base, hit) for hit in part.hits] if base else part.hits  # what another one has kept has whole addresses
    best = sorted(given, key=lambda hit: -hit.score)[:most]
    kept = [hit for hit in best if hit.url.lower().startswith(schemes) and len(_address(hit.url)) <= 3 * _LONGEST_URL]
    hits = tuple(_hit(hit, name, inner=trusted) for hit in kept)
    if not trusted:
        hits = tuple(
            msgspec.structs.replace(hit, score=max(0.0, min(hit.score, _HIGHEST)) if scored else score_of(rank), digest=0)
            for rank, hit in enumerate(hits)
        )
    return Findings(
        searcher=name,
        hits=hits,
        total=max(len(hits), min(part.total, _MOST)),
        complete=max(sum(hit.complete for hit in hits), min(part.complete, part.total, _MOST)),
        exact=part.exact,
        by_rank=not (trusted or scored),
        facets=_facets(part.facets) if trusted else (),
        notes=tuple(_line(note, _LONGEST_SENTENCE) for note in part.notes[:_MOST_SENTENCES]) if trusted else (),
        suggestion=_line(part.suggestion, _LONGEST_SENTENCE) if trusted else "",
        took=part.took,
        failure=_line(part.failure, _LONGEST_SENTENCE),
    )


def _facets(facets: Sequence[Facet]) -> tuple[Facet, ...]:
    """Those that there are, with values that can be chosen."""
    found: dict[str, Facet] = {}
    for facet in facets:
        if facet.name in Narrowed.__struct_fields__:
            values = [each for each in facet.values[:_MOST_VALUES] if facet.name != "age" or each.value in DAYS]
            kept = tuple(FacetValue(_line(each.value, 200), max(0, min(each.pages, _MOST))) for each in values)
            found[facet.name] = Facet(facet.name, kept, facet.whole)
    return tuple(found.values())


def _at(base: str, hit: Hit) -> Hit:
    url = base + hit.url if hit.url.startswith("/files/") else hit.url
    return msgspec.structs.replace(hit, url=url, copy=base + hit.copy if hit.copy.startswith("/copy?") else "")


def _hit(hit: Hit, name: str, *, inner: bool) -> Hit:
    room = _LONGEST_PASSAGE
    parts = []
    for given, marked in hit.parts[:100]:
        text = safe_line(given[:room])
        room -= len(text)
        parts.append((text, marked))
    return msgspec.structs.replace(
        hit,
        url=_address(hit.url),
        passage=_address(_passage(hit)),
        copy=_address(hit.copy) if hit.copy.startswith(_OPENED) and len(hit.copy) <= 3 * _LONGEST_URL else "",
        title=_line(hit.title, _LONGEST_TITLE) or _line(hit.url, _LONGEST_TITLE),
        parts=tuple(parts),
        mime=_line(hit.mime, 100),
        language=_line(hit.language, 20),
        modified=_moment(hit.modified),
        fetched=_moment(hit.fetched),
        size=max(0, min(hit.size, _MOST)),
        cuts=tuple(_line(cut, 50) for cut in hit.cuts[:10]),
        fields=_fields(hit.fields),
        explanation="",
        source=f"{name}: {_line(hit.source, 100)}" if inner and hit.source else name,
    )


def _fields(said: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    named = [name for name in said if is_field_name(name)][:_MOST_FIELDS]
    return {name: tuple(_line(value, _LONGEST_SENTENCE) for value in said[name][:_MOST_SENTENCES]) for name in named}


def _address(url: str) -> str:
    """Escape what is not seen, or turns the text around it."""
    return "".join(each if each.isprintable() and each != " " else quote(each, errors="replace") for each in url)


def _passage(hit: Hit) -> str:
    """Only of the page itself."""
    return hit.passage if hit.passage.startswith(hit.url + "#:~:text=") and len(hit.passage) <= 2 * _LONGEST_URL else ""


def _line(text: str, most: int) -> str:
    return safe_line(text[:most]).strip()


def _moment(seconds: int) -> int:
    return seconds if 0 < seconds < 1 << 40 else 0
