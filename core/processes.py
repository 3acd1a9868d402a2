"""Whether a process of this machine is still there."""

from __future__ import annotations

import os
import sys


def is_alive(pid: int) -> bool:
    """Whether a process has this id; on Windows always, where no harmless signal asks: heartbeats decide there."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
