"""The imports in ARCHITECTURE.md are those of the files."""

from __future__ import annotations

import pytest

from tests import architecture


def test_the_section_is_up_to_date():
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert architecture.with_section(page, architecture.section()) == page, "run python -m tests.architecture --write"


@pytest.fixture
def tree(tmp_path):
    """A small project: a package in core that imports a sibling and a package, pages above them."""
    files = {
        "core/__init__.py": "",
        "core/errors.py": "",
        "core/store/__init__.py": "from .engine import Store\n",
        "core/store/engine.py": "import json\nfrom ..errors import InputError\n",
        "core/work.py": "def run():\n    from .store import Store\n",
        "pages/scores.py": "from core import errors\nimport core.store\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_imports_are_found_wherever_and_however_they_are_written(tree):
    assert architecture.graph(tree) == {
        "pages": {"core.*", "core.store"},
        "core.*": {"core.store"},
        "core.store": {"core.*"},
    }


def test_who_imports_stands_above():
    uses = {"low": set(), "top": {"middle", "low"}, "middle": {"low"}}
    assert architecture.in_order(uses) == ["top", "middle", "low"]
    assert architecture.in_order({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == ["c", "a", "b"]


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="marks"):
        architecture.with_section("no marks", "text")
