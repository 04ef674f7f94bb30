from __future__ import annotations

import os
from pathlib import Path

from larm.kit.processes.memory_budget import machine_memory

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_that_of_the_machine(tmp_path: Path) -> None:
    assert machine_memory(tmp_path / "none", tmp_path) == MACHINE
    groups = file(tmp_path / "cgroup", "0::/user.slice\n")
    file(tmp_path / "fs/user.slice/memory.max", "max\n")
    assert machine_memory(groups, tmp_path / "fs") == MACHINE


def test_the_least_limit_of_the_groups_around_us(tmp_path: Path) -> None:
    groups = file(tmp_path / "cgroup", "0::/a/b/c\n")
    file(tmp_path / "fs/a/b/c/memory.max", "max\n")
    file(tmp_path / "fs/a/b/memory.max", "3000000\n")
    file(tmp_path / "fs/a/memory.max", "5000000\n")
    assert machine_memory(groups, tmp_path / "fs") == 3_000_000


def test_within_a_container_the_root_is_its_group(tmp_path: Path) -> None:
    groups = file(tmp_path / "cgroup", "0::/docker/0123\n")
    file(tmp_path / "fs/memory.max", "4000000\n")
    assert machine_memory(groups, tmp_path / "fs") == 4_000_000


def test_version_1(tmp_path: Path) -> None:
    groups = file(tmp_path / "cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n1:name=systemd:/x\n")
    file(tmp_path / "fs/memory/x/memory.limit_in_bytes", "2000000\n")
    file(tmp_path / "fs/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert machine_memory(groups, tmp_path / "fs") == 2_000_000


def test_nonsense_is_no_limit(tmp_path: Path) -> None:
    assert machine_memory(file(tmp_path / "cgroup", "what\n"), tmp_path) == MACHINE
