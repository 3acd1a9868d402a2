"""The table that `make bench` prints: a line a measurement, everything in it measured in the same run.

Limits in seconds are those of a machine on whose two cores `make test` takes eight minutes. A slower machine has
proportionally more (`pace`), so that what is over a limit is the program and not the machine; a quicker one no less.
"""

from __future__ import annotations

import gc
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import click

# What `_piece_of_work` takes of a processor on the machine whose seconds the limits are.
USUAL_WORK = 0.48


@cache
def pace() -> float:
    """How much slower this machine is than the limits' one, at least 1: the same piece of work, timed in this run."""
    took = []
    for _ in range(3):
        start = time.process_time()  # another program on the machine makes this one no slower
        _piece_of_work()
        took.append(time.process_time() - start)
    return max(1.0, median(took) / USUAL_WORK)


def _piece_of_work() -> None:
    """Python counts words, and SQLite writes, indexes and groups rows: most of what Runoff's seconds are."""
    counts: dict[str, int] = {}
    for n in range(600_000):
        word = f"word {n % 5000}"
        counts[word] = counts.get(word, 0) + n
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, one INTEGER, other INTEGER)")
        conn.executemany("INSERT INTO row VALUES (?, ?, ?)", ((n, n * 7 % 1000, n) for n in range(250_000)))
        conn.execute("CREATE INDEX by_one ON row (one)")
        conn.execute("SELECT one, count(*), avg(other) FROM row GROUP BY one").fetchall()


@dataclass(frozen=True)
class Line:
    """One measurement in seconds (or another `unit`): ours, beside another program's or a limit; `note` says more."""

    what: str
    ours: float
    other: float | None = None
    other_name: str = ""
    limit: float | None = None
    note: str = ""
    least_ratio: float | None = None
    unit: str = "s"

    @property
    def is_over(self) -> bool:
        """Slower than its limit, or than the ratio to the other that it must have."""
        if self.other is not None and self.least_ratio is not None and self.other < self.least_ratio * self.ours:
            return True
        return self.limit is not None and self.ours > self.limit * self._pace

    @property
    def _pace(self) -> float:
        """By how much a limit is extended here; only a limit in seconds is."""
        return pace() if self.unit == "s" else 1.0

    def cells(self) -> tuple[str, str, str, str]:
        """The line as texts: what, ours, other, ratio or limit."""
        other = "" if self.other is None else f"{self._amount(self.other)} {self.other_name}"
        verdict = "" if self.other is None else f"{self.other / self.ours:.1f} × faster"
        if self.other is not None and self.other < self.ours:
            verdict = f"{self.ours / self.other:.1f} × slower"
        if self.least_ratio is not None:
            verdict += f", {'UNDER' if self.is_over else 'at least'} {self.least_ratio:g} ×"
        if self.limit is not None:
            verdict = f"{'OVER THE' if self.is_over else 'within the'} limit {self._amount(self.limit)}"
            verdict += f" × {self._pace:.2f}" if self._pace > 1 else ""
        return self.what + (f" ({self.note})" if self.note else ""), self._amount(self.ours), other, verdict

    def _amount(self, value: float) -> str:
        return duration(value) if self.unit == "s" else f"{value:,.0f} {self.unit}"


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(0.0123), duration(4.2)
    ('12.3 ms', '4.20 s')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{1000 * seconds:.{1 if seconds < 0.1 else 0}f} ms"


def measure(*actions: Callable[[], Any], rounds: int = 3) -> list[float]:
    """The median seconds of each action. They take turns, so that a busy machine is unfair to none of them."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, taken in zip(actions, times, strict=True):
            gc.collect()
            start = time.perf_counter()
            action()
            taken.append(time.perf_counter() - start)
    return [median(taken) for taken in times]


def show(lines: Iterable[Line]) -> str:
    """The table, in Markdown."""
    rows = [("what", "ours", "other", "ratio or limit"), *(line.cells() for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])


def print_lines(found: Iterable[Line], *, quick: bool) -> None:
    """Each line as it is measured, to stderr, then the table; ends with an error where a limit isn't kept."""
    kept = []
    for line in found:
        click.echo(f"{line.what}: {line.cells()[1]} {line.note}".rstrip(), err=True)
        kept.append(line)
    click.echo(show(kept))
    if not quick and any(line.is_over for line in kept):
        raise SystemExit("A limit is not kept: see the lines that say OVER.")
