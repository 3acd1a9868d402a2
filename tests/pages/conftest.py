"""A workspace with the demo in it, and the pages run on it without a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from filelock import FileLock
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from core.store import Store, open_store
from core.store.demo import ensure_demo
from core.store.engine import _open

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _what_every_run_needs_is_made_once() -> Iterator[None]:
    """Each `AppTest` looks through all installed packages for Streamlit components, and each run of one compiles the
    page anew: a large part of what they cost."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory, database: str) -> Path:
    """A finished demo workspace, made once, on SQLite by one process for all; tests work on copies."""
    base = tmp_path_factory.getbasetemp()
    if database == "sqlite" and "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "demo" / "workspace"
    with FileLock(base / "demo.lock"):
        if not (folder / "tour-seen").exists():
            store = open_store(folder)
            assert ensure_demo(store) == "demo"
            store.engine.dispose()
            _open.cache_clear()
            (folder / "tour-seen").touch()
    return folder


@pytest.fixture
def demo(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A copy of the demo workspace, which the pages will use."""
    folder = tmp_path / "workspace"
    shutil.copytree(demo_folder, folder)
    yield from _use(folder, monkeypatch)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A workspace without any project."""
    yield from _use(tmp_path / "empty", monkeypatch)


def _use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("RUNOFF_WORKSPACE", str(folder))
    st.cache_resource.clear()
    store = open_store(folder)
    yield store
    store.engine.dispose()
    _open.cache_clear()
    st.cache_resource.clear()


def open_page(key: str, project: str | None = None) -> AppTest:
    """Open a page of a project as a visitor would."""
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=30)
    if project is not None:
        app.query_params["project"] = project
    if key != "project":  # the page that opens by itself; any other's address is its file's name
        app.switch_page(f"../pages/{key}.py")
    return app.run()


@pytest.fixture
def visit() -> Callable[..., AppTest]:
    return open_page


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of jobs that pages start; they wait until the test runs them in this process."""
    ids: list[str] = []

    class Process:
        pid = 1

        def __init__(self, command: Sequence[str], **_options: Any) -> None:
            ids.append(command[-1])

        def poll(self) -> None:
            return None

    monkeypatch.setattr(subprocess, "Popen", Process)
    return ids
