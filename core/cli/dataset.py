"""Commands for published datasets: compute their scores anew, and hold two of them against each other."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .shared import read_file, text_table, with_encoding, with_json, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from ..commands.recompute import Replayed
    from ..dataset.diff import DatasetDiff


@click.command("replay")
@click.argument("export", type=click.Path())
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Differences up to this much pass too.",
)
@click.option("--exact", is_flag=True, help="Fail on different last bits too.")
@with_json
def replay_command(export: str, tolerance: float, exact: bool, as_json: bool) -> None:
    """Compute every score of an EXPORT (published dataset or project file, zip) anew from its votes.

    Exit code 0: all that is stored came out the same, bit for bit, or with other last bits (within 1e-12; 1e-4 where a
    Runoff before 0.6 fitted), as another processor or linear algebra library makes them; 1: something differs, and the
    first of it is told. So it is where the chain of hashes over a project file's log and votes breaks.
    """
    data = read_file(export)
    replayed, maker, kind = replay_bytes(data)
    near = replayed.outcome == "last bits" and not exact
    within = replayed.same or near or (replayed.n_compared > 0 and tolerance > 0 and replayed.largest <= tolerance)
    passed = within and not replayed.chain_faults
    if as_json:
        write_json({"file": export, "kind": kind, "made_by": maker, "passed": passed, **_replayed_json(replayed)})
    else:
        click.echo(_replayed_text(replayed, maker, kind, passed, tolerance))
    if not passed:
        sys.exit(1)


def replay_bytes(data: bytes) -> tuple[Replayed, str, str]:
    """Replay a published dataset or a project's file: what was found, the Runoff that made it, what kind it is.

    A project's file is taken into a workspace of its own, which goes afterwards.
    """
    from ..commands.recompute import replay_record
    from ..dataset.published import chain_told, is_published, read_published
    from ..store.projects.records import record_from

    if is_published(data):
        published = read_published(data)
        replayed = replay_record(record_from(published.files), published.dataset(), made_by=published.runoff)
        replayed.chain = chain_told(data)
        return replayed, published.runoff, "published dataset"
    from ..store import schema as t
    from ..store.chain import faults_of
    from ..store.engine import open_apart
    from ..store.projects.archive import import_project
    from ..store.projects.project_zip import read_zip
    from ..store.projects.records import record_of
    from ..store.scores.project_dataset import dataset_of

    contents = read_zip(data)
    revision, head = (list(t.log.c.keys()).index(name) for name in ("revision", "head"))
    maker = contents.runoff
    with tempfile.TemporaryDirectory() as folder, open_apart(Path(folder)) as store:
        project_id = import_project(store, data)
        with store.read() as conn:
            record, dataset = record_of(conn, project_id, ""), dataset_of(conn, project_id)
            faults = tuple(map(str, faults_of(conn, project_id)))
    replayed = replay_record(record, dataset)
    heads = ((row[revision], row[head]) for row in contents.rows[t.log.name] if row[head] is not None)
    replayed.chain, replayed.chain_faults = max(heads, default=None), faults
    return replayed, maker, "project file"


def _replayed_json(found: Replayed) -> dict[str, Any]:
    first = found.first
    return {
        "ballots": found.n_ballots,
        "votes": found.n_votes,
        "compared": found.compared,
        "values": found.n_compared,
        "outcome": found.outcome,
        "different": found.n_different,
        "largest_difference": found.largest,
        "chain": None if found.chain is None else {"entry": found.chain[0], "head": found.chain[1]},
        "chain_faults": list(found.chain_faults),
        "first_difference": None
        if first is None
        else {"where": first.where, "item": first.item, "stored": first.stored, "recomputed": first.recomputed},
    }


def _replayed_text(found: Replayed, maker: str, kind: str, passed: bool, tolerance: float) -> str:

    rows = ((name, f"{n:,}") for name, n in found.compared.items())
    head = (
        f"{kind.capitalize()} of Runoff {maker}: {found.n_votes:,} votes of {found.n_ballots} "
        f"ballot{'s' * (found.n_ballots != 1)}, {found.n_compared:,} values computed again."
    )
    differ = f"{found.n_different:,} differ, by {found.largest:g} at most. The first: {found.first}."
    if found.same:
        verdict = "All of them are the same, bit for bit."
    elif not found.n_compared:
        verdict = "There is no score in it to compare."
    elif found.outcome == "last bits":
        verdict = f"They are the same to {found.bits:g}, but with other last bits: another processor or linear algebra "
        verdict += f"library than theirs. {differ}"
    else:
        verdict = differ + (f" That is within {tolerance:g}." if passed else "")
    return "\n\n".join((head, text_table(("value", "compared"), rows), verdict, *_chain_text(found, kind)))


def _chain_text(found: Replayed, kind: str) -> Iterator[str]:
    if found.chain_faults:
        yield f"The chain of its votes breaks, in {len(found.chain_faults):,} places. First: {found.chain_faults[0]}."
    elif found.chain is not None:
        entry, head = found.chain
        is_file = kind == "project file"
        yield f"The chain of its votes {'holds up to' if is_file else 'was at'} entry {entry}, with the head {head}."


@click.command("diff")
@click.argument("before", type=click.Path())
@click.argument("after", type=click.Path())
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="How many moved items are listed.")
@with_encoding
@with_json
def diff_command(before: str, after: str, top: int, encoding: str | None, as_json: bool) -> None:
    """What changed from the dataset BEFORE to AFTER: items, scores, ranks, votes, voters.

    Each is a published zip, a CSV, TSV, Excel or Parquet file. The exit code is 0 whether they differ or not.
    """
    from ..dataset.diff import diff
    from ..dataset.files import read_dataset

    tables = [read_dataset(path, encoding=encoding) for path in (before, after)]
    changes = diff(*tables)
    notes = [f"{path}: {note}" for path, table in zip((before, after), tables, strict=True) for note in _notes(table)]
    if as_json:
        write_json({"before": before, "after": after, **diff_json(changes, top), "notes": notes})
    else:
        click.echo("\n\n".join([_diff_text(changes, top), *notes]))


def _notes(table: pd.DataFrame) -> list[str]:
    return [str(note) for note in table.attrs.get("notes", ())]


def diff_json(found: DatasetDiff, top: int) -> dict[str, Any]:
    """A diff as JSON has it, with the first `top` of the moved items."""
    moved = found.moved[found.moved["rank_change"].fillna(0) != 0].head(top)
    keys = ["area", "token_a", "token_b"]
    return {
        "same": found.same,
        "items": {"both": len(found.moved), "added": len(found.added), "removed": len(found.removed)},
        "scores_moved": found.n_scores_moved,
        "ranks_moved": found.n_ranks_moved,
        "figures": found.figures,
        "why_undefined": found.why_undefined,
        "described": {name: {"before": a, "after": b} for name, (a, b) in found.described.items()},
        "added": found.added[keys].to_dict("records"),
        "removed": found.removed[keys].to_dict("records"),
        "moved": moved.to_dict("records"),
    }


def _diff_text(found: DatasetDiff, top: int) -> str:
    changes = diff_json(found, top)
    parts = ["The same items with the same scores." if found.same else "The datasets differ."]
    parts.append(text_table(("", "number"), found.told()))
    if changes["described"]:
        described = ((name, str(pair["before"]), str(pair["after"])) for name, pair in changes["described"].items())
        parts.append(text_table(("described as", "before", "after"), described))
    for name in ("added", "removed"):
        listed = [f"{row['token_a']} – {row['token_b']} ({row['area']})" for row in changes[name]]
        if listed:
            more = f" and {len(listed) - top:,} more" if len(listed) > top else ""
            parts.append(f"{name.capitalize()}: {', '.join(listed[:top])}{more}")
    if changes["moved"]:
        header = ("moved", "rank before", "rank", "score before", "score")
        parts.append(text_table(header, (_moved_row(row) for row in changes["moved"])))
    return "\n\n".join(parts)


def _moved_row(row: dict[str, Any]) -> tuple[str, ...]:
    item = f"{row['token_a']} – {row['token_b']}"
    return item, f"{row['rank_before']:g}", f"{row['rank']:g}", f"{row['score_before']:.4f}", f"{row['score']:.4f}"
