"""`python -m bench.fuzz results --minutes 10`: damaged files for a reader, until one of them is a finding.

A finding is a file at which a reader raises anything but `RunoffError`, takes over 10 s of a processor, or needs more
memory than 64 MB (embeddings: 384) and ten times the file (of a zip: of what is in it, up to 100 times the zip). Of
every kind of finding the smallest file is kept in `bench/out/fuzz/`. Without a reader's name all come in turn. Exits
with 1 where there is a finding.

`--atheris` lets atheris (Apache-2.0, `pip install atheris`; not in the requirements) choose the mutations, by what the
reader's code comes to do: slower for each file, deeper in the end.
"""

from __future__ import annotations

import gc
import hashlib
import io
import os
import random
import resource
import signal
import sys
import time
import traceback
import warnings
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType

import click

from bench.fuzz_mutations import damage_any
from bench.fuzz_readers import TARGETS, Target
from core.errors import RunoffError

MAX_SECONDS = 10.0
TIMES = 10
ADDRESSES = 24 << 30  # a last fence: what would need more ends in a MemoryError
OUT = Path(__file__).resolve().parent / "out" / "fuzz"


class Hang(BaseException):
    """Time is up; no reader catches it."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, told so that the same fault has the same `kind`; and where."""

    kind: str
    told: str


def peak_bytes() -> int:
    """The most memory that this process has had since `forget_peak`, 0 where the system doesn't say."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return 0


def forget_peak() -> int:
    """Begin anew with `peak_bytes`; returns what is in use now."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as handle:
            handle.write("5")
    except OSError:
        return 0
    return peak_bytes()


def _stop(*_: object) -> None:
    raise Hang


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """`Hang` after so many seconds of processor time: the machine may have other work."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def allowed_bytes(target: Target, data: bytes) -> int:
    """How much more memory reading a file may take than there was before."""
    size = len(data)
    if data[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                inside = sum(min(entry.file_size, 200 * entry.compress_size) for entry in archive.infolist())
                size = max(size, min(inside, 100 * size))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            pass
    return target.base_bytes + TIMES * size


def look(target: Target, data: bytes) -> Finding | None:
    """Read a file; what is wrong with how that went."""
    before, begun = forget_peak(), time.process_time()
    try:
        with alarm(2 * MAX_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(data)
    except RunoffError:
        pass
    except Hang:
        return Finding("hang", "".join(traceback.format_exc()))
    except Exception as error:  # noqa: BLE001 (this is what is looked for)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/core/" in frame.filename]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside"
        return Finding(f"{type(error).__name__} at {where}", traceback.format_exc())
    took, grown = time.process_time() - begun, peak_bytes() - before
    if took > MAX_SECONDS:
        return Finding("hang", f"it took {took:.1f} s")
    if grown > allowed_bytes(target, data):
        return Finding("memory", f"{grown / 2**20:.0f} MB for {len(data)} bytes")
    return None


def fuzz(target: Target, seconds: float, rng: random.Random) -> tuple[int, dict[str, tuple[bytes, Finding]]]:
    """Damage the target's valid files and read them for so many seconds of processor time.

    Returns how many files were read, and the smallest one for each kind of finding.
    """
    seeds = list(target.seeds())
    for name, data in seeds:
        found = look(target, data)
        if found is not None:
            raise RuntimeError(f"{target.name}: {name} is meant to be valid: {found.told}")
    findings: dict[str, tuple[bytes, Finding]] = {}
    n_read, until = 0, time.process_time() + seconds
    while time.process_time() < until:
        name, data = rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = damage_any(data, name, rng)
        n_read += 1
        found = look(target, data)
        if found is not None and (found.kind not in findings or len(data) < len(findings[found.kind][0])):
            findings[found.kind] = (data, found)
    return n_read, findings


def keep(target: Target, data: bytes, found: Finding) -> Path:
    """Write a finding's file and what it did."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{target.name}-{hashlib.sha256(found.kind.encode()).hexdigest()[:8]}"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(f"{found.kind}\n{found.told}", encoding="utf-8", errors="replace")
    return path


def by_coverage(target: Target, seconds: float) -> None:
    """Hand the reader to atheris, which doesn't return; a finding ends it with its input in the present folder.

    atheris knows the clock only, so the time of the processor is watched here.
    """
    import atheris

    n_read, until = 0, time.process_time() + seconds

    def once(data: bytes) -> None:
        nonlocal n_read
        if time.process_time() > until:
            click.echo(f"| {target.name} | {n_read:,} | 0 |")
            sys.stdout.flush()
            os._exit(0)
        n_read += 1
        found = look(target, data)
        if found is not None:
            raise RuntimeError(found.told)

    corpus = OUT / f"corpus-{target.name}"
    corpus.mkdir(parents=True, exist_ok=True)
    for name, data in target.seeds():
        (corpus / name).write_bytes(data)
    for each in gc.get_objects():  # our own alone: of the libraries it would take minutes
        if isinstance(each, FunctionType) and (each.__module__ or "").startswith("core."):
            atheris.instrument_func(each)
    atheris.Setup([sys.argv[0], "-max_len=100000", str(corpus)], once)
    atheris.Fuzz()


@click.command()
@click.argument("readers", nargs=-1)
@click.option("--minutes", default=10.0, show_default=True, help="Of processor time, for each reader.")
@click.option("--seed", default=1, show_default=True, help="Of the mutations.")
@click.option("--atheris", "with_atheris", is_flag=True, help="Let atheris choose the mutations of one reader.")
@click.option("--processes", default=os.cpu_count(), show_default="one a processor", help="Readers side by side.")
def main(readers: tuple[str, ...], minutes: float, seed: int, with_atheris: bool, processes: int) -> None:
    """Damage, read, count."""
    _fence()
    unknown = set(readers) - set(TARGETS)
    if unknown:
        raise click.UsageError(f"No such reader: {', '.join(sorted(unknown))}. There are {', '.join(TARGETS)}.")
    if with_atheris:
        by_coverage(TARGETS[readers[0]], 60 * minutes)
    n_findings, names = 0, readers or tuple(TARGETS)
    click.echo("| reader | files | findings |\n|---|---|---|")
    with ProcessPoolExecutor(processes, initializer=_fence) as pool:
        for name, (n_read, findings) in zip(names, pool.map(partial(_fuzzed, minutes, seed), names), strict=True):
            click.echo(f"| {name} | {n_read:,} | {len(findings)} |")
            for data, found in findings.values():
                path = keep(TARGETS[name], data, found)
                click.echo(f"{found.kind}: {os.path.relpath(path)} ({len(data):,} bytes)", err=True)
            n_findings += len(findings)
    sys.exit(1 if n_findings else 0)


def _fence() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _fuzzed(minutes: float, seed: int, name: str) -> tuple[int, dict[str, tuple[bytes, Finding]]]:
    """What `fuzz` finds of a reader, by its name."""
    return fuzz(TARGETS[name], 60 * minutes, random.Random(f"{seed} {name}"))


if __name__ == "__main__":
    main()
