"""Feeds in JSON."""

from __future__ import annotations

import json
import time

import pytest

from larm.model.cuts import EFFORT
from larm.parse.by_mime import JSON
from tests.parse.pages import document

FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "A  feed",
    "description": "about",
    "home_page_url": "/",
    "feed_url": "/feed",
    "next_url": "?page=2",
    "language": "en",
    "items": [
        {
            "id": 1,
            "url": "/1",
            "external_url": "http://b.localhost/",
            "title": "First",
            "summary": "in short",
            "content_html": "<p>one<p>two <a href=/in>inside</a><script>unseen</script>",
            "date_published": "2020-01-31T00:00:00Z",
            "date_modified": None,
        },
        {"id": "2", "url": "/2", "content_text": "1 < 2"},
    ],
}


@pytest.mark.parametrize("mime", JSON)
def test_it_is_read_as_other_feeds_are(mime: str) -> None:
    found = document("\ufeff" + json.dumps(FEED), content_type=mime)
    assert (found.mime, found.title, found.language, found.modified) == (mime, "A feed", "en", 1_580_428_800)
    assert found.text.split() == ["about", "First", "in", "short", "one", "two", "inside", "1", "<", "2"]
    assert [(link.url.access.removeprefix("http://a.localhost"), link.anchor) for link in found.links if link.follow] == [
        ("/", "A feed"),
        ("/dir/page.html?page=2", ""),
        ("/1", "First"),
        ("http://b.localhost/", ""),
        ("/in", "inside"),
        ("/2", ""),
    ]


@pytest.mark.parametrize("body", ["{}", '{"a": "https://jsonfeed.org/version/1"}', '{"version": "1", "x": "jsonfeed.org"}'])
def test_other_json_is_not_read(body: str) -> None:
    found = document(body, content_type="application/json")
    assert (found.text, len(found.links), found.warnings) == ("", 0, ())


@pytest.mark.parametrize(
    ("items", "warning"),
    [
        ("[" * 1_000_000, "JSON Feed: "),
        ('[{"url": ', "JSON Feed: "),
        ("{}", "JSON Feed: Expected `array | null`, got `object`"),
        ("[" + ",".join(["{}"] * 1_000_000) + "]", "too many objects"),
        ('[{"content_html": "' + "<div>x" * 100_000 + '"}]', ""),
    ],
    ids=["deep", "cut off", "not a list", "many", "deep HTML"],
)
def test_hostile_feeds(items: str, warning: str) -> None:
    body = f'{{"version": "https://jsonfeed.org/version/1", "items": {items}}}'
    began = time.process_time()
    found = document(body, content_type="application/feed+json")
    assert time.process_time() - began < 10
    assert warning in "".join(found.warnings)
    assert found.cuts == ((EFFORT,) if "<div>" in items or "many" in warning else ())
