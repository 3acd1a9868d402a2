"""Runoff as `pip install` leaves it: the files of the wheel, and an environment that holds nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from tests.browser.server import ROOT, Server

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
# What a wheel is built from.
SOURCES = (
    *("pyproject.toml", "requirements.txt", "README.md", "LICENSE"),
    *("app.py", ".streamlit", "core", "data", "pages", "ui", "voting"),
)


def installed_files() -> dict[str, Path]:
    """The files of the program by their places in the wheel, worked out from pyproject.toml as setuptools does."""
    found = {}
    for package in SETTINGS["packages"]:
        folder = folder_of(package)
        patterns = ["*.py", *SETTINGS["package-data"].get(package, [])]
        for path in (path for pattern in patterns for path in folder.glob(pattern)):
            found[f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}"] = path
    return found


def folder_of(package: str) -> Path:
    """The folder that becomes a package of the wheel."""
    known, rest = package, list[str]()
    while known not in SETTINGS["package-dir"]:
        known, _, last = known.rpartition(".")
        rest.insert(0, last)
    return ROOT.joinpath(SETTINGS["package-dir"][known], *rest)


def lay_out(folder: Path) -> None:
    """Put the files where `pip install` would, without pip."""
    for name, path in installed_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def copy_sources(folder: Path) -> Path:
    """A copy of what a wheel is built from: a build in the checkout would leave files there, and find older ones."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def make_environment(folder: Path) -> Path:
    """An environment with nothing but pip; its folder of programs."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def pip_install(programs: Path, sources: Path) -> None:
    """`pip install FOLDER`, from pip's cache or the registry; `RuntimeError` with the end of what pip says."""
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(sources)]
    done = subprocess.run(command, cwd=programs, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"pip can't install Runoff: {done.stderr[-1000:]}")


class InstalledServer(Server):
    """`runoff` of an environment, given in a folder that has nothing to do with the program."""

    def __init__(self, workspace: Path, programs: Path) -> None:
        super().__init__(workspace)
        self.folder = workspace.parent
        self.runoff = str(programs / "runoff")

    def _command(self) -> list[str]:
        return [self.runoff, "--port", str(self.port), "--no-browser"]
