"""What a folder may be after a loss of power, from what `bench/power_shim.c` wrote down.

The disk is taken for as bad as a disk may be. What was synced is there: a file's bytes by a sync of the file, names
in a folder (of a file or folder made, renamed or deleted) by a sync of that folder, and no sync stands for another. Of
the rest each sector of each write, each new size and each name is there or isn't, whatever came before or after it; a
file that grew may have zeros where its bytes are lost. A sector that is being written is there as it was or as it will
be (what SQLite calls powersafe overwrite), and a rename happens as a whole.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

_HEAD = struct.Struct("=6Q")
SECTORS = (512, 4096)
ROOT, NOTHING = 0, -1  # the node of the folder itself, and of none
PASSING = "-shm"  # SQLite makes it anew at a start, whatever stands there

Slot = tuple[int, str]  # a folder and a name in it
Disk = dict[str, bytes | None]  # what stands at each path; None for a folder


@dataclass(frozen=True)
class Name:
    """Names that now lead elsewhere; they are there for good once the folder `of` is synced."""

    of: int
    slots: tuple[tuple[Slot, int | None], ...]


@dataclass(frozen=True)
class Write:
    """Bytes of the file `of` from a place on."""

    of: int
    at: int
    data: bytes


@dataclass(frozen=True)
class Size:
    """The file `of` is cut, or filled up with zeros."""

    of: int
    n_bytes: int


@dataclass(frozen=True)
class Sync:
    """A file's bytes, or a folder's names, are on the disk."""

    of: int


@dataclass(frozen=True)
class Mark:
    """The process said that something is done."""

    text: str


Step = Name | Write | Size | Sync | Mark


@dataclass(frozen=True)
class Loss:
    """How much of what wasn't synced is kept: shares of names, and of bytes by sectors of a size.

    None: a share for each folder or file, drawn as the disk is made: all, nothing, or something between.
    """

    names: float | None = None
    data: float | None = None
    sector: int = SECTORS[0]

    @classmethod
    def drawn(cls, rng: random.Random) -> Loss:
        """Any of them, such as all the names and none of the bytes."""
        return cls(rng.choice((0.0, 1.0, None)), rng.choice((0.0, 1.0, None)), rng.choice(SECTORS))


ALL_KEPT = Loss(1.0, 1.0)
ALL_LOST = Loss(0.0, 0.0)


@dataclass
class Watched:
    """The folder as the process saw it, followed through its journal."""

    names: dict[Slot, int] = field(default_factory=dict)
    nodes: dict[int, int] = field(default_factory=dict)  # by inode, which the next file may get once one is gone
    content: dict[int, bytearray | None] = field(default_factory=dict)  # of each node; None for a folder

    @classmethod
    def of(cls, folder: Path) -> Watched:
        """A folder as it stands; another's journal tells what comes then."""
        watched = cls()
        watched._add(os.stat(folder).st_ino, None)
        for path in sorted(folder.rglob("*")):
            if not path.name.endswith(PASSING):
                content = None if path.is_dir() else bytearray(path.read_bytes())
                watched.names[watched.slot(str(path.relative_to(folder)))] = watched._add(path.stat().st_ino, content)
        return watched

    def copy(self) -> Watched:
        """The same, to be followed further."""
        content = {node: held if held is None else bytearray(held) for node, held in self.content.items()}
        return Watched(dict(self.names), dict(self.nodes), content)

    def _add(self, inode: int, content: bytearray | None) -> int:
        node = len(self.content)
        self.nodes[inode], self.content[node] = node, content
        return node

    def slot(self, path: str) -> Slot:
        """Where the name at the end of a path stands."""
        node, *parts = ROOT, *path.split("/")
        for part in parts[:-1]:
            node = self.names[node, part]
        return node, parts[-1]

    def step(self, what: str, inode: int, at: int, path: str, other: str, data: bytes) -> Iterator[Step]:
        """The steps that a record stands for; raises ValueError where the shim can't have seen all."""
        if what in "swtxl" and inode not in self.nodes:
            raise ValueError(f"A file was made past the shim{f': {path}' if path else ''}.")
        if what == "m":
            yield Mark(path)
        elif what == "s":
            yield Sync(self.nodes[inode])
        elif what == "w":
            yield Write(self.nodes[inode], at, data)
        elif what == "t":
            yield Size(self.nodes[inode], at)
        elif what == "x":
            yield from self._unseen(self.nodes[inode], data)
        elif what in "cdl":
            node = self.nodes[inode] if what == "l" else self._add(inode, None if what == "d" else bytearray())
            yield self._named((self.slot(path), node))
        elif what == "u":
            yield self._named((self.slot(path), None))
        elif what == "r":
            source = self.slot(path)
            yield self._named((self.slot(other), self.names[source]), (source, None))
        else:
            raise ValueError(f"{path} became {other}, which the player can't follow.")

    def _named(self, *slots: tuple[Slot, int | None]) -> Name:
        return Name(slots[0][0][0], slots)

    def _unseen(self, node: int, data: bytes) -> Iterator[Step]:
        """What was written past the shim, where a file's content isn't what its writes came to."""
        known = self.content[node]
        if known is None or bytes(known) != data:
            yield Write(node, 0, data)
            yield Size(node, len(data))

    def follow(self, step: Step) -> None:
        """Take a step for whole."""
        if isinstance(step, Name):
            for slot, node in reversed(step.slots):  # what leads away first: a name may be given to itself
                self.names.pop(slot, None)
                if node is not None:
                    self.names[slot] = node
        elif isinstance(step, Write):
            self.put(step.of, step.at, step.data)
        elif isinstance(step, Size):
            self.resize(step.of, step.n_bytes)

    def put(self, node: int, at: int, data: bytes) -> None:
        """Write bytes of a file; what lies between its end and them is filled with zeros."""
        held = self._file(node)
        held.extend(bytes(max(at - len(held), 0)))
        held[at : at + len(data)] = data

    def resize(self, node: int, n_bytes: int) -> None:
        """Cut a file, or fill it up with zeros."""
        held = self._file(node)
        del held[n_bytes:]
        held.extend(bytes(n_bytes - len(held)))

    def size(self, node: int) -> int:
        """The bytes of a file."""
        return len(self._file(node))

    def _file(self, node: int) -> bytearray:
        held = self.content[node]
        if held is None:
            raise ValueError("bytes are written into a folder")
        return held

    def disk(self, folder: int = ROOT, path: str = "") -> Disk:
        """What is reached from the folder itself."""
        found: Disk = {}
        for (parent, name), node in self.names.items():
            if parent == folder:
                held = self.content[node]
                found[path + name] = held if held is None else bytes(held)
                if held is None:
                    found |= self.disk(node, f"{path}{name}/")
        return found


def _records(journal: bytes) -> Iterator[tuple[str, int, int, str, str, bytes]]:
    at = 0
    while at < len(journal):
        what, inode, place, *lengths = _HEAD.unpack_from(journal, at)
        at += _HEAD.size
        parts = []
        for length in lengths:
            parts.append(journal[at : at + length])
            at += length
        yield chr(what), inode, place, os.fsdecode(parts[0]), os.fsdecode(parts[1]), parts[2]


@dataclass(frozen=True)
class Recording:
    """All that a process did in a folder, step by step, from `before` on."""

    before: Watched
    steps: tuple[Step, ...]

    @cached_property
    def paths(self) -> dict[int, str]:
        """The last name of each file and folder, for whoever reads of them."""
        of = {node: slot for slot, node in self.before.names.items()}
        for step in self.steps:
            if isinstance(step, Name):
                of |= {node: slot for slot, node in step.slots if node is not None}

        def path(node: int) -> str:
            parent, name = of[node]
            return name if parent == ROOT else f"{path(parent)}/{name}"

        return {ROOT: "", **{node: path(node) for node in of}}

    @property
    def turns(self) -> list[int]:
        """Where a loss tells most: before and after each sync, name and mark."""
        at = [n for n, step in enumerate(self.steps) if isinstance(step, Sync | Name | Mark)]
        return sorted({*at, *(n + 1 for n in at)})

    @property
    def n_syncs(self) -> int:
        """How often a file or folder was synced."""
        return sum(isinstance(step, Sync) for step in self.steps)

    @cached_property
    def began(self) -> Disk:
        """The folder at the beginning."""
        return self.before.disk()

    @cached_property
    def ended(self) -> Disk:
        """The folder at the end, with nothing lost."""
        return self.disk(len(self.steps), ALL_KEPT, random.Random(0))

    def n_marks(self, cut: int) -> int:
        """How often something was confirmed before a cut."""
        return sum(isinstance(step, Mark) for step in self.steps[:cut])

    def without_syncs(self, *paths: str) -> Recording:
        """The same of a program that never syncs what lies at these paths ("" is the folder itself)."""
        gone = {node for node, path in self.paths.items() if path in paths}
        skipped = Sync(NOTHING)  # so that each step keeps its number
        steps = (skipped if isinstance(step, Sync) and step.of in gone else step for step in self.steps)
        return replace(self, steps=tuple(steps))

    def disk(self, cut: int, loss: Loss, rng: random.Random) -> Disk:
        """The folder after a loss of power just before step `cut` (0 … number of steps)."""
        synced = {step.of: n for n, step in enumerate(self.steps[:cut]) if isinstance(step, Sync)}
        state, drawn = self.before.copy(), dict[tuple[int, bool], float]()

        def share(step: Name | Write | Size) -> float:
            is_name = isinstance(step, Name)
            told = loss.names if is_name else loss.data
            kept = rng.choice((0.0, 1.0, rng.random())) if told is None else told
            return drawn.setdefault((step.of, is_name), kept)

        for n, step in enumerate(self.steps[:cut]):
            if isinstance(step, Mark | Sync):
                continue
            if n < synced.get(step.of, -1):
                state.follow(step)
            elif isinstance(step, Write):
                _put_in_part(state, step, share(step), loss.sector, rng)
            elif rng.random() < share(step):
                state.follow(step)
        return state.disk()

    def check(self, folder: Path) -> None:
        """Raise ValueError where the steps, all taken for whole, don't lead to what the process left in the folder."""
        told, found = self.ended, Watched.of(folder).disk()
        if other := sorted(path for path in {*told, *found} if told.get(path, b"") != found.get(path, b"")):
            raise ValueError(f"Something was written past the shim: {', '.join(other)}.")


def _put_in_part(state: Watched, step: Write, kept: float, sector: int, rng: random.Random) -> None:
    end = step.at + len(step.data)
    if end > state.size(step.of) and rng.random() < kept:
        state.resize(step.of, end)  # the size is there, whether the bytes are or not
    start = step.at
    while start < end:
        stop = min(end, (start // sector + 1) * sector)
        if rng.random() < kept:
            state.put(step.of, start, step.data[start - step.at : stop - step.at])
        start = stop


def record_of(journal: Path, before: Watched) -> Recording:
    """What a journal tells of a folder that was as `before`."""
    steps, now = list[Step](), before.copy()
    for record in _records(journal.read_bytes()):
        for step in now.step(*record):
            now.follow(step)
            steps.append(step)
    begun = before.copy()
    for node, held in now.content.items():  # what is made on the way is there from the start, without a name
        begun.content.setdefault(node, None if held is None else bytearray())
    return Recording(begun, tuple(steps))


def lay_out(disk: Disk, folder: Path) -> None:
    """Write a disk's content into a new folder."""
    folder.mkdir()
    for path, held in sorted(disk.items()):
        if held is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(held)
