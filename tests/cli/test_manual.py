"""``larm help``: the manual that is in the package."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

from larm import cli


@pytest.mark.parametrize(
    ("topic", "begins"),
    [
        ("crawl", "larm crawl\n----------\n"),
        ("larm crawl", "larm crawl\n----------\n"),
        ("ARCHIVES", "Archives\n========\n"),
        ("searching", "=========\nSearching\n=========\n\n\nWhat you can ask\n"),
        ("readme", "====\nlarm\n====\n"),
        ("changes", "=======\nChanges\n"),
        ("architecture", "====="),
        ("sites", "Settings of one site\n"),
        ("host", "Hosts that never end\n"),
    ],
)
def test_a_topic_is_shown(topic: str, begins: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["help", *topic.split()]) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_all_topics_are_listed_and_others_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["help"]) == 0
    listed = capsys.readouterr().out
    for title in ("Installing", "  larm crawl", "  Manners", "changes"):
        assert f"  {title}\n" in listed
    assert cli.run(["help", "nonsense"]) == 2
    assert "no part of the manual is about 'nonsense'" in capsys.readouterr().err


def test_links_between_chapters_are_names_to_ask_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["help", "commands", "and", "options"]) == 0
    said = capsys.readouterr().out
    assert "see 'Scope'" in said
    assert "see 'Archives'" in said
    assert ".. _" not in said


def test_licences(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["version", "--licences"]) == 0
    said = capsys.readouterr().out
    for name in ("tantivy", "pycurl", "numpy"):
        assert f"\n{name} " in said
    assert "not said" not in said


def test_bill_of_materials(capsys: pytest.CaptureFixture[str]) -> None:
    """All that is installed for larm, and nothing that only tests need; each reference leads to a component."""
    assert cli.run(["version", "--sbom"]) == 0
    bill = json.loads(capsys.readouterr().out)
    parts = {part["name"].lower(): part for part in bill["components"]}
    assert set(parts) >= {"tantivy", "pycurl", "numpy"}
    assert "markupsafe" in parts, "jinja2 needs it"
    assert not {"pytest", "hypothesis", "playwright"} & set(parts)
    assert parts["tantivy"]["purl"] == f"pkg:pypi/tantivy@{version('tantivy')}"
    assert all(part["licenses"] for part in parts.values())
    known = {part["bom-ref"] for part in (*bill["components"], bill["metadata"]["component"])}
    lines = {line["ref"]: line["dependsOn"] for line in bill["dependencies"]}
    assert set(lines) == known
    assert {each for of in lines.values() for each in of} | {bill["metadata"]["component"]["bom-ref"]} == known
