"""The one place where state lives: a workspace folder with a database, changed by commands only."""

from .engine import Store, open_store
from .workspace import default_workspace

__all__ = ["Store", "default_workspace", "open_store"]
