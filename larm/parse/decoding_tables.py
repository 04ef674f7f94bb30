"""Where Python's codecs for Chinese and Japanese differ from the indexes of the WHATWG Encoding Standard. Data; pure.

Big5: what HKSCS added in 2008 and the standard's own additions. GB 18030: the edition of 2022. EUC-JP: the wave dash and its
like, as Windows has them.
"""

from typing import Final


def _pairs(table: str) -> dict[bytes, str]:
    """From pairs of bytes to characters. A run begins with the pair of its first character, in hexadecimal."""
    found: dict[bytes, str] = {}
    words = table.split()
    for start, run in zip(words[::2], words[1::2], strict=True):
        lead, trail = bytes.fromhex(start)
        for character in run:
            found[bytes((lead, trail))] = character
            trail += 0x23 if trail == 0x7E else 1
            if trail == 0xFF:
                lead, trail = lead + 1, 0x40
    return found


BIG5_MISSING: Final = _pairs(
    """
    877a 㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆
    87be 㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋
    8e69 箸  8e6f 簆  8e7e 糎
    8eab 緒  8eb4 縝  8ecd 者  8ed0 耨  8f57 菁  8f69 蒨  8f6e 萏  8fcb 覦覩  8ffe 起  906d 都  907a 銹  90dc 靜
    90f1 響  91bf 鼖  9244 蔃  92af 兙兛兝兞  92c8 鍮  92d1 瑹  9447 浧  94ca 禛  95d9 邗  9644 靝  96ed 瀞  96fc 嬨
    9b76 爁  9b78 矗  9b7b 纇  9bc6 駖  9bde 釔  9bec 惞  9bf6 澶  9c42 輶  9c53 侻  9c62 營  9c68 鄄  9c6b 鷰
    9c77 菏  9cbc 尐秣  9cd0 婧  9d57 輋  9d5a 筑  9dc4 拐  9ea9 恢  9eef 痹  9efd 汊  9f60 鬮  9f66 鼗  9fcb 僭
    9fd8 弌  a063 蠏  a077 拎  a0d5 瑨  a0df 煢  a0e4 牐  c6cf 廴  c6d3 无  c6d5 癶  c6d7 隶  c6de 〃仝  fa5f 倩
    fa66 偽  fabd 包  fac5 卄  fad5 卿  fb48 嘅  fbb8 婷  fbf3 幵  fbf9 廐  fc4f 彘  fc6c 悤  fcb9 撐  fce2 晴
    fcf1 杞  fdb7 沜渝  fdbb 港  fdf1 煮  fe52 猪  fe6f 瑜  feaa 瓩  fedd 砉
    """
) | {bytes((0xA3, 0xC0 + number)): chr(0x2400 + number) for number in range(32)}
"""Characters of pairs that Python's big5hkscs does not know."""
BIG5_MISSING[b"\xa3\xe0"] = "\u2421"
BIG5_MISSING[b"\xa3\xe1"] = "\u20ac"
BIG5_TWINS: Final = {b"\xa2A": "\u2215", b"\xa2B": "\ufe68"}
"""Pairs that have a character of their own, while Python gives them that of another pair."""

# From Python's character to that of the standard
BIG5_OTHER: Final = {
    "\u2022": "\u2027",
    "\uff64": "\ufe51",
    "\u203e": "\xaf",
    "\u223c": "\uff5e",
    "\u2641": "\u2295",
    "\u2609": "\u2299",
    "\u00a5": "\uffe5",
    "\u00a2": "\uffe0",
    "\u00a3": "\uffe1",
}
GB18030_OTHER: Final = {
    "\ue5e5": "\u3000",
    "\ue7c7": "\u1e3f",
    "\u1e3f": "\ue7c7",
    "\ue78d": "\ufe10",
    "\ue78e": "\ufe12",
    "\ue78f": "\ufe11",
    "\ue790": "\ufe13",
    "\ue791": "\ufe14",
    "\ue792": "\ufe15",
    "\ue793": "\ufe16",
    "\ue794": "\ufe17",
    "\ue795": "\ufe18",
    "\ue796": "\ufe19",
    "\ue81e": "\u9fb4",
    "\ue826": "\u9fb5",
    "\ue82b": "\u9fb6",
    "\ue82c": "\u9fb7",
    "\ue832": "\u9fb8",
    "\ue843": "\u9fb9",
    "\ue854": "\u9fba",
    "\ue864": "\u9fbb",
}
EUC_JP_OTHER: Final = {
    "\u301c": "\uff5e",
    "\u2016": "\u2225",
    "\u2212": "\uff0d",
    "\u00a2": "\uffe0",
    "\u00a3": "\uffe1",
    "\u00ac": "\uffe2",
}
