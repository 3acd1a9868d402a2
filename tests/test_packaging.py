"""What is installed is all that the library and its voting page are made of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import core
from core.installed import HOME, LIBRARY, VOTING, call_core
from tests.browser.installation import SETTINGS, installed_files, lay_out
from tests.requirements import EXTRAS, extra

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_file_of_the_program_is_installed_inside_one_package():
    wanted = {ROOT / "app.py", ROOT / ".streamlit" / "config.toml"}
    for folder in ("core", "ui", "pages", "voting", "data"):
        files = {path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        wanted |= files - {ROOT / "data" / "build_demo.py"}  # made from what only the tests need
    found = installed_files()
    assert sorted(found.values()) == sorted(wanted)
    assert {name.split("/")[0] for name in found} == {"runoff"}


def test_the_command_and_what_the_wheel_requires():
    project = PROJECT["project"]
    assert project["scripts"] == {"runoff": "runoff.__main__:main"}
    assert "runoff/__main__.py" in installed_files()
    assert set(project["dynamic"]) == {"version", "dependencies"}
    assert SETTINGS["dynamic"]["dependencies"] == {"file": ["requirements.txt"]}


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder of packages with Runoff in it, as pip would leave it."""
    folder = tmp_path_factory.mktemp("site-packages")
    lay_out(folder)
    return folder


def run_installed(installed: Path, script: str, **environment: str) -> str:
    """What a script says to which Runoff is installed, and which knows nothing of the checkout."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=installed.parent, env={**os.environ, "PYTHONPATH": str(installed), **environment},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_voting_page_works_as_a_part_of_the_installed_package(installed):
    script = (
        "import sys\n"
        "from runoff.page import pages, app\n"
        "from runoff.voting import api as voting, process as voting_process\n"
        "assert pages.TRAITS is voting.TRAITS and app.voting is voting\n"
        "assert not [name for name in sys.modules if name == 'core' or name.startswith('core.')]\n"
        "print(pages.message('closed')[:15])\n"
    )
    assert run_installed(installed, script) == "<!DOCTYPE html>\n"


# What Streamlit does with app.py: its folder comes first, and the pages' frame is run.
FIRST_PAGE = """
import sys, pickle
from pathlib import Path
from runoff.installed import HOME, LIBRARY, VOTING
assert (LIBRARY, VOTING) == ("runoff", "runoff.page")
sys.path.insert(0, str(HOME))
import ui
from streamlit.testing.v1 import AppTest
page = AppTest.from_file(str(HOME / "ui" / "main.py")).run(timeout=240)
assert not page.exception, page.exception
print(*(title.value for title in page.title), sep="|")

import core.errors, core.store.engine, runoff.errors, runoff.store.engine, runoff.tables, runoff
from core import tables
assert core is runoff and core.errors is runoff.errors and tables is runoff.tables
assert core.store.engine is runoff.store.engine
aliases = [name for name in sys.modules if name == "core" or name.startswith("core.")]
own = {name for name in sys.modules if name == "runoff" or name.startswith("runoff.")}
assert len(aliases) > 20
for name in aliases:
    real = "runoff" + name.removeprefix("core")
    assert sys.modules[name] is sys.modules[real], name
    assert sys.modules[name].__spec__.name == sys.modules[name].__name__ == real
assert not [name for name in own if name.startswith("runoff.app")]
error = pickle.loads(pickle.dumps(core.errors.InputError("x")))
assert isinstance(error, runoff.errors.InputError)
for missing in ("import core.nothing", "from core import nothing", "from core.store import nothing"):
    try:
        exec(missing)
    except ImportError as error:
        assert "nothing" in str(error)
    else:
        raise AssertionError(missing)
"""


@pytest.mark.release
def test_the_app_finds_the_installed_library_and_loads_it_once(installed, tmp_path):
    (tmp_path / "core.py").write_text("raise SystemExit('a file of the folder was run')")
    elsewhere = os.pathsep.join([str(installed), str(tmp_path)])
    said = run_installed(installed, FIRST_PAGE, PYTHONPATH=elsewhere, RUNOFF_WORKSPACE=str(tmp_path / "workspace"))
    assert said == "Runoff\n"


def test_a_checkout_is_not_taken_for_an_installation():
    assert (LIBRARY, VOTING, HOME) == ("core", "voting", ROOT)
    before = list(sys.meta_path)
    call_core()
    assert sys.meta_path == before


def test_streamlits_settings_are_beside_the_app_and_its_welcome_is_off():
    """Streamlit reads those beside the script, wherever it is started; the welcome brings a pop-up with it."""
    told = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert told["logger"]["hideWelcomeMessage"] is True
    assert told["server"]["address"] == "localhost"
    assert installed_files()["runoff/app/.streamlit/config.toml"].parents[1] == ROOT


def test_the_version_stands_in_one_place_and_the_newest_notes_are_of_it():
    newest = re.search(r"(?m)^## (\S+) \(\d{4}-\d{2}-\d{2}\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert newest is not None
    assert newest.group(1) == core.__version__
    assert SETTINGS["dynamic"]["version"] == {"attr": "core.__version__"}


def required(name: str) -> list[Requirement]:
    """The requirements that a file lists."""
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [Requirement(line) for line in lines if line]


POSTGRESQL, DEV = (list(map(Requirement, extra(name))) for name in ("postgresql", "dev"))


def test_extras_that_hold_others_are_read_whole_and_none_asks_for_runoff():
    names = {requirement.name for requirement in DEV}
    assert {"psycopg", "dask", "distributed", "pytest"} <= names
    for name in EXTRAS:
        assert "runoff" not in {Requirement(line).name for line in extra(name)}


def closure(wanted: list[Requirement]) -> set[str]:
    """What these come to with all that they require, by what is installed; for Python 3.11 on Linux, as the lock is."""
    here = {
        "python_version": "3.11",
        "python_full_version": "3.11.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
    }
    found: set[tuple[str, str]] = set()
    todo = [(requirement, extra) for requirement in wanted for extra in ("", *requirement.extras)]
    while todo:
        requirement, extra = todo.pop()
        key = (canonicalize_name(requirement.name), extra)
        if key in found:
            continue
        found.add(key)
        for line in requires(requirement.name) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate(here | {"extra": extra}):
                todo += [(needed, other) for other in ("", *needed.extras)]
    return {name for name, _ in found}


@pytest.mark.skipif(Path(sys.prefix).name == ".lowest", reason="is about the newest versions")
def test_the_lock_names_what_runs_and_nothing_else():
    """No tool of the tests: the container would bring it, and a licence or a fault of it."""
    locked = {canonicalize_name(requirement.name) for requirement in required("requirements.lock")}
    running = closure([*required("requirements.txt"), *POSTGRESQL])
    assert sorted(locked) == sorted(running)
    of_tests = {canonicalize_name(requirement.name) for requirement in DEV}
    assert locked & of_tests == {"psycopg"}


@pytest.mark.release
def test_everything_but_postgresqls_own_module_needs_only_what_is_required():
    """Nothing that an extra, or only the tests, bring, is imported before somebody asks for what it does."""
    there = closure(required("requirements.txt")) | {"pip", "setuptools"}
    brought = packages_distributions()
    absent = {name for name, by in brought.items() if not there & {canonicalize_name(package) for package in by}}
    assert {"psycopg", "dask", "pytest"} <= absent
    modules = [name.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for name in installed_python()]
    script = (
        f"import importlib, sys\nsys.modules.update(dict.fromkeys({sorted(absent)!r}))\n"
        f"for name in {modules!r}:\n    importlib.import_module(name)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def installed_python() -> list[str]:
    """The modules of the program, from the checkout's root, but for pages and migrations, which are scripts."""
    found = [path for folder in ("core", "ui", "voting") for path in (ROOT / folder).rglob("*.py")]
    names = [path.relative_to(ROOT).as_posix() for path in found if "migrations" not in path.parts]
    return [name for name in names if name not in ("core/store/postgresql.py", "ui/main.py")]


def test_licences_that_ask_for_more_than_ours_are_told():
    """gensim's, which is required, and psycopg's, which is optional; any other one must be told first."""

    def terms(name: str) -> str:
        told = metadata(name)
        said = [told.get("License-Expression") or "", (told.get("License") or "")[:40], *told.get_all("Classifier", [])]
        return " ".join(said)

    names = closure([*required("requirements.txt"), *POSTGRESQL])
    strict = {name for name in names if re.search(r"GPL|General Public", terms(name))}
    assert strict == {"gensim", "psycopg", "psycopg-binary"}
    for page in ("README.md", "docs/faq.md", "docs/howto/container.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.search(r"gensim[^.]*LGPL 2\.1", text.replace("(", "")), page
        assert re.search(r"psycopg[^.]*\s*LGPL\s+3", text.replace("(", "")), page
    assert "LGPL-2.1" in next(
        line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("gensim")
    )


OLD = 'import sys; sys.version_info = (3, 9, 2); sys.version = "3.9.2 (old)"; exec(sys.argv[1])'
FAKES = {
    "old": f"#!/bin/sh\nexec {sys.executable} -c '{OLD}' \"$2\"\n",
    "without-venv": f'#!/bin/sh\ntest "$1" = -m && exit 1\nexec {sys.executable} "$@"\n',
}


@pytest.mark.parametrize(
    ("fake", "told"),
    [
        ("missing", "There is no {fake}. Runoff needs Python 3.11 or newer; on Debian and Ubuntu: apt install"),
        ("old", "Runoff needs Python 3.11 or newer; this is 3.9.2. Set PYTHON="),
        ("without-venv", "Python's venv is missing; on Debian and Ubuntu: apt install python3-venv"),
    ],
)
def test_make_run_says_what_a_bare_machine_lacks(tmp_path, fake, told):
    python = tmp_path / fake
    if fake in FAKES:
        python.write_text(FAKES[fake])
        python.chmod(0o755)
    environment = tmp_path / "environment"
    command = [shutil.which("make") or "make", "run", f"PYTHON={python}", f"VENV={environment}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert told.format(fake=python) in done.stderr + done.stdout
    assert not environment.exists()
