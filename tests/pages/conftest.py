"""A workspace with the demo in it, and the pages run on it without a browser."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core.store import Store, open_store
from core.store.demo import ensure_demo
from core.store.engine import _open
from ui import evaluation_jobs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _components_are_looked_for_once() -> Iterator[None]:
    """Each `AppTest` looks through all installed packages for Streamlit components: a large part of what it costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished demo workspace, made once; tests work on copies."""
    folder = tmp_path_factory.mktemp("demo") / "workspace"
    store = open_store(folder)
    assert ensure_demo(store) == "demo"
    (folder / "tour-seen").touch()
    store.engine.dispose()
    _open.cache_clear()
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


@pytest.fixture
def visit() -> Callable[..., AppTest]:
    """Open a page of a project as a visitor would."""

    def open_page(key: str, project: str | None = None) -> AppTest:
        app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=30)
        if project is not None:
            app.query_params["project"] = project
        app.run()
        if key != "project":
            app.switch_page(f"../pages/{key}.py").run()
        return app

    return open_page


@pytest.fixture(autouse=True)
def _nothing_begins_by_itself(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Evaluate page begins a job where figures take long: only in tests about that (`begun`)."""
    if "begun" not in request.fixturenames:
        monkeypatch.setattr(evaluation_jobs, "_job", lambda *_: None)


@pytest.fixture
def begun(started: list[str]) -> list[str]:
    """The ids of jobs that pages start, also of their own accord; they wait as those of `started`."""
    return started


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
