"""Regions: the part of the world that a top-level domain belongs to: three bits of an address's hash (YACY-11). Constants."""

from __future__ import annotations

from typing import Final

GENERIC: Final = 6
"""No country's, an unknown one, an address in digits."""
LOCAL: Final = 7
"""A private address, or no host at all."""
_TABLE: Final = {
    0: """ad al aq at ax ba be bg bv by cat ch cs cz cy de dk es ee eu fi fo fr fx gb gg gi gl gr hr hu ie im is it je li lt
       lu lv mc md me mk mn ms mt mq nato nl no pf pl pm pt ro rs ru se si sj sm sk su tf uk ua va yu""",
    1: "ar aw br bo cl co cr cu do ec fk gf gt gy hn jm mx ni pa pe py sr sv uy ve",
    2: "asia bd bn bt cn hk id in la np jp kh kp kr lk my mm mo mv ph sg tp th tl tw vn",
    3: "ae af am az bh ge il iq ir jo kg kz kw lb ps om qa sa sy tj tm pk tr uz ye",
    4: """edu gov mil net org an as ag ai au bb bz bm bs ca cc ck cx dm fm fj gd gp gs gu hm ht io ki kn ky lc mf mh mp nc nf
       nr nu nz pg pn pr pw sb tc tk to tt tv um us vc vg vi vu wf ws""",
    5: """ac ao bf bi bj bw cd cf cg ci cm cv dj dz eg eh er et ga gh gm gn gq gw ke km lr ls ly ma mg ml mr mu mw mz na ne ng
       re rw sc sd sh sl sn so st sz td tg tn tz ug za zm zr zw yt""",
}
_OF: Final = {name: region for region, names in _TABLE.items() for name in names.split()}


def region_of(top_level_domain: str) -> int:
    """0 Europe and Russia, 1 Middle and South America, 2 South-East Asia, 3 Middle East, 4 North America and Oceania, 5 Africa,
    6 all others."""
    return _OF.get(top_level_domain, GENERIC)
