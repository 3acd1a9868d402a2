"""What is installed is all that the library and its voting page are made of."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


def test_the_voting_page_works_as_a_part_of_the_installed_package(tmp_path):
    (tmp_path / "runoff").symlink_to(ROOT / "core")
    script = (
        "import sys, importlib.util as u; import runoff\n"
        f"spec = u.spec_from_file_location('runoff.page', {str(ROOT / 'voting' / '__init__.py')!r}, "
        f"submodule_search_locations=[{str(ROOT / 'voting')!r}])\n"
        "page = u.module_from_spec(spec); sys.modules['runoff.page'] = page; spec.loader.exec_module(page)\n"
        "from runoff.page import pages, app\n"
        "from runoff import voting, voting_process\n"
        "assert pages.TRAITS is voting.TRAITS and app.voting is voting\n"
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
