"""Record what a command writes, and make its directory as a power cut at any moment may leave it.

`Recorder` runs a command with the library of ``write_recorder.c``. `Recording` replays the journal of that library up to a
chosen record and writes the directory: what was synced is there. Of everything else any part may be there or not, as a seed
says: pages and sectors of files, their sizes, names in directories. A sync of a new file does not confirm its name, only a sync
of its directory does.
"""

from __future__ import annotations

import copy
import itertools
import math
import os
import platform
import random
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).with_name("write_recorder.c")
PAGE, SECTOR = 4096, 512
_HEAD = struct.Struct("<8sQqQII")


class Record(NamedTuple):
    """One change, see ``write_recorder.c``."""

    kind: str
    inode: int
    offset: int
    data: bytes
    path: str
    target: str


class File:
    """A file or symbolic link, however many names it has."""

    def __init__(self, inode: int, data: bytes = b"", link: str = "") -> None:
        self.inode = inode
        self.link = link
        self.synced = data
        self.data = bytearray(data)
        self.changes: list[tuple[int, int, bytes]] = []
        """Since the last sync: length of the file afterwards; offset and data of a write."""

    def write(self, offset: int, data: bytes) -> None:
        self.data.extend(bytes(max(0, offset - len(self.data))))
        self.data[offset : offset + len(data)] = data
        self.changes.append((len(self.data), offset, data))

    def resize(self, size: int) -> None:
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))
        self.changes.append((size, 0, b""))

    def sync(self) -> None:
        if self.changes:
            self.synced, self.changes = bytes(self.data), []

    def after_cut(self, how: str, choose: random.Random) -> bytes:
        """Return what the disk may have of it."""
        if how == "mixed":
            how = choose.choice(["old", "new", "long", "pages", "sectors"])
        if not self.changes or how == "old":
            return self.synced
        if how == "new":
            return bytes(self.data)
        if how == "long":  # the size was written, the data was not
            return self._mixed(SECTOR, sum(self._shrinks()), lambda versions: versions[0], lambda sizes: sizes[-1])
        cuts = choose.randrange(sum(self._shrinks()) + 1)
        return self._mixed(PAGE if how == "pages" else SECTOR, cuts, choose.choice, choose.choice)

    def _shrinks(self) -> list[bool]:
        """Whether each change cuts the file: its new length is on the disk as a whole or not at all."""
        sizes = [len(self.synced), *(size for size, _, _ in self.changes)]
        return [later < earlier for earlier, later in itertools.pairwise(sizes)]

    def _mixed(self, piece: int, cuts: int, version: Callable[[list[bytes]], bytes], size: Callable[[list[int]], int]) -> bytes:
        """Take each piece in some version, after so many times that the file was cut; ``size`` chooses its length."""
        data, done, end = bytearray(self.synced), 0, math.inf
        versions = {number: [_piece(data, number, piece)] for number in range(-(-len(data) // piece))}
        sizes = [len(data)]
        for (length, offset, written), shrinks in zip(self.changes, self._shrinks(), strict=True):
            touched = {*range(offset // piece, -(-(offset + len(written)) // piece))} if written else set[int]()
            if shrinks:
                done += 1
                freed = -(-length // piece)
                touched = {length // piece} if length % piece else set()
                if done <= cuts:
                    versions, sizes = {number: each for number, each in versions.items() if number < freed}, []
                else:  # on the disk the file is as long as before, and what is written behind the new end is not in it
                    end = min(end, freed)
            del data[length:]
            data.extend(bytes(length - len(data)))
            data[offset : offset + len(written)] = written
            for number in touched:
                if number < end:
                    versions.setdefault(number, [bytes(piece)]).append(_piece(data, number, piece))
            if done <= cuts:
                sizes.append(length)
        chosen = size(sizes)
        found = bytearray(chosen)
        for number, each in sorted(versions.items()):
            found[number * piece : (number + 1) * piece] = version(each)
        return bytes(found[:chosen])


def _piece(data: bytes | bytearray, number: int, size: int) -> bytes:
    return bytes(data[number * size : (number + 1) * size]).ljust(size, b"\0")


class Folder:
    """A directory: its names as they are, and as they were synced last."""

    def __init__(self, inode: int) -> None:
        self.inode = inode
        self.names: dict[str, Node] = {}
        self.synced: dict[str, Node] = {}
        self.changes: list[NameChange] = []


Node = File | Folder


class NameChange(NamedTuple):
    """Names that change together, each in its folder; None: the name goes."""

    number: int
    effects: tuple[tuple[Folder, str, Node | None], ...]


class Cut(NamedTuple):
    """A power cut before a record; what it leaves depends on nothing else."""

    at: int
    seed: int


class Recording:
    """What one command did to a folder, from a copy of the folder before it and the journal."""

    def __init__(self, before: Folder, folder: Path, records: list[Record]) -> None:
        self.folder = folder
        self.records = records
        self._before = before

    def choose(self, count: int, seed: int) -> list[Cut]:
        """Return cuts in their order: half anywhere, half just before or after a sync or a change of names."""
        moments = [at for at, record in enumerate(self.records) if record.kind in "SRULDC"]
        choose = random.Random(seed)
        found = []
        for number in range(count):
            near = choose.choice(moments) + choose.randrange(2)
            found.append(Cut(near if number % 2 else choose.randrange(len(self.records)), choose.randrange(10**6)))
        return sorted(found)

    def replayed(self, cuts: list[Cut], place: Path) -> Iterator[tuple[Cut, Path]]:
        """For each cut, in their order, write the folder as it may be afterwards."""
        disk = Disk(copy.deepcopy(self._before), self.folder)
        done = 0
        for number, cut in enumerate(sorted(cuts)):
            for record in self.records[done : cut.at]:
                disk.apply(record)
            done = max(done, cut.at)
            target = place / f"cut-{number}"
            disk.cut(target, random.Random(cut.seed))
            yield cut, target

    def end(self) -> dict[str, bytes | str | None]:
        """Replay everything; return each path with its content."""
        disk = Disk(copy.deepcopy(self._before), self.folder)
        for record in self.records:
            disk.apply(record)
        return disk.contents()


class Disk:
    """A folder on a disk that may lose what was not synced."""

    def __init__(self, root: Folder, folder: Path) -> None:
        self._root = root
        self._folder = str(folder)
        self._nodes: dict[int, Node] = {}
        """By inode: a new file may get the inode of one that is gone."""
        self._folders: list[Folder] = []
        self._number = 0
        self._note(root)

    def _note(self, node: Node) -> None:
        self._nodes[node.inode] = node
        if isinstance(node, Folder):
            self._folders.append(node)
            for each in node.names.values():
                self._note(each)

    def apply(self, record: Record) -> None:
        kind, inode = record.kind, record.inode
        if kind == "W":
            self._file(inode).write(record.offset, record.data)
        elif kind == "T":
            self._file(inode).resize(record.offset)
        elif kind == "A":
            file = self._file(inode)
            file.resize(max(len(file.data), record.offset))
        elif kind == "S":
            self._sync(self._nodes[inode])
        elif kind in "CNDK":
            node: Node = Folder(inode) if kind == "D" else File(inode, link=record.target)
            self._note(node)
            if kind != "N":
                self._change((*self._place(record.path), node))
        elif kind == "L":
            self._change((*self._place(record.path), self._nodes[inode]))
        elif kind == "U":
            folder, name = self._place(record.path)
            if name in folder.names:  # a socket is not
                self._change((folder, name, None))
        elif kind == "R":
            (source, old), (target, new) = self._place(record.path), self._place(record.target)
            if old in source.names:
                other = target.names.get(new) if record.offset & 2 else None  # RENAME_EXCHANGE
                self._change((source, old, other), (target, new, source.names[old]))
        else:
            raise AssertionError(record.kind)

    def _file(self, inode: int) -> File:
        node = self._nodes[inode]
        assert isinstance(node, File)
        return node

    def _place(self, path: str) -> tuple[Folder, str]:
        *parents, name = os.path.relpath(path, self._folder).split("/")
        folder = self._root
        for parent in parents:
            node = folder.names[parent]
            assert isinstance(node, Folder), path
            folder = node
        return folder, name

    def _change(self, *effects: tuple[Folder, str, Node | None]) -> None:
        self._number += 1
        change = NameChange(self._number, effects)
        for folder, name, node in effects:
            _set(folder.names, name, node)
            folder.changes.append(change)

    def _sync(self, node: Node) -> None:
        if isinstance(node, File):
            node.sync()
            return
        for change in node.changes:  # a name that moves from one folder to another is never in both or in none
            for folder, name, named in change.effects:
                if folder is not node:
                    earlier = [each for each in folder.changes if each.number <= change.number]
                    folder.changes = [each for each in folder.changes if each.number > change.number]
                    for each in earlier:
                        for where, which, what in each.effects:
                            if where is folder:
                                _set(folder.synced, which, what)
                    _set(folder.synced, name, named)
        node.synced, node.changes = dict(node.names), []

    def cut(self, target: Path, choose: random.Random) -> None:
        """Write what the disk may have."""
        changes = {each.number: each for folder in self._folders for each in folder.changes}
        numbers = sorted(changes)
        how = choose.choice(["old", "new", "first", "mixed"])
        if how == "first":
            kept = set(numbers[: choose.randrange(len(numbers) + 1)])
        else:
            kept = {each for each in numbers if how == "new" or (how == "mixed" and choose.random() < 0.5)}
        names = {id(folder): dict(folder.synced) for folder in self._folders}
        for number in sorted(kept):
            for folder, name, node in changes[number].effects:
                _set(names[id(folder)], name, node)
        self._write(self._root, target, names, choose.choice(["old", "new", "mixed", "mixed"]), choose, {})

    def _write(
        self,
        folder: Folder,
        target: Path,
        names: Mapping[int, Mapping[str, Node]],
        how: str,
        choose: random.Random,
        done: dict[int, Path],
    ) -> None:
        target.mkdir()
        for name, node in sorted(names[id(folder)].items()):
            path = target / name
            if isinstance(node, Folder):
                self._write(node, path, names, how, choose, done)
            elif id(node) in done:
                os.link(done[id(node)], path)
            elif node.link:
                path.symlink_to(node.link)
            else:
                path.write_bytes(node.after_cut(how, choose))
                done[id(node)] = path

    def contents(self) -> dict[str, bytes | str | None]:
        return dict(_contents(self._root, ""))


def contents(folder: Path) -> dict[str, bytes | str | None]:
    """Return each path below the folder: with its bytes, or the target of a link; None for a folder."""
    return dict(_contents(read_folder(folder), ""))


def _contents(folder: Folder, path: str) -> Iterator[tuple[str, bytes | str | None]]:
    for name, node in folder.names.items():
        if isinstance(node, Folder):
            yield f"{path}{name}", None
            yield from _contents(node, f"{path}{name}/")
        else:
            yield f"{path}{name}", node.link or bytes(node.data)


def _set(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def read_folder(path: Path, known: dict[int, File] | None = None) -> Folder:
    """Read a folder in which everything is synced."""
    known = {} if known is None else known
    folder = Folder(path.stat().st_ino)
    for each in path.iterdir():
        found = each.lstat()
        if stat.S_ISDIR(found.st_mode):
            folder.names[each.name] = read_folder(each, known)
        elif stat.S_ISLNK(found.st_mode):
            folder.names[each.name] = File(found.st_ino, link=os.readlink(each))
        elif stat.S_ISREG(found.st_mode):
            folder.names[each.name] = known.setdefault(found.st_ino, File(found.st_ino, each.read_bytes()))
    folder.synced = dict(folder.names)
    return folder


class Recorder:
    """Records a command that changes ``folder``: it is to be run with `environment`."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._folder = folder.resolve()
        self._before = read_folder(self._folder)
        self._journal = folder.with_name(f"{folder.name}.journal")
        self._journal.unlink(missing_ok=True)
        self.environment = {
            "LD_PRELOAD": str(library),
            "RECORD_FOLDER": str(self._folder),
            "RECORD_JOURNAL": str(self._journal),
        }

    def done(self) -> Recording:
        """The command has ended."""
        return Recording(self._before, self._folder, list(_records(self._journal.read_bytes())))


def _records(data: bytes) -> Iterator[Record]:
    at = 0
    while at < len(data):
        kind, inode, offset, size, path, target = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        words = data[at : at + path + target]
        at += path + target
        written = data[at : at + size] if kind[:1] == b"W" else b""
        at += len(written)
        yield Record(chr(kind[0]), inode, offset, written, os.fsdecode(words[:path]), os.fsdecode(words[path:]))


def compiled(folder: Path) -> Path:
    """Compile the library; skip the test where that is not possible."""
    compiler = shutil.which("cc")
    if compiler is None or platform.system() != "Linux" or platform.machine() != "x86_64":
        pytest.skip("no C compiler, or no Linux on x86-64")
    made = folder / "write_recorder.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(made), str(SOURCE)], check=True)
    return made
