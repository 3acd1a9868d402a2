"""Which part of the code imports which, read from the files: the section of ARCHITECTURE.md between its two marks.

`python -m tests.architecture --write` writes it anew; a test fails where it is out of date.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- imports: begin -->", "<!-- imports: end -->"
TOPS = ("core", "ui", "pages", "voting")
OURS = "core.*"  # the modules that lie in core/ itself


def name_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str, packages: set[str]) -> str:
    """The part of the code that a module belongs to: its package, one level under core/; else `OURS` or its folder."""
    names = module.split(".")
    if names[0] != "core":
        return names[0]
    return ".".join(names[:2]) if len(names) > 1 and ".".join(names[:2]) in packages else OURS


Nodes = Callable[[ast.AST], Iterable[ast.AST]]  # those of a module that are looked at


def imports(path: Path, root: Path = ROOT, nodes: Nodes = ast.walk) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each module that a file imports, wherever in it, with the dotted names of what it takes from it."""
    own = name_of(path, root).split(".")
    package = own if path.name == "__init__.py" else own[:-1]
    for node in nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module.split(".") if node.module else [])])
            yield origin, tuple(f"{origin}.{alias.name}" for alias in node.names)


def imported(path: Path, root: Path = ROOT) -> set[str]:
    """Dotted names that a file imports, wherever in it; what only type checkers read counts too."""
    return {name for origin, taken in imports(path, root) for name in (origin, *taken)}


def graph(root: Path = ROOT) -> dict[str, set[str]]:
    """Each part with the parts that it imports."""
    files = [path for top in TOPS for path in sorted((root / top).rglob("*.py"))]
    modules = {name_of(path, root): path for path in files}
    packages = {name_of(path, root) for path in files if path.name == "__init__.py"}
    uses: dict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        part = part_of(name, packages)
        uses[part] |= {part_of(other, packages) for other in imported(path, root) if other in modules} - {part}
    return dict(uses)


def in_order(uses: dict[str, set[str]]) -> list[str]:
    """The parts, those that import most first: a part stands above what it imports, where there is no circle."""
    left, order = dict(uses), []
    while left:
        free = [part for part in left if not any(part in others for name, others in left.items() if name != part)]
        take = min(free or left, key=lambda part: (-len(left[part] & set(left)), part))
        order.append(take)
        del left[take]
    return order


def section(root: Path = ROOT) -> str:
    """The section's text."""
    uses = graph(root)
    order = in_order(uses)
    rows = [
        f"| `{part}` | {', '.join(f'`{other}`' for other in order if other in uses[part]) or '–'} |" for part in order
    ]
    return "\n".join(["| part | imports |", "|---|---|", *rows])


def with_section(page: str, text: str) -> str:
    """The page with the text between the marks; ValueError where they aren't there once each."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"{PAGE.name} must have the marks {BEGIN} and {END} once.")
    return re.sub(f"(?s){re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n\n{text}\n\n{END}", page)


def main(arguments: list[str]) -> int:
    """Print the section, or write it into the page."""
    if arguments == ["--write"]:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), section()), encoding="utf-8")
        return 0
    print(section())
    return 0 if not arguments else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
