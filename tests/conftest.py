"""What all tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.store import Store, open_store
from core.store.engine import _open

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and samples that lies beside the project, where there is one."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared, which is not here")
    return folder


@pytest.fixture(scope="session")
def cases() -> Path:
    """Small files that trip other programs; what is right for each stands in the tests that read it."""
    return ROOT / "tests" / "cases"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A fresh workspace."""
    opened = open_store(tmp_path / "workspace")
    yield opened
    opened.engine.dispose()
    _open.cache_clear()
