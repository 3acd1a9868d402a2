"""The rooms of the house, from the ground up, and which module belongs to which.

Each room imports only rooms above it in `ROOMS`; imports inside functions count, what only type checkers read doesn't.
A room is a folder of `core/`, or a module of its name; `MODULES` has the few modules that lie in `core/` itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests import syntax

ROOT = Path(__file__).resolve().parents[1]

ROOMS = (
    *("base", "i18n", "tabular", "embeddings", "tokens", "plan", "scores", "ballots", "voters", "protocols", "trust"),
    *("votes", "questions", "simulation", "evaluation", "judges", "encoders", "dataset", "platforms", "store", "jobs"),
    *("voting", "commands", "charts", "views", "worker", "cli"),
)  # fmt: skip

# Where modules belong that don't lie in a folder of their room's name; names without `core.`.
MODULES = {
    "base": "errors installed metrics rank_kernels tables",
    "cli": "__main__",
}
Nodes = Callable[[Path], Iterable[ast.AST]]  # those of a file that are looked at
PLACE = {f"core.{name}": room for room, names in MODULES.items() for name in names.split()}


def name_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, root: Path = ROOT, nodes: Nodes = syntax.nodes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each module that a file imports, wherever in it, with the dotted names of what it takes from it."""
    own = name_of(path, root).split(".")
    package = own if path.name == "__init__.py" else own[:-1]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module.split(".") if node.module else [])])
            yield origin, tuple(f"{origin}.{alias.name}" for alias in node.names)


def room_of(module: str) -> str | None:
    """The room of a module of `core`: by the table, else by its folder; None for one that has no room."""
    names = module.split(".")
    for length in range(len(names), 1, -1):
        if found := PLACE.get(".".join(names[:length])):
            return found
    return names[1] if len(names) > 1 and names[1] in ROOMS else None


def modules(root: Path = ROOT) -> dict[str, Path]:
    """The modules of `core` by name, but the package itself."""
    found = {name_of(path, root): path for path in sorted((root / "core").rglob("*.py"))}
    return {name: path for name, path in found.items() if name != "core"}


def _run(path: Path) -> Iterator[ast.AST]:
    """Everything in a file but what only type checkers read."""
    return _statements(syntax.tree(path))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _statements(child)


def imports_of(path: Path, known: dict[str, Path], root: Path = ROOT) -> set[str]:
    """The modules of `core` that a file imports, wherever in it; of `from package import module` the module."""
    found: set[str] = set()
    for origin, taken in imports(path, root, _run):
        found |= known.keys() & set(taken) or known.keys() & {origin}
    return found


def exceptions(root: Path = ROOT) -> set[str]:
    """Imports of a module of a room by one of a room above it, as "who → whom", without `core.`."""
    known = modules(root)
    found = set()
    for name, path in known.items():
        room = room_of(name)
        for other in imports_of(path, known, root):
            there = room_of(other)
            if room and there and ROOMS.index(there) > ROOMS.index(room):
                found.add(f"{name.removeprefix('core.')} → {other.removeprefix('core.')}")
    return found
