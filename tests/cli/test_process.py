"""The process around it all: closed pipes, odd encodings, start-up time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from larm import cli


def python(*arguments: str, directory: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    root = str(Path(cli.__file__).parents[2])
    clean = {**os.environ, "PYTHONPATH": root, **environment}
    return subprocess.run([sys.executable, *arguments], capture_output=True, check=False, cwd=directory, env=clean, timeout=30)


def test_python_m_larm(tmp_path: Path) -> None:
    done = python("-m", "larm", "version", directory=tmp_path)
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, b"larm", b"")
    assert list(tmp_path.iterdir()) == [], "it leaves nothing behind"


def test_an_error_leaves_with_its_status(tmp_path: Path) -> None:
    done = python("-m", "larm", "crawl", directory=tmp_path)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["version", "stats"])
def test_start_imports_nothing_heavy(tmp_path: Path, command: str) -> None:
    """``larm version`` must start in a quarter of a second."""
    script = f"import sys; from larm import cli; cli.run([{command!r}]); print(sorted(sys.modules), file=sys.stderr)"
    loaded = python("-c", script, directory=tmp_path).stderr.decode()
    for heavy in ("tantivy", "pycurl", "selectolax", "html5lib", "diskcache", "rich.live", "asyncio"):
        assert f"'{heavy}'" not in loaded


def test_a_crawl_loads_nothing_that_few_crawls_need(tmp_path: Path) -> None:
    """Zip files and mail come with entry points, half of the standard library's HTTP with cookies: a tenth of a start."""
    script = "import sys, larm.ops.observers; print(*sorted(sys.modules))"
    loaded = python("-c", script, directory=tmp_path).stdout.split()
    assert not {b"email", b"http.client", b"importlib.metadata", b"zipfile", b"numpy"}.intersection(loaded)


def test_numpy_comes_without_what_nobody_needs(tmp_path: Path) -> None:
    """A thread for each core, which spins for 20 ms, and masked arrays, 5 ms: a small crawl takes no second."""
    script = (
        "import os, sys; from array import array; import larm.index.duplicates.aliases; from larm.graph import columns;"
        "columns.distinct(memoryview(array('Q', (2, 1))), []);"
        "print(len(os.listdir('/proc/self/task')), 'numpy.ma' in sys.modules)"
    )
    assert python("-c", script, directory=tmp_path).stdout.split() == [b"1", b"False"]


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    """As in ``larm search words | head -1``."""
    reader, writer = os.pipe()
    os.close(reader)
    root = str(Path(cli.__file__).parents[2])
    script = "import sys; sys.argv[1:] = ['crawl', '-?']; from larm.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_while_the_command_line_is_loaded_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")  # what Python does with the signal, at this place
    root = str(Path(cli.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "larm", "version"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), root))},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_no_error(tmp_path: Path, closed: str) -> None:
    """As a daemon's may be; a crawl's files must not get its number either."""
    root = str(Path(cli.__file__).parents[2])
    crawl = f"-m larm crawl -start http://127.0.0.1:1/ --dir {tmp_path} -s frontier.retry_wait=1ms"
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" {crawl} {closed}', sys.executable],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
        timeout=30,
    )
    assert done.returncode == 4
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "logs" / "crash.log").exists()


def test_a_terminal_without_unicode_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "stats.json").write_text('{"stats": {"größe \u2603": 1}}', encoding="utf-8")
    done = python("-m", "larm", "stats", "-v", directory=tmp_path, PYTHONIOENCODING="cp1252")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "größe ?: 1".encode("cp1252") in done.stdout


def test_completions_for_the_shell(tmp_path: Path) -> None:
    done = python("-m", "larm", directory=tmp_path, _LARM_COMPLETE="bash_source")
    assert done.returncode == 0
    assert b"complete" in done.stdout
