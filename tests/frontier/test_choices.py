from __future__ import annotations

import pytest

from larm.frontier.traps.parameters import Choices
from larm.model.url_shape import parts_of


def view(choices: Choices, address: str) -> str | None:
    pattern = choices.pattern(parts_of(f"http://a.test{address}"))
    return pattern.text if pattern else None


@pytest.mark.parametrize(
    ("address", "pattern"),
    [
        ("/wiki?action=edit&id=7", "/wiki?action=edit&id"),
        ("/git?p=a.git;a=blob;hb=0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", "/git?a=blob&hb&p=a.git"),
        ("/2026/list;view=all?sort=up", "/0/list?;view=all&sort=up"),
        ("/list?field2=name", "/list?field0=name"),
        ("/list?page=3&from=2026-05-01&sid=x3f&empty=&dots=...", None),
        ("/list?q=" + "long" * 9, None),
        ("/list", None),
    ],
)
def test_words_may_be_choices_and_what_has_digits_is_none(address: str, pattern: str | None) -> None:
    assert view(Choices(), address) == pattern


def test_what_has_too_many_values_is_no_choice() -> None:
    choices = Choices()
    for number in range(33):
        word = chr(97 + number % 26) * (1 + number // 26)
        choices.learn(parts_of(f"http://a.test/wiki?action={'view' if number % 2 else 'edit'}&tag={word}"))
        assert view(choices, f"/wiki?action=edit&tag={word}") == f"/wiki?action=edit&tag{f'={word}' if number < 32 else ''}"
    assert view(choices, "/wiki?tag=a") is None
    assert view(Choices(dict(choices.values)), "/wiki?tag=a&action=edit") == "/wiki?action=edit&tag"


def test_names_are_bounded() -> None:
    choices = Choices()
    for length in range(1, 100):
        choices.learn(parts_of(f"http://a.test/?{'x' * length}=word"))
    assert len(choices.values) == 64
