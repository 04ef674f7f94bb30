"""The files filter."""

from __future__ import annotations

from larm.filters.files import FilesFilter
from larm.model.file_rules import FileRules, Root
from larm.model.message import URLMessage
from larm.model.url import URLNormalizer
from larm.testing.fakes import Drops

NORMALIZER = URLNormalizer(files=True)


def messages(*addresses: str) -> list[URLMessage]:
    return [URLMessage(NORMALIZER.parse(each)) for each in addresses]


def test_what_is_not_wanted_is_dropped_for_its_reason_and_the_web_passes() -> None:
    part = FilesFilter(FileRules([Root("/srv/my docs", listed=True)]))
    batch = messages("http://a.org/", "file:///srv/my%20docs/a", "file:///etc/passwd", "file:///srv/my docs/.b")
    drops = Drops()
    assert part.sift(batch, drops) == batch[:2]
    assert drops.urls() == ["file:///etc/passwd", "file:///srv/my%20docs/.b"]
    assert drops.reasons() == ["not in a start folder", "hidden (files.hidden)"]
    assert [part.explain(each) for each in batch] == [None, None, *drops.reasons()]
