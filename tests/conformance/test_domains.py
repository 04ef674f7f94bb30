"""Registered domains: the public suffix list's own vectors, and real hosts."""

from __future__ import annotations

from larm.model.domain import registered_domain
from larm.model.url import BadUrl, URLNormalizer
from tests.shared_data import shared

_NORMALIZER = URLNormalizer()


def _access(host: str) -> str:
    """The host name as larm knows hosts: lower case, IDNs in Punycode. Empty for what is no host name."""
    if host == "null" or host.startswith("."):
        return ""
    try:
        return _NORMALIZER.parse(f"http://{host}/").hostname
    except BadUrl:
        return ""


def test_vectors() -> None:
    wrong = []
    count = 0
    for line in shared("psl", "given", "tests.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("//"):
            continue
        host, domain = line.split()
        count += 1
        as_given = registered_domain(host) if _access(host) else ""
        in_a_url = registered_domain(_access(host))
        if (as_given, in_a_url) != ("" if domain == "null" else domain, _access(domain)):
            wrong.append((host, domain, as_given, in_a_url))
    print(f"psl, vectors: {count - len(wrong)} of {count}")
    assert wrong == []
    assert count == 78


def test_real_hosts() -> None:
    lines = shared("psl", "given", "registered-domains.tsv").read_text(encoding="utf-8").splitlines()
    cases = [[*line.split("\t"), ""][:2] for line in lines]
    wrong = [(host, domain, found) for host, domain in cases if (found := registered_domain(host)) != domain]
    print(f"psl, real hosts: {len(cases) - len(wrong)} of {len(cases)}")
    assert wrong == []
    assert len(cases) > 4_900
