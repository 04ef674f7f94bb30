"""The reference of a programming language: thousands of pages that are alike, short, and each of them real."""

import itertools

from tests.support.webs.named import NOTHING, Answer, NamedWeb, Page, finite
from tests.support.webs.words import hashed, prose, words

_RUST = "API documentation. Settings. Help. Click or press 'S' to search, '?' for more options. Built with care."
_OPS = """
abs add adds and andnot avg blend broadcast cmpeq cmpge cmpgt cmple cmplt cmpneq compress conflict cvt div dp
expand extract fmadd fmsub fnmadd gather getexp hadd hsub insert kand load loadu lzcnt madd max min mov mul
mulhi mullo mulhrs or permute popcnt range rcp reduce rol ror rsqrt sad scatter set set1 shuffle sll sra srl
store storeu sub subs test unpackhi unpacklo xor
""".split()  # noqa: SIM905  a list of so many quotes is no pleasure
_SAYS = [
    "absolute value",
    "sum",
    "saturated sum",
    "bitwise AND",
    "bitwise AND NOT",
    "average",
    "blend by a control mask",
    "copy to all elements",
    "equality",
    "greater than or equal",
    "greater than",
    "less than or equal",
    "less than",
    "inequality",
]
_KINDS = "epi8 epi16 epi32 epi64 epu8 epu16 epu32 epu64 ps pd ss sd ph sh".split()  # noqa: SIM905
_WIDTHS = ["_mm", "_mm256", "_mm512"]
_MASKS = ["", "_mask", "_maskz"]
_ARCHITECTURES = {"x86_64": 0.42, "aarch64": 0.28, "arm": 0.12, "x86": 0.1, "wasm32": 0.03, "powerpc": 0.03, "mips": 0.02}


def language_reference(pages: int = 21_600) -> NamedWeb:
    """Three crates of a language; four fifths of the pages are intrinsics of processors that differ in a word or a number."""
    host = "language.localhost"
    items: dict[str, list[str]] = {}
    """By folder: names of the pages in it."""
    intrinsics = [f"{w}{m}_{op}_{k}" for op, k, m, w in itertools.product(_OPS, _KINDS, _MASKS, _WIDTHS)]
    for architecture, share in _ARCHITECTURES.items():
        count, begin = int(pages * 0.8 * share), hashed(architecture) % 100
        items[f"core/arch/{architecture}"] = [
            f"constant.{each.upper()}" if number % 20 == 7 else f"fn.{each}"
            for number, each in enumerate(itertools.islice(itertools.cycle(intrinsics), begin, begin + count))
        ]
        items[f"core/arch/{architecture}"] = list(dict.fromkeys(items[f"core/arch/{architecture}"]))
    others = pages - sum(map(len, items.values())) - 60
    for number, (crate, module) in enumerate(itertools.product(("core", "alloc", "std"), words(12, "modules"))):
        kinds = itertools.cycle(("struct", "trait", "fn", "enum", "macro"))
        share = max(1, (others + 35 - number) // 36)
        items[f"{crate}/{module}"] = [f"{kind}.{module}{each}" for kind, each in zip(kinds, range(share), strict=False)]
    real = ["/", "/core/", "/alloc/", "/std/", "/core/arch/"]
    real += [f"/{folder}/" for folder in items] + [
        f"/{folder}/{each}.html" for folder, names in items.items() for each in names
    ]
    known = frozenset(real)

    def answers(_: str, target: str) -> Answer:
        if target not in known:
            return NOTHING
        folder, _, name = target[1:].rpartition("/")
        up = "../" * (folder.count("/") + 1) if folder else ""
        around = [(up or "/", "All crates"), (f"{up}core/", "core")]
        if not folder:
            return Page("Crates", "", [(f"/{each}/", each) for each in ("core", "alloc", "std")], _RUST)
        if not name:
            below = sorted({each[len(folder) + 1 :].partition("/")[0] + "/" for each in items if each.startswith(f"{folder}/")})
            if folder == "core":
                below.append("arch/")
            here = [(f"{each}.html", each.partition(".")[2]) for each in items.get(folder, ())]
            links: list[str | tuple[str, str]] = [*around, *dict.fromkeys(below), *here]
            return Page(f"{folder.replace('/', '::')} - Rust", "Modules, structs, traits and functions.", links, _RUST)
        return Page(
            f"{name[:-5].partition('.')[2]} in {folder.replace('/', '::')} - Rust", _item(folder, name[:-5]), around, _RUST
        )

    return finite("language", host, real, answers)


def _item(folder: str, name: str) -> str:
    kind, _, name = name.partition(".")
    if not folder.startswith("core/arch/"):
        return f"pub {kind} {name}\n\n{prose(40 + hashed(name) % 150, folder, name)}\n\nImplementations. Trait implementations."
    architecture = folder.rpartition("/")[2]
    available = f"Available on {architecture} only."
    if kind == "constant":
        return f"pub const {name}: i32 = {hashed(name) % 32};\n\n{available}\n\nFor use with the function of that name."
    width, _, rest = name[1:].partition("_")
    op, bits = rest.split("_")[-2], rest.rpartition("_")[2]
    does = _SAYS[_OPS.index(op) % len(_SAYS)]
    mask = {"mask": ", using a writemask", "maskz": ", using a zeromask"}.get(rest.partition("_")[0], "")
    return (
        f"pub unsafe fn {name}(a: __m{width[2:] or 128}i, b: __m{width[2:] or 128}i) -> __m{width[2:] or 128}i\n\n"
        f"{available} Target feature avx512{'bw' if '8' in bits else 'f'}. This is a nightly-only experimental API.\n\n"
        f"Compute the {does} of packed {bits} in a and b, and store the results in dst{mask}. Intel's documentation."
    )
