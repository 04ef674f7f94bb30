"""What a link's text says of its target (YIOOP-21): nothing, where it only asks to be clicked. Pure."""

import re

_EMPTY = frozenset(
    (
        *(
            "click",
            "here",
            "click here",
            "this",
            "this page",
            "this link",
            "link",
            "more",
            "read more",
            "learn more",
            "see more",
        ),
        *("more info", "more information", "details", "next", "previous", "prev", "back", "continue"),
        *("continue reading", "go"),
        *("hier", "hier klicken", "mehr", "weiterlesen", "mehr lesen", "weiter", "zurück"),
        *("ici", "cliquez ici", "lire la suite", "en savoir plus", "suite", "suivant", "précédent", "retour"),
        *("aquí", "haga clic aquí", "leer más", "más", "siguiente", "anterior", "volver"),
        *("qui", "clicca qui", "leggi tutto", "avanti", "indietro", "aqui", "clique aqui", "leia mais", "saiba mais", "voltar"),
    )
)
_ASKING = re.compile(r"(?:please )?click\b *(?:on |here\b *)?(?:to (?:see|read|view|open|get|go to) |for )?", re.IGNORECASE)
_EDGES = " \t\n.,:;!?…»«<>→←›‹()[]-–—\u00b6"


def said(text: str) -> str:
    """The text without what asks to be clicked; empty where it says no more."""
    text = text.strip(_EDGES)
    asking = _ASKING.match(text)
    rest = text[asking.end() :].strip(_EDGES) if asking else text
    return "" if rest.casefold() in _EMPTY else rest
