"""Where the parts of the program lie: in a checkout, and in the installed package `runoff`.

In a checkout `core/`, `ui/`, `pages/`, `voting/`, `data/` and `app.py` lie side by side. Installed, all of it is inside
the package `runoff`: `core/` is the package itself, `voting/` is `runoff.page`, and the folder `runoff/app` holds
`app.py`, `ui/`, `pages/`, `data/` and Streamlit's settings. Nothing else gets a name among the installed packages.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

LIBRARY = __package__ or "core"  # what `python -m` starts: "core", or "runoff" once installed
VOTING = "voting" if LIBRARY == "core" else f"{LIBRARY}.page"
_HERE = Path(__file__).resolve().parent
# The folder of app.py, ui/, pages/ and data/.
HOME = _HERE / "app" if (_HERE / "app" / "app.py").exists() else _HERE.parent


class _AlsoKnownAs(MetaPathFinder, Loader):
    """Answers for a package by another name with the modules of the package itself."""

    def __init__(self, name: str, package: str) -> None:
        self._name, self._package = name, package
        self._own: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_ours = fullname == self._name or fullname.startswith(f"{self._name}.")
        if not is_ours or find_spec(self._real(fullname)) is None:
            return None  # a name that the package hasn't: the error is Python's own
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._real(spec.name))
        self._own[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; the module keeps its own name, which Python has just overwritten."""
        if (alias := module.__spec__) is not None:
            module.__spec__ = self._own.pop(alias.name)

    def _real(self, fullname: str) -> str:
        return self._package + fullname.removeprefix(self._name)


def call_core(package: str = LIBRARY) -> None:
    """Let `import core` give the installed package, as pages write it: each module once, whatever it is asked for by.

    A module of that name elsewhere (a `core.py` in the folder where the app was started) isn't looked at.
    """
    if package == "core" or any(isinstance(finder, _AlsoKnownAs) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _AlsoKnownAs("core", package))
