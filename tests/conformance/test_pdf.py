"""PDF: words found against the text that poppler finds, and what must hold for every file, however broken.

Recall is the share of poppler's words (with their numbers), over the files in which it finds more than 50 characters.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from time import perf_counter

from larm.config import DocumentsSettings
from larm.parse.apart.protocol import PDF, Found
from larm.parse.apart.reader import DocumentReader
from tests.shared_data import shared

_NO_TITLES = ("Subject:", "Author:", "Creator:")  # the reference took the next line where the title is empty
LONGEST = 10.0
"""Seconds for one file; each has the memory of the default settings, less than 500 MB."""


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def recall(wanted: str, found: str) -> float:
    there = words(wanted)
    return (there & words(found)).total() / max(1, there.total())


def test_poppler() -> None:
    lines = shared("pdf-samples", "given", "poppler-reference.jsonl").read_text(encoding="utf-8").splitlines()
    references = {row["file"]: row for row in map(json.loads, lines)}
    reader = DocumentReader(DocumentsSettings(processes=1))
    scores: dict[str, float] = {}
    titles = right = 0
    slowest = 0.0
    try:
        with tarfile.open(shared("pdf-samples", "given", "pdfs.tar.xz")) as tar:
            for member in tar:
                file = tar.extractfile(member)
                reference = references.get(member.name.rpartition("/")[2])
                if file is None or reference is None:
                    continue
                start = perf_counter()
                found = reader.read(PDF, file.read())
                slowest = max(slowest, perf_counter() - start)
                assert isinstance(found, Found)
                assert not any("reading process" in warning for warning in found.warnings), (member.name, found.warnings)
                if len(reference["text"] or "") > 50:
                    scores[member.name] = recall(reference["text"], found.text)
                title = "".join(filter(str.isprintable, reference["title"] or "")).strip()
                if title and not title.startswith(_NO_TITLES) and not found.failed:
                    titles += 1
                    right += " ".join(title.split()) == found.title
    finally:
        reader.close()
    mean = sum(scores.values()) / len(scores)
    worst = sorted(scores.items(), key=lambda each: each[1])[:5]
    print(
        f"PDF against poppler: recall {mean:.3f} over {len(scores)} files, titles {right} of {titles}, slowest {slowest:.1f} s"
    )
    print(*worst, sep="\n")
    assert len(scores) >= 50
    assert mean >= 0.95
    assert slowest < LONGEST
