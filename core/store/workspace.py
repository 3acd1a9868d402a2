"""The folder of a workspace: where it is, whose it is, and which database belongs to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..base.durable import make_folder, rights_in, tighten


def default_workspace() -> Path:
    """`RUNOFF_WORKSPACE`, or the platform's data folder."""
    named = os.environ.get("RUNOFF_WORKSPACE")
    if named:
        return Path(named).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_data_dir("runoff", appauthor=False))


# What is made in a workspace's folder itself, by its beginning; an earlier Runoff left it readable for everybody.
_OURS = ("runoff.sqlite", "runoff.log", "voting.log", "voting.json", "database.json", "demo.lock", "tour-seen")
PARTS = ("uploads", "embeddings", "incoming", "backups")


def prepare_folder(folder: Path) -> int:
    """Make a workspace's folder, for its owner alone: it holds who voted how, and the secret of every link.

    A folder that is there keeps its rights: somebody may have shared it on purpose. What is in it is for those who may
    write in it, and that is made so where it isn't yet. Returns the rights of what is made there.
    """
    make_folder(folder, 0o700)
    rights = rights_in(folder)
    for part in PARTS:
        make_folder(folder / part, rights)
    for path in folder.iterdir():
        if path.name in PARTS or path.name.startswith(_OURS):
            tighten(path, rights)
    return rights


def badge_of(folder: Path) -> str | None:
    """The id by which a folder and its PostgreSQL database know each other; None for a folder without."""
    try:
        return str(json.loads((folder / "database.json").read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
