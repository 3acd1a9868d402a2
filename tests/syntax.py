"""The code as Python reads it, parsed once for all tests of a process that look at it: all of it takes a second."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

# Of a test that looks at all code: those of the mark run in one process of xdist's.
reads_the_code = pytest.mark.xdist_group("reads the code")


@cache
def tree(path: Path) -> ast.Module:
    """A file's module; nobody changes it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All that is in a file, as `ast.walk` has it."""
    return tuple(ast.walk(tree(path)))
