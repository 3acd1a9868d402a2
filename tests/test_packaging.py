"""What is installed is all that the library and its voting page are made of."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import core

ROOT = Path(__file__).resolve().parents[1]


def settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_every_package_is_installed():
    packages = {path.parent.relative_to(ROOT).as_posix().replace("/", ".") for path in ROOT.glob("core/**/__init__.py")}
    wanted = {"runoff" + name.removeprefix("core") for name in packages} | {"runoff.page"}
    assert set(settings()["packages"]) == wanted
    assert settings()["package-dir"] == {"runoff": "core", "runoff.page": "voting"}
    data = {path.suffix for path in (ROOT / "voting" / "static").iterdir()}
    assert data <= {".css", ".js"}


@pytest.mark.release
def test_the_voting_page_works_as_a_part_of_the_installed_package(tmp_path):
    (tmp_path / "runoff").symlink_to(ROOT / "core")
    script = (
        "import sys, importlib.util as u; import runoff\n"
        f"spec = u.spec_from_file_location('runoff.page', {str(ROOT / 'voting' / '__init__.py')!r}, "
        f"submodule_search_locations=[{str(ROOT / 'voting')!r}])\n"
        "page = u.module_from_spec(spec); sys.modules['runoff.page'] = page; spec.loader.exec_module(page)\n"
        "from runoff.page import pages, app, fields\n"
        "from runoff import voting, voting_process\n"
        "assert fields.TRAITS is voting.TRAITS and app.voting is voting\n"
        "assert not [name for name in sys.modules if name == 'core' or name.startswith('core.')]\n"
        "print(pages.message('closed')[:15])\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{script}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == "<!DOCTYPE html>\n", done.stderr


def test_the_version_stands_in_one_place_and_the_newest_notes_are_of_it():
    newest = re.search(r"(?m)^## (\S+) \(\d{4}-\d{2}-\d{2}\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert newest is not None
    assert newest.group(1) == core.__version__
    assert settings()["dynamic"]["version"] == {"attr": "core.__version__"}


def required(name: str) -> list[Requirement]:
    """The requirements that a file lists itself."""
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


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


def test_the_lock_names_what_runs_and_nothing_else():
    """No tool of the tests: the container would bring it, and a licence or a fault of it."""
    locked = {canonicalize_name(requirement.name) for requirement in required("requirements.lock")}
    running = closure(required("requirements.txt"))
    assert sorted(locked) == sorted(running)
    of_tests = {canonicalize_name(requirement.name) for requirement in required("requirements-dev.txt")}
    assert locked & of_tests == set()


def test_licences_that_ask_for_more_than_ours_are_told():
    """gensim's, which is required, and psycopg's, which is optional; any other one must be told first."""

    def terms(name: str) -> str:
        told = metadata(name)
        said = [told.get("License-Expression") or "", (told.get("License") or "")[:40], *told.get_all("Classifier", [])]
        return " ".join(said)

    names = closure([*required("requirements.txt"), *required("requirements-postgres.txt")])
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
