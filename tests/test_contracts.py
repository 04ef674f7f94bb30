"""Who may import whom, and which packages larm may import at all: what pyproject.toml says of it can fail."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN = {*sys.stdlib_module_names, "compression", "larm"}
"""Python's, of 3.14 too, and ours."""


def test_each_contract_can_fail(tmp_path: Path) -> None:
    pytest.importorskip("importlinter")
    shutil.copytree(ROOT / "larm", tmp_path / "larm", ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.c"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = {
        "model/url.py": "import larm.engine.crawl",
        "engine/landing.py": "import tantivy",
        "index/search/searcher.py": "import numpy",
        "index/duplicates/row.py": "import tantivy",
        "frontier/host.py": "import pycurl",
        "kit/clock.py": "import sqlite3",
        "crawldir/marker.py": "import diskcache",
        "cli/check.py": "import pypdfium2",
        "cli/stats.py": "import starlette",
        "web/access.py": "import cryptography",
    }
    for file, line in planted.items():
        path = tmp_path / "larm" / file
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    (tmp_path / "larm" / "cellar").mkdir()
    (tmp_path / "larm" / "cellar" / "__init__.py").touch()
    said = lint(tmp_path)
    assert said.returncode != 0
    for file, line in planted.items():
        module = file.removesuffix(".py").replace("/", ".")
        assert f"larm.{module} -> {line.split()[1]}" in said.stdout, file
    assert "cellar" in said.stdout


def test_they_hold() -> None:
    pytest.importorskip("importlinter")
    said = lint(ROOT)
    assert said.returncode == 0, said.stdout


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """What it says of the larm in a folder."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    )


def test_what_is_imported_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [each for name, wanted in declared["optional-dependencies"].items() if name != "test" for each in wanted]
    names = {canonical(re.split(r"[^\w.-]", each)[0]) for each in [*declared["dependencies"], *extras]}
    found = metadata.packages_distributions()
    for module, file in imported():
        owners = {canonical(each) for each in found.get(module, ())}
        assert (owners or {canonical(module)}) & names, f"{file} imports {module}, which pyproject.toml does not declare"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported() -> list[tuple[str, Path]]:
    """Top names of all that larm imports which is neither its own nor Python's."""
    names = []
    for file in (ROOT / "larm").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                names += [(alias.name.partition(".")[0], file) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.append((node.module.partition(".")[0], file))
    return [(name, file) for name, file in names if name not in OWN]
