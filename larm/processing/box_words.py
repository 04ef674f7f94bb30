"""The numbers of `larm.processing.main_text` and `larm.processing.boxes`, as ``benchmarks/learn_main_text.py`` has found them.

They are weights of a logistic regression: what is above zero speaks for main text. Not to be changed by hand, for each holds
only together with the others.
"""

from __future__ import annotations

from typing import Final

from larm.processing.readable import names


def _table(text: str) -> dict[str, float]:
    return {name: float(weight) for name, _, weight in (entry.partition("=") for entry in text.split())}


BLOCKS: Final = {
    "bias": -1.33,
    "length": 0.9,
    "short": 0.25,
    "long": 0.08,
    "length near": 0.73,
    "length far": 0.62,
    "paragraph": 0.39,
    "item": 0.21,
    "heading": -0.61,
    "block": -1.32,
    "links": -0.59,
    "links*length": -1.26,
    "links near": -0.51,
    "links far": -0.36,
    "commas": 0.38,
    "commas near": -0.07,
    "commas far": -0.06,
    "ends": 0.48,
    "place": -1.12,
}
"""Of a block itself; ``near``: of the blocks before and behind it, ``far``: of those two away."""

TAGS: Final = _table(
    "article=0.2 aside=-1.85 blockquote=0.78 button=-0.28 figcaption=-0.52 figure=-1.1 footer=-1.63 form=-1.04 header=-0.82"
    " nav=-0.3 ol=0.09 section=0.24 select=-0.69 table=0.44 ul=-0.29"
)
"""Of the elements around it."""

ROLES: Final = _table(
    "articleBody=0.56 banner=-0.13 complementary=-0.5 contentinfo=-0.52 description=-0.29 dialog=-0.66 hidden=-1.08 main=0.81"
    " menu=-0.12 navigation=-0.86 tabpanel=0.45"
)
"""Of the roles and itemprops of the elements around it; ``hidden``: not shown at first."""

WORDS: Final = _table(
    "about=-0.71 actions=0.2 ads=-0.2 ancestor=0.51 and=-0.29 archive=-0.55 area=0.13 aside=-0.11 author=-0.88 banner=-0.89"
    " bar=-0.37 block=0.13 blog=0.25 body=0.25 border=-0.38 brand=0.14 breadcrumb=-0.16 breadcrumbs=-0.12 btn=-0.19"
    " button=-0.34 buttons=-0.23 byline=-0.74 caption=-1.19 card=-0.65 carousel=-0.55 cat=-0.54 categories=-0.42 category=0.22"
    " center=0.09 close=-0.36 column=-0.1 comment=-0.92 commentform=-0.55 comments=-1.02 consent=-0.55 contact=-0.24"
    " container=-0.13 control=-0.23 controls=-0.12 cookie=-0.4 cookies=-0.37 copy=-0.29 copyright=-0.41 count=-0.15"
    " credit=-0.28 custom=-0.47 data=0.18 date=-0.24 desc=0.18 element=0.26 email=0.19 embed=-0.47 enabled=0.13 entry=0.39"
    " expand=-0.22 expanded=-0.24 facebook=-0.34 featured=-0.62 field=0.4 figure=-0.2 float=-0.26 footer=-0.77 form=-0.61"
    " format=0.1 global=-0.18 gray=-0.4 has=0.18 header=-0.31 heading=-0.1 headline=-0.36 height=-0.24 hentry=0.29 hfeed=-0.28"
    " hidden=-0.27 hide=-1.15 holder=0.26 hover=-0.11 image=-0.57 img=-0.47 info=-0.44 inner=0.18 instagram=-0.33 item=0.08"
    " items=-1.29 language=-0.1 latest=-0.5 legal=-0.72 light=-0.51 like=-0.29 link=-0.14 links=-0.25 list=0.17 load=-0.34"
    " login=-0.37 logo=0.3 main=0.09 margin=0.09 media=-0.19 medium=-0.23 meta=-0.81 metadata=-0.3 middle=0.15 modal=-0.26"
    " more=-0.33 most=-0.24 name=-0.13 navbar=-0.14 new=0.08 news=-0.18 newsletter=-0.32 node=0.08 notes=0.18 notice=-0.29"
    " object=-0.25 open=0.09 other=-0.09 overlay=-0.32 panel=-0.09 paragraph=0.24 placeholder=-0.13 popular=0.1 popup=-0.45"
    " posts=0.16 prev=-0.23 previous=-0.09 primary=0.17 print=-0.75 privacy=-0.42 pull=0.28 read=0.29 recent=-0.28"
    " region=-0.22 related=-1.03 respond=-0.21 scroll=0.12 search=-0.2 second=0.27 secondary=-0.19 section=0.35 share=-0.45"
    " sharedaddy=-0.11 sharing=-0.39 show=-0.25 sidebar=-0.32 signup=-0.26 simple=0.24 single=0.19 site=-0.13 size=0.25"
    " skip=-0.15 slide=0.62 slider=-0.63 social=-0.61 status=0.09 story=0.1 submenu=-0.13 subnav=-0.18 subscribe=-0.3"
    " subscription=-0.4 tab=-0.09 tabs=-0.46 tag=-0.58 tags=0.23 taxonomy=0.32 teaser=-1.02 textwidget=-0.8 theme=-0.21"
    " thread=-0.6 thumbnail=-0.53 time=-0.21 title=-0.28 toggle=-0.15 trending=-0.08 twitter=0.25 type=-0.21 url=0.12"
    " visible=-0.52 weather=-0.13 widgets=0.08 wrapper=-0.17"
)
"""Of the words in the classes and ids of the elements around it."""

FURNITURE_WORDS: Final = names(
    "ads advert advertisement article author blog byline card cards carousel comments consent cookie cookies disqus"
    " excerpt facebook feed gallery hentry login meta modal news newsletter overlay popular popup posts print"
    " promo recommendations recommended related share sharedaddy sharing signup slider social sponsored story subscribe"
    " subscription tags taxonomy teaser teasers thumbnail trending twitter widget widgets"
)
"""Words that only magazines, shops and blogs have (see `larm.processing.boxes.FURNITURE`)."""
