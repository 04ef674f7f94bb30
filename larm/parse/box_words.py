"""The numbers of `larm.parse.main_text` and `larm.parse.boxes`, as ``benchmarks/learn_main_text.py`` has found them.

They are weights of a logistic regression: what is above zero speaks for main text. Not to be changed by hand, for each holds
only together with the others.
"""

from typing import Final

from larm.parse.readable import names


def _table(text: str) -> dict[str, float]:
    return {name: float(weight) for name, _, weight in (entry.partition("=") for entry in text.split())}


BLOCKS: Final = {
    "bias": -1.27,
    "length": 0.85,
    "short": 0.24,
    "long": 0.09,
    "length near": 0.68,
    "length far": 0.62,
    "paragraph": 0.43,
    "item": 0.21,
    "heading": -0.56,
    "block": -1.34,
    "links": -0.57,
    "links*length": -1.25,
    "links near": -0.51,
    "links far": -0.36,
    "commas": 0.41,
    "commas near": -0.03,
    "commas far": -0.06,
    "ends": 0.48,
    "place": -1.11,
}
"""Of a block itself; ``near``: of the blocks before and behind it, ``far``: of those two away."""

TAGS: Final = _table(
    "article=0.21 aside=-1.89 blockquote=0.78 button=-0.24 figcaption=-0.5 figure=-1.09 footer=-1.65 form=-1.02"
    " header=-0.82 nav=-0.32 section=0.22 select=-0.67 table=0.42 ul=-0.26"
)
"""Of the elements around it."""

ROLES: Final = _table(
    "articleBody=0.54 banner=-0.14 complementary=-0.5 contentinfo=-0.55 dialog=-0.66 hidden=-1.08 main=0.77 menu=-0.12"
    " navigation=-0.9 tab=0.08 tabpanel=0.57"
)
"""Of the roles and itemprops of the elements around it; ``hidden``: not shown at first."""

WORDS: Final = _table(
    "about=-0.73 actions=0.21 ads=-0.18 ancestor=0.51 and=-0.25 archive=-0.6 area=0.13 aside=-0.12 author=-0.88 banner=-0.9"
    " bar=-0.36 block=0.09 blog=0.27 body=0.23 border=-0.36 brand=0.13 breadcrumb=-0.14 breadcrumbs=-0.12 btn=-0.18"
    " button=-0.33 buttons=-0.22 byline=-0.73 caption=-1.22 card=-0.68 carousel=-0.55 cat=-0.52 categories=-0.4"
    " category=0.19 close=-0.35 column=-0.13 comment=-0.94 commentform=-0.56 comments=-1.02 consent=-0.55 contact=-0.24"
    " container=-0.13 contents=0.49 control=-0.22 controls=-0.12 cookie=-0.4 cookies=-0.37 copy=-0.29 copyright=-0.41"
    " count=-0.15 credit=-0.27 custom=-0.44 data=0.21 date=-0.21 desc=0.15 desktop=0.08 desktoponly=-0.09 div=0.09"
    " document=0.79 element=0.29 email=0.19 embed=-0.46 enabled=0.14 entry=0.39 expand=-0.2 expanded=-0.24 facebook=-0.34"
    " featured=-0.59 field=0.42 figure=-0.19 float=-0.24 footer=-0.77 form=-0.6 format=0.12 function=0.14 gallery=-0.08"
    " global=-0.16 gray=-0.4 has=0.19 header=-0.31 heading=-0.1 headline=-0.37 height=-0.23 hentry=0.27 hfeed=-0.28"
    " hidden=-0.32 hide=-1.13 highlight=-0.11 hover=-0.11 image=-0.55 img=-0.47 info=-0.46 inner=0.19 instagram=-0.33"
    " item=0.09 items=-1.31 language=-0.1 latest=-0.48 legal=-0.76 light=-0.51 like=-0.28 link=-0.14 links=-0.24 list=0.17"
    " load=-0.32 login=-0.36 logo=0.31 long=-0.1 main=0.09 mainmenu=-0.14 margin=0.09 media=-0.18 medium=-0.21 member=-0.65"
    " meta=-0.8 metadata=-0.3 middle=0.16 modal=-0.26 more=-0.32 most=-0.23 name=-0.11 navbar=-0.14 navfooter=-0.36"
    " navheader=-0.58 new=0.1 news=-0.17 newsletter=-0.32 node=0.11 nosearch=-0.48 note=-0.08 notes=0.37 notice=-0.29"
    " object=-0.25 open=0.08 other=-0.09 overlay=-0.31 panel=-0.11 paragraph=0.24 placeholder=-0.16 popup=-0.46 posts=0.18"
    " prev=-0.22 previous=-0.08 primary=0.17 print=-0.73 privacy=-0.42 pull=0.29 read=0.3 recent=-0.28 region=-0.18"
    " related=-1 respond=-0.21 scroll=0.14 search=-0.19 second=0.11 secondary=-0.19 section=0.36 share=-0.44 sharedaddy=-0.1"
    " sharing=-0.39 show=-0.2 sidebar=-0.31 signature=0.36 signup=-0.26 simple=0.19 single=0.15 site=-0.12 size=0.29"
    " skip=-0.16 slide=0.64 slider=-0.62 social=-0.61 sphinxsidebar=-0.26 sphinxsidebarwrapper=-0.26 status=0.08 story=0.1"
    " submenu=-0.09 subnav=-0.19 subscribe=-0.3 subscription=-0.39 tab=-0.09 tabs=-0.45 tag=-0.57 tags=0.24 taxonomy=0.33"
    " teaser=-1 textwidget=-0.81 theme=-0.2 thread=-0.36 thumbnail=-0.55 time=-0.2 title=-0.28 titlepage=0.23 toc=0.21"
    " toggle=-0.15 trending=-0.08 twitter=0.24 type=-0.21 url=0.12 visible=-0.48 weather=-0.11 widgets=0.08 wrapper=-0.16"
)
"""Of the words in the classes and ids of the elements around it."""

FURNITURE_WORDS: Final = names(
    "ads advert advertisement article blog byline card cards carousel comments consent cookie cookies disqus"
    " excerpt facebook feed gallery hentry login meta modal news newsletter overlay popular popup posts print"
    " promo recommendations recommended related share sharedaddy sharing signup slider social sponsored story subscribe"
    " subscription tags taxonomy teaser teasers thumbnail trending twitter widget widgets"
)
"""Words that only magazines, shops and blogs have (see `larm.parse.boxes.FURNITURE`)."""

NAVIGATION_WORDS: Final = names(
    "banner breadcrumb breadcrumbs crumbs footer mainmenu masthead menu nav navbar navfooter navheader navi navigation nosearch"
    " pager pagination search searchbox searchform searchmenu sidebar sidenav skip sphinxsidebar submenu tagline toolbar topbar"
    " topmenu"
)
"""Words that name menus, headers and footers (see `larm.parse.boxes.NAVIGATION`)."""

PART_WORDS: Final = (
    NAVIGATION_WORDS
    | FURNITURE_WORDS
    | names(
        "alert area bar block body bottom box boxes center col column container content contents copyright div first form"
        " global head header info inner inside item items law left legal line links list logo main middle notice outer"
        " page panel primary right row second secondary section side site sub tab tabs text title top widgets wrap wrapper"
    )
)
"""Words of ids that name a part of the page; an id with any other word names a topic (see `larm.parse.boxes.BoxesOf`)."""
