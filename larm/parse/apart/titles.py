"""titles: which titles of documents say nothing, as a program wrote them. Pure; used in a reading process only."""

import re

_PROGRAM = re.compile(r"Microsoft (?:Office )?(?:Word|PowerPoint|Excel|Publisher|Visio) - ", re.IGNORECASE)
_NOTHING = re.compile(
    r"(?:untitled|no title|title|document|slide|unbenannt|sans titre|sin t[ií]tulo|sans nom|dokument|documento|pr[eé]sentation"
    r"|presentation|pr[aä]sentation|folie|diapositive?|layout|graphic|drawing|book|sheet|mappe|tabelle|template|scan|image|print"
    r"|scanned (?:document|image)|(?:microsoft )?(?:word|powerpoint|excel)(?: document|[- ]pr[aeä]sentation)"
    r"|pr[eé]senta\w+ (?:d[aei] |do )?powerpoint|tex output [\d.:]+|full page fax print|\(?(?:anonymous|none|null|unknown)\)?)"
    r"(?:[ _-]?\d+)?",
    re.IGNORECASE,
)
_KINDS = (
    r"ai|cdr|doc[mx]?|dvi|eps|fm|html?|indd|jpe?g|key|md|od[pst]|p65|pages|pdf|png|pptx?|ps|pub|qx[dp]|rtf|tex|tiff?|txt|vsdx?"
    r"|wpd|xlsx?"
)
_FILE = re.compile(rf"|.*\.(?:{_KINDS})|(?:[a-z]:|file:)?[\\/]\S.*|[^\s_]*_\S*|(?:PII|doi):? ?\S+", re.IGNORECASE)


def title_of(said: str) -> str:
    """Return what a document says as its title on one line; empty: nothing."""
    title = " ".join(_PROGRAM.sub("", said).split())
    return "" if _NOTHING.fullmatch(title) else title


def is_file_name(title: str) -> bool:
    """Return True if it counts only where there is no heading: the name of a file, or nothing."""
    return _FILE.fullmatch(title) is not None


def better_title(said: str, heading: str) -> str:
    """Return the title that a document says, or its heading where that is none."""
    title = title_of(said)
    return heading if heading and is_file_name(title) else title
