"""``larm warc export`` that is ended half-way leaves nothing that looks like an archive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from larm import cli
from tests.stories.crawls import ALL_HOSTS, run_crawl
from tests.support.random_web import random_web

ENDED = """
import os, signal, sys
from larm.store.archive.records import Records
from larm.__main__ import main

made = Records.resource

def resource(*args):
    os.kill(os.getpid(), {number})
    return made(*args)

Records.resource = resource
sys.argv = ["larm", *{arguments}]
main()
"""


@pytest.mark.parametrize("name", ["archive", "archive.wacz"])
def test_export_that_is_ended_leaves_no_archive_and_the_next_one_works(tmp_path: Path, name: str) -> None:
    directory, target = tmp_path / "crawl", tmp_path / "out" / name
    with random_web(seed=3, hosts=1, pages=4) as web:
        run_crawl(directory, web.start_urls, ALL_HOSTS)
    target.parent.mkdir()
    arguments = ["warc", "export", "--output", str(target), "--dir", str(directory)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        script = ENDED.format(number=int(number), arguments=arguments)
        ended = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, check=False, timeout=60)
        assert ended.returncode in (-number, 128 + number), ended.stderr
        assert [each for each in os.listdir(target.parent) if number == signal.SIGTERM or not each.startswith(".")] == []
    assert cli.run(arguments) == 0
    assert os.listdir(target.parent) == [name], "what was killed is gone"
