"""Which pages have nothing to search: built by scripts, a challenge, a login form, empty, or asking for it. Pure.

Called by `larm.engine.landing` for each page, on the threads that fetch. What a page says is seldom as short as what is asked
here of its text, so nearly all cost two comparisons.
"""

import re
from typing import Final

from larm.model import hollow
from larm.model.cuts import PROCESSOR
from larm.model.document import Document
from larm.parse.apart.protocol import KINDS

_PAGES: Final = ("text/html", "application/xhtml+xml")
_WITHOUT_WORDS = ("image", "audio", "video", "font", "inode")  # by nature
_FOR_PROGRAMS = ("text/css", "text/javascript")
_LONG = 3_000  # characters, with white space as it came: to squeeze the text of each page would take an eighth of all time
_SHORT = 600  # characters of a page that is a form or a challenge: menus and a notice
_NOTHING = 200  # characters of what a page built by scripts says to who has none: "please enable JavaScript"
_FEW = 3  # links to other pages that such a page has: imprint, privacy, home
_LOOKED_AT = 200_000  # bytes; what is asked for stands in the head, or soon behind it
_PASSWORD = re.compile(rb"<input[^>]{0,500}?\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_MOUNT = re.compile(  # where frameworks put what they build, and what they say to who runs no scripts
    rb"<(?:div|main|body|app-root|my-app)\b[^>]{0,200}?\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|gatsby|svelte|main-app|application)\b"
    rb"|<app-root\b|\bng-app\b|\bdata-reactroot\b"
    rb"|<noscript\b(?:(?!</noscript).){0,500}?java ?script",
    re.IGNORECASE | re.DOTALL,
)
_CHALLENGE = re.compile(  # what the common ones are made of
    rb"/cdn-cgi/challenge-platform|cf[-_]chl|cf-turnstile|_Incapsula_Resource|sucuri_cloudproxy|awsWaf|aws-waf-token"
    rb"|captcha-delivery\.com|px-captcha|perimeterx|ddos-guard|bot ?verification|anubis_challenge|id=\"?anubis"
    rb"|checking your browser|verify(?:ing)? (?:that )?you are (?:a )?human|g-recaptcha|h-captcha|smartcaptcha",
    re.IGNORECASE,
)


def hollow_of(document: Document, body: bytes) -> str:
    """A name of `larm.model.hollow`; empty for a page with something to say, and for what has no words by nature."""
    if document.mime not in _PAGES:
        return _of_file(document, body)
    if not document.index:
        return "" if PROCESSOR in document.cuts else hollow.NOINDEX
    if len(document.raw_text) + len(document.other_text) > _LONG:
        return ""
    return _of_short(document, body[:_LOOKED_AT])


def _of_file(document: Document, body: bytes) -> str:
    if document.raw_text or document.fields or document.cuts or not document.index:
        return ""
    if document.mime in KINDS:  # a scanned book with an outline is one, too
        return hollow.DOCUMENT
    if document.other_text:
        return ""
    family, _, kind = document.mime.partition("/")
    if family == "text" and (document.mime in _FOR_PROGRAMS or not body.strip()):
        return ""
    silent = family in _WITHOUT_WORDS or kind == "xml" or kind.endswith("+xml")
    return "" if document.links or silent else hollow.UNREAD


def _of_short(document: Document, body: bytes) -> str:
    text = f"{document.text} {' '.join(document.other_text.split())}".strip()
    if len(text) > _SHORT:
        return ""
    links = len(set(document.links.followed()))  # also those of frames and refreshes: where these lead, there is more
    scripted = _SCRIPT.search(body) is not None  # first: to look for challenges takes a hundred times as long
    if scripted and _CHALLENGE.search(body):
        return hollow.CHALLENGE
    if _PASSWORD.search(body):
        return hollow.LOGIN
    if links <= _FEW and len(text) <= _NOTHING and scripted and (_MOUNT.search(body) or not text):
        return hollow.SCRIPTS
    return "" if text or links else hollow.EMPTY
