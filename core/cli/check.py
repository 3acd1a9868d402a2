"""`runoff check`: what must hold in a workspace, held against it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import StoreError
from .shared import with_json, write_json

if TYPE_CHECKING:
    from ..jobs.invariants import Checked, Fault

SHOWN = 5


@click.command("check")
@click.option("--workspace", type=click.Path(path_type=Path), help="The folder; else RUNOFF_WORKSPACE.")
@with_json
def check_command(workspace: Path | None, as_json: bool) -> None:
    """Check whether a workspace is whole: votes, tallies, scores, files, jobs. Exits with 1 where it isn't."""
    from ..jobs.invariants import check_store
    from ..store import default_workspace, open_store

    folder = default_workspace() if workspace is None else workspace.expanduser().resolve()
    if not any((folder / name).is_file() for name in ("runoff.sqlite", "database.json")):
        raise StoreError(f"There is no workspace in {folder}. Name its folder with --workspace or RUNOFF_WORKSPACE.")
    checked = check_store(open_store(folder))
    if as_json:
        write_json(_json(folder, checked))
    else:
        click.echo(_text(folder, checked))
    if not checked.is_fine:
        sys.exit(1)


def _json(folder: Path, checked: Checked) -> dict[str, Any]:
    broken = {fault.rule.name: fault.n for fault in checked.faults}
    return {
        "workspace": str(folder),
        "fine": checked.is_fine,
        "rules": [{"name": r.name, "holds": r.holds, "broken": broken.get(r.name, 0)} for r in checked.rules],
        "faults": [
            {
                "rule": fault.rule.name,
                "n": fault.n,
                "found": [{"where": found.where, "what": found.what} for found in fault.found],
                "advice": fault.rule.advice,
            }
            for fault in checked.faults
        ],
    }


def _text(folder: Path, checked: Checked) -> str:
    if checked.is_fine:
        return f"{folder} is whole: {len(checked.rules)} rules hold."
    parts = [f"{folder}: {len(checked.faults)} of {len(checked.rules)} rules don't hold."]
    return "\n\n".join([*parts, *map(_told, checked.faults)])


def _told(fault: Fault) -> str:
    lines = [f"{fault.rule.name}: {fault.rule.holds}"]
    lines += [f"  {found.where}: {found.what}" for found in fault.found[:SHOWN]]
    rest = fault.n - min(fault.n, SHOWN)
    return "\n".join([*lines, *([f"  and {rest:,} more"] if rest else []), f"  → {fault.rule.advice}"])
