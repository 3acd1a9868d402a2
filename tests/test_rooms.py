"""Each room of the house imports only rooms above it (tests/rooms.py), but for a list that only shrinks."""

from __future__ import annotations

import pytest

from tests import rooms
from tests.syntax import reads_the_code

# A line goes with the import it excuses; none is added.
EXCEPTIONS: set[str] = set()


@reads_the_code
def test_rooms_import_only_rooms_above_them():
    found = rooms.exceptions()
    assert sorted(found - EXCEPTIONS) == [], "move what is asked for down, or hand it in; the list only shrinks"
    assert sorted(EXCEPTIONS - found) == [], "these are gone: take their lines off"


def test_every_module_has_one_room():
    known = rooms.modules()
    assert [name for name in known if rooms.room_of(name) is None] == []
    names = [name for listed in rooms.MODULES.values() for name in listed.split()]
    assert len(set(names)) == len(names)
    assert [name for name in names if f"core.{name}" not in known] == []
    in_place = [name for room, listed in rooms.MODULES.items() for name in listed.split() if name.split(".")[0] == room]
    assert in_place == [], "what lies in its room's folder needs no line"


@pytest.fixture
def tree(tmp_path):
    files = {
        "core/errors.py": "",
        "core/plan.py": "from .errors import A\nfrom .store import tables\n",
        "core/scores/__init__.py": "def f():\n    from ..simulation import runs\n",
        "core/simulation/__init__.py": "import core.plan\n",
        "core/simulation/runs.py": "if TYPE_CHECKING:\n    from ..store import tables\nfrom .. import errors\n",
        "core/store/__init__.py": "from ..plan import Plan\n",
        "core/store/tables.py": "from ..scores import f\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_imports_of_rooms_above_are_found_in_functions_too(tree):
    assert rooms.exceptions(tree) == {"plan → store.tables", "scores → simulation.runs"}
