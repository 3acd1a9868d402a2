"""The shape of the code: who may import whom, no cycles, pages that only lay out."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core"
FILES = sorted(CORE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


def imports_of(path: Path, *, everywhere: bool = False) -> set[str]:
    """The modules of `core` that a file imports when it is imported itself; `everywhere` in functions too."""
    tree = ast.parse(path.read_text("utf-8"))
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    found: set[str] = set()
    nodes = list(ast.walk(tree)) if everywhere else list(at_import(tree.body))
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            found |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
    return {name for name in found if name in MODULES}


def at_import(body: list[ast.stmt]):
    """Statements that run at import: not those of functions, nor what only type checkers read."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        for part in ("body", "orelse", "handlers", "finalbody"):
            for inner in getattr(node, part, []):
                yield from at_import([inner] if isinstance(inner, ast.stmt) else inner.body)


def test_no_two_modules_need_each_other_to_be_imported():
    # A module's own package is being imported when the module is: `from . import other` needs the other one only.
    graph = {
        name: {other for other in imports_of(path) if other != name and not name.startswith(f"{other}.")}
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            pytest.fail(" → ".join([*way[way.index(name) :], name]))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*way, name))
            done.add(name)

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    for name in sorted(graph):
        visit(name, ())


def test_the_library_knows_no_page():
    for path in FILES:
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            wrong = [name for name in names if name.split(".")[0] in ("streamlit", "ui", "pages", "voting", "tests")]
            assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(wrong)}"


def test_pages_only_lay_out():
    """No page sums, groups or catches whatever there may be."""
    for path in sorted((ROOT / "pages").glob("*.py")):
        text = path.read_text("utf-8")
        for word in ("groupby(", ".merge(", "except Exception", "sqlalchemy", "core.store.schema"):
            assert word not in text, f"{path.name} has {word}"


def test_the_fast_part_names_modules_that_need_no_page_server_or_browser():
    """`make test-fast` runs what tests/fast.txt lists, in order of name, so that it merges well."""
    listed = (ROOT / "tests" / "fast.txt").read_text("utf-8").split()
    assert listed == sorted(set(listed))
    for name in set(listed) - {Path(__file__).name}:
        text = (ROOT / "tests" / name).read_text("utf-8")
        for word in ("AppTest", "playwright", "pytest.mark.browser", "pytestmark = pytest.mark.slow", "turkle_server"):
            assert word not in text, f"{name} has {word}"
