"""When a document says that it was changed: the forms of dates that documents have, as Unix seconds. Pure; any thread."""

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_ISO = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T\s]\s*(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.IGNORECASE,
)
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_HTTP = re.compile(  # RFC 9110 5.6.7, on days that all months have
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (0[1-9]|1\d|2[0-8]) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (19[7-9]\d|2\d{3})"
    r" ([01]\d|2[0-3]):([0-5]\d):([0-5]\d) GMT"
)
_PDF = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?\s*(Z|[+-]\d\d(?:'?\d\d)?)?")


@lru_cache(maxsize=1_000)  # the pages of a site often have one date
def seconds_of(text: str) -> int:
    """Of a date after W3C-DTF (ISO 8601), RFC 822 or as HTTP has it; 0 for anything else, and before 1970."""
    text = text.strip()
    if len(text) > 60:
        return 0
    if match := _ISO.fullmatch(text):
        return _seconds(match)
    if match := _HTTP.fullmatch(text):
        day, month, year, hour, minute, second = match.groups()
        date = (int(year), _MONTHS.index(month) // 3 + 1, int(day))
        return int(datetime(*date, int(hour), int(minute), int(second), tzinfo=UTC).timestamp())
    from email.utils import parsedate_to_datetime  # for who writes dates in another way

    try:
        when = parsedate_to_datetime(text)
        return max(0, int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()))
    except (ValueError, OverflowError, TypeError, IndexError):
        return 0


def seconds_of_pdf(text: str) -> int:
    """Of a date as PDF writes it (ISO 32000-1, 7.9.4): ``D:20240131235959+01'00'``; 0 for anything else."""
    match = _PDF.match(text.strip())
    return _seconds(match) if match else 0


def _seconds(match: re.Match[str]) -> int:
    year, month, day, hour, minute, second, zone = match.groups()
    offset = timedelta()
    if zone and zone[0] in "+-":
        digits = re.sub(r"\D", "", zone)
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0)) * (-1 if zone[0] == "-" else 1)
    try:
        when = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            min(59, int(second or 0)),
            tzinfo=timezone(offset),
        )
        return max(0, int(when.timestamp()))
    except (ValueError, OverflowError):
        return 0
