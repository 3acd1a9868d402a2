"""Workspaces with the demo, or a campaign half way, and the pages run on them without a browser."""

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

from core.commands import executor
from core.commands.base import Command
from core.commands.figures.base import Figure
from core.store import Store, open_store
from core.store.engine import _open
from core.store.projects.demo import ensure_demo
from tests.half_way import make_half_way
from ui.evaluate import jobs
from ui.plan import planner_box

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


def _made_once(factory: pytest.TempPathFactory, database: str, name: str, make: Callable[[Store], Any]) -> Path:
    """The folder of a workspace that `make` has filled: made once, on SQLite by one process for all."""
    base = factory.getbasetemp()
    if database == "sqlite" and "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, done = base / name / "workspace", base / name / "done"
    with FileLock(base / f"{name}.lock"):
        if not done.exists():
            store = open_store(folder)
            make(store)
            store.engine.dispose()
            _open.cache_clear()
            done.touch()
    return folder


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory, database: str) -> Path:
    """A workspace with a campaign half way; tests work on copies."""
    return _made_once(tmp_path_factory, database, "half-way", make_half_way)


@pytest.fixture
def demo(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A copy of the workspace with a campaign half way, under the demo's id; the pages will use it."""
    folder = tmp_path / "workspace"
    shutil.copytree(demo_folder, folder)
    yield from _use(folder, monkeypatch)


@pytest.fixture(scope="session")
def shipped_folder(tmp_path_factory: pytest.TempPathFactory, database: str) -> Path:
    """A workspace after its first start; tests work on copies."""
    return _made_once(tmp_path_factory, database, "shipped", ensure_demo)


@pytest.fixture
def shipped(shipped_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A copy of the workspace after its first start, with the demo as it is shipped; the pages will use it."""
    folder = tmp_path / "workspace"
    shutil.copytree(shipped_folder, folder)
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
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    if project is not None:
        app.query_params["project"] = project
    if key != "project":  # the page that opens by itself; any other's address is its file's name
        app.switch_page(f"../pages/{key}.py")
    return app.run()


@pytest.fixture
def visit() -> Callable[..., AppTest]:
    return open_page


@pytest.fixture(autouse=True)
def _nothing_begins_by_itself(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Evaluate page begins a job where figures take long: only in tests about that (`begun`)."""
    if "begun" not in request.fixturenames:
        monkeypatch.setattr(jobs, "_job", lambda *_: None)
        monkeypatch.setattr(planner_box, "begin_unasked", lambda _: None)


@pytest.fixture
def all_commands_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that takes any time is one for a job; figures are measured as they would be."""

    def takes_long(store: Store, what: Any) -> bool:
        with store.read() as conn:
            return what.seconds(conn) > (0.0 if isinstance(what, Command) else executor.AT_ONCE)

    monkeypatch.setattr(executor, "takes_long", takes_long)


@pytest.fixture
def figures_are_long(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have figures of these kinds count as long, whatever their size."""

    def make_long(*kinds: type[Figure[Any]]) -> None:
        for kind in kinds:
            monkeypatch.setattr(kind, "seconds", lambda *_: 1e6)

    return make_long


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
