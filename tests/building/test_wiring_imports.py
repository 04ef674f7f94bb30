"""What every crawl loads is its start; what few need is loaded for those."""

from __future__ import annotations

import subprocess
import sys

FOR_FEW = ("email", "http.client", "importlib.metadata", "larm.archive", "numpy", "zipfile")


def test_what_few_crawls_need_is_not_loaded_by_all() -> None:
    code = f"import sys, larm.building.wiring; print(*[each for each in {FOR_FEW} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
