"""Searches in scripts that put no spaces between words, and in some that do."""

from __future__ import annotations

import pytest

from larm.index.page import Page
from larm.index.search.searcher import IndexSearcher
from larm.index.writer import IndexWriter
from tests.store.stored_pages import url

PAGES = {
    "zh": ("搜索引擎", "网络爬虫是一种按照一定的规则，自动地抓取万维网信息的程序。版本2024年发布，使用Python编程。"),
    "ja": (
        "検索エンジン",
        "クローラは、ウェブ上の文書や画像を周期的に取得し、データベース化するプログラムである。",
    ),
    "th": ("โปรแกรมค้นหา", "เว็บครอว์เลอร์คือโปรแกรมที่ท่องเว็บอย่างเป็นระบบเพื่อรวบรวมข้อมูล"),
    "ko": ("검색 엔진", "웹 크롤러는 조직적이고 자동화된 방법으로 월드 와이드 웹을 탐색하는 프로그램이다."),
    "hi": ("खोज इंजन", "वेब क्रॉलर एक प्रोग्राम है जो हिन्दी पृष्ठों को पढ़ता है।"),
    "en": (
        "Search engines",
        "A crawler reads pages; in Japanese it is クローラ, and that is all in this English page.",
    ),
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> IndexSearcher:
    directory = tmp_path_factory.mktemp("crawl")
    writer = IndexWriter(directory / "index", 15_000_000, 1)
    writer.open(None)
    for language, (title, text) in PAGES.items():
        writer.add(Page(url(f"http://a.org/{language}"), "text/html", title, text, language=language))
    writer.commit()
    writer.close()
    return IndexSearcher(directory)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("爬虫", {"zh"}),
        ("万维网 程序", {"zh"}),
        ("虫爬", set()),  # the characters are there, but not in this order
        ('"自动地抓取"', {"zh"}),
        ("python", {"zh"}),  # no space before or after it
        ("2024", {"zh"}),
        ("データベース", {"ja"}),
        ("クローラ", {"ja", "en"}),
        ("検索", {"ja"}),
        ("โปรแกรม", {"th"}),
        ("ข้อมูล", {"th"}),
        ("크롤러", {"ko"}),
        ("프로그램", {"ko"}),
        ("हिन्दी", {"hi"}),
        ("crawler -クローラ", set()),
    ],
)
def test_words_are_found_wherever_they_stand(searcher: IndexSearcher, query: str, expected: set[str]) -> None:
    results = searcher.search(query)
    assert {hit.url.rpartition("/")[2] for hit in results} == expected
    if expected:
        assert all(any(marked for _, marked in hit.parts) or hit.title for hit in results)


def test_a_question_is_answered_without_all_its_words(searcher: IndexSearcher) -> None:
    assert searcher.search("什么程序自动抓取互联网信息？").hits[0].url.endswith("/zh")
    assert searcher.search("どのプログラムが画像を取得しますか").hits[0].url.endswith("/ja")
