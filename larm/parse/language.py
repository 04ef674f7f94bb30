"""Which language a page is written in (YIOOP-14). Pure; called by the `Assembler` on the fetcher threads.

What the page declares counts if its text has the most frequent words of that language. If not, the text is looked at: very many
templates say ``lang="en"`` over whatever is put into them. cld2, which Chrome once had for this, knows the letters of some 80
languages; 30 us. Where it is not sure, the most frequent words decide, then the country of the host. Where it can't be had, the
letters of scripts that one language has for itself take its place.
"""

import re
from collections.abc import Collection
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from larm.parse.readable import names, ordered

FREQUENT: Final = {
    "ca": names("els les amb per una és dels que del i"),
    "cs": names("se na je že by ale jsem jako podle také"),
    "da": names("og at det ikke af til er på den en"),
    "de": names("der die und das ist nicht von mit den ein auf für"),
    "en": names("the of and to that with this from are is"),
    "es": names("que los del las una por con para el se más como"),
    "fi": names("ja on ei se että oli kun mutta myös ovat"),
    "fr": names("le les et des est une dans pour que du sur qui"),
    "hu": names("az és hogy nem is egy ez meg mint csak"),
    "id": names("yang dan di itu dengan untuk dari ini tidak pada"),
    "it": names("che il della per non una sono di con del anche più"),
    "nl": names("de het een van dat niet op te voor zijn met ook"),
    "no": names("og det på ikke av til som jeg er å den har"),
    "pl": names("w na nie się że do jest i z to"),
    "pt": names("que não do da uma para com os em são dos mais"),
    "ro": names("și în cu nu este pe care din la să"),
    "ru": names("и в не на что с по как это но"),
    "sv": names("och att det som på är för inte av den en med"),
    "tr": names("ve bir bu için ile da de çok olarak daha"),
    "uk": names("і в не на що з та як це до"),
}
"""The most frequent words of some languages."""


def share(text: str, code: str) -> tuple[float, int]:
    """(of the words of a text, the share of the most frequent ones of a language, how many there are)."""
    words = text.lower().split()
    return share_of(words, code), len(words)


def share_of(words: Collection[str], code: str) -> float:
    """The same of words that are in lower case."""
    frequent = FREQUENT.get(code)
    return sum(map(frequent.__contains__, words)) / len(words) if frequent and words else 0.0


cld2: ModuleType | None
try:
    cld2 = import_module("pycld2")
except ImportError:  # no platform has wheels of everything; see pyproject.toml for those that have one of this
    cld2 = None

_COUNTRIES = dict(
    entry.split("=")
    for entry in ordered(
        "ar=es at=de bg=bg br=pt cl=es cn=zh co=es cz=cs de=de dk=da ee=et es=es fi=fi fr=fr gr=el hr=hr hu=hu id=id ir=fa"
        " is=is it=it jp=ja kr=ko lt=lt lv=lv mx=es nl=nl no=no pe=es pl=pl pt=pt ro=ro rs=sr ru=ru se=sv si=sl sk=sk th=th"
        " tr=tr tw=zh ua=uk vn=vi"
    )
)
_SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id"}
_ALIKE = tuple(map(names, ("bs hr sr", "id ms", "da no sv", "es gl ca pt", "cs sk", "zu xh st tn")))
"""Of these the declaration is the better witness."""
_TAG = re.compile(r"\s*([A-Za-z]{2})(?![A-Za-z])")
_SCRIPTS = {  # Japanese before Chinese, whose letters it has as well
    code: re.compile(f"[{letters}]")
    for code, letters in {
        "ja": "\u3040-\u30ff",
        "ko": "\uac00-\ud7af\u1100-\u11ff",
        "zh": "\u4e00-\u9fff",
        "el": "\u0370-\u03ff\u1f00-\u1fff",
        "he": "\u0590-\u05ff",
        "th": "\u0e00-\u0e7f",
        "hy": "\u0530-\u058f",
        "ka": "\u10a0-\u10ff",
        "bn": "\u0980-\u09ff",
        "gu": "\u0a80-\u0aff",
        "pa": "\u0a00-\u0a7f",
        "ta": "\u0b80-\u0bff",
        "te": "\u0c00-\u0c7f",
    }.items()
}
_SCRIPT_SHARE = 0.3  # of the letters: a Japanese text has as many Chinese ones, and many texts have English words in them
_GLANCE = 1_000  # characters, with white space: enough to confirm what is likely
_LOOKED_AT = 3_000  # characters, with white space
_WORDS = 150
_MANY = 40  # words; so many hold a frequent one, if they are sentences
_CONFIRMED = 0.05  # share of frequent words that confirms a declaration
_PLAIN = 0.08  # the same of English, on the many pages that declare nothing: no other language has more than 0.05
_SHORT = 12  # bytes; of less nothing can be told
_ENOUGH = 200  # characters; more of them can refute a declaration


def declared(tag: str) -> str:
    """The ISO 639-1 code in a language tag such as ``en-GB`` (BCP 47), in lower case; "" if there is none."""
    match = _TAG.match(tag)
    code = match[1].lower() if match else ""
    return _SAME.get(code, code)


def language_of(tag: str, text: str, host: str = "") -> str:
    """ISO 639-1; "" where nothing tells. ``tag``: what the page declares; ``text``: its main text."""
    code = declared(tag) if tag else ""
    likely, count = share(text[:_GLANCE], code or "en")
    if code:
        if likely >= _CONFIRMED:
            return code
    elif count >= _MANY and likely >= _PLAIN:
        return "en"
    sample = " ".join(text[:_LOOKED_AT].split()[:_WORDS])
    if len(sample.encode("utf-8", "replace")) >= _SHORT:
        found, sure = detect(sample)
        words = sample.lower().split()
        if found in FREQUENT and len(words) >= _MANY and not share_of(words, found):
            found = ""  # source text, tables of numbers
        if found and code != found:
            alike = any(code in each and found in each for each in _ALIKE)
            if not code or (not alike and (code == "en" or (sure and len(sample) >= _ENOUGH))):
                return found
    return code or _COUNTRIES.get(host.rpartition(".")[2], "")


def detect(text: str) -> tuple[str, bool]:
    """(the language of the text, whether that is sure); ("", False) where nothing can be told."""
    best, sure = _by_script(text) if cld2 is None else _by_cld2(cld2, text)
    if not sure:
        words = text.lower().split()
        common = max(FREQUENT, key=lambda code: share_of(words, code))
        if share_of(words, common) > max(0.1, share_of(words, best)):
            best = common
    return best, sure and bool(best)


def _by_cld2(module: Any, text: str) -> tuple[str, bool]:
    try:
        sure, _, found = module.detect(text, bestEffort=True)
    except module.error:  # it refuses control characters
        sure, _, found = module.detect("".join([each if each.isprintable() else " " for each in text]), bestEffort=True)
    codes = [_SAME.get(code[:2], code[:2]) for _, code, _, _ in found if code not in ("un", "xxx") and code[2:3] in ("", "-")]
    return (codes[0] if codes else ""), sure


def _by_script(text: str) -> tuple[str, bool]:
    """Of scripts that several languages share, nothing."""
    letters = sum(map(str.isalpha, text))
    for code, script in _SCRIPTS.items():
        if letters and len(script.findall(text)) > letters * _SCRIPT_SHARE:
            return code, True
    return "", False
