"""The folder of a workspace: where it is, whose it is, and which database belongs to it."""

from __future__ import annotations

import json
import os
from pathlib import Path


def default_workspace() -> Path:
    """`RUNOFF_WORKSPACE`, or the platform's data folder."""
    named = os.environ.get("RUNOFF_WORKSPACE")
    if named:
        return Path(named).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_data_dir("runoff", appauthor=False))


def make_folder(folder: Path) -> None:
    """Make a workspace's folder, for its owner alone: it holds who voted how, and the secret of every link.

    A folder that is there keeps its rights: somebody may have shared it on purpose.
    """
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def rights_in(folder: Path) -> int:
    """The rights of what is made in a workspace's folder: others have them only where they may write in the folder."""
    mode = folder.stat().st_mode
    return 0o700 | (0o070 if mode & 0o020 else 0) | (0o007 if mode & 0o002 else 0)


def badge_of(folder: Path) -> str | None:
    """The id by which a folder and its PostgreSQL database know each other; None for a folder without."""
    try:
        return str(json.loads((folder / "database.json").read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
