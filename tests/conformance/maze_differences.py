"""What larm does not follow in the crawler maze of Google's security team, and why."""

from __future__ import annotations

_FORM = "a form is sent by people: a crawler that sends forms orders, votes and deletes"
_REPORT = "an address for reports by POST, no document"
_WORDS = "words in a text: a reader can't click on them either, and guesses fetch what does not exist"
_NO_LINK = "it names what is there already, it does not lead there"

NOT_FOLLOWED = {
    "headers/content-location": _NO_LINK,
    "html/body/a/ping": _REPORT,
    "html/body/form/action-get": _FORM,
    "html/body/form/action-post": _FORM,
    "html/body/form/button/formaction": _FORM,
    "html/body/img/src-data": "a link in an image in a data: URL",
    "html/body/isindex/action": _FORM,
    "html/body/map/area/ping": _REPORT,
    "html/doctype": _NO_LINK,
    "html/head/base/href": _NO_LINK,
    "html/head/comment-conditional": "a comment; browsers that read these are gone",
    "html/head/import/implementation": "a behaviour of a browser that is gone",
    "html/head/meta/content-csp": _REPORT,
    "html/head/meta/content-reading-view": "markup in a text about copyright",
    "html/misc/string/dot-dot-slash-prefix": _WORDS,
    "html/misc/string/dot-slash-prefix": _WORDS,
    "html/misc/string/string-known-extension": _WORDS,
    "html/misc/string/url-string": _WORDS,
    "misc/known-files/robots.txt": "robots.txt forbids it",
}

EMBEDDED = [
    "css/font-face",
    "html/body/applet/archive",
    "html/body/applet/codebase",
    "html/body/audio/source/src",
    "html/body/audio/src",
    "html/body/background",
    "html/body/blockquote/cite",
    "html/body/embed/src",
    "html/body/iframe/srcdoc",
    "html/body/img/dynsrc",
    "html/body/img/longdesc",
    "html/body/img/lowsrc",
    "html/body/img/src",
    "html/body/input/src",
    "html/body/object/codebase",
    "html/body/object/data",
    "html/body/object/param/value",
    "html/body/script/src",
    "html/body/svg/image/xlink",
    "html/body/svg/script/xlink",
    "html/body/table/background",
    "html/body/table/td/background",
    "html/body/video/poster",
    "html/body/video/src",
    "html/body/video/track/src",
    "html/head/meta/content-pinned-websites",
    "html/head/profile",
    "html/manifest",
]
"""Followed where ``processing.follow_embedded`` is set: what a page is made of, not where it leads."""

SRCSET = [f"html/body/{element}/srcset{size}" for element in ("audio/source", "img") for size in ("1x", "2x")]
"""Followed where ``processing.srcset`` is set, too."""
