"""`pip install .` into an empty environment, then `runoff` and `runoff vote`: what a new user gets."""

from __future__ import annotations

import os
import socket
import subprocess
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from voting_server import make_voting

from core.questions.voting_settings import VotingSettings
from tests.browser.installation import (
    InstalledServer,
    copy_sources,
    installed_files,
    make_environment,
    pip_install,
)
from tests.browser.server import free_port

pytestmark = [pytest.mark.release, pytest.mark.sqlite]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sources(tmp_path_factory.mktemp("sources") / "runoff")


@pytest.fixture(scope="module")
def programs(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_environment(tmp_path_factory.mktemp("environment") / "env")
    try:
        pip_install(made, sources)
    except RuntimeError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return made


@pytest.fixture
def installed(programs: Path, tmp_path: Path) -> Iterator[InstalledServer]:
    # A user's own files may be called as ours are; the app must not take them for its own.
    for name in ("core.py", "ui.py", "numpy.py"):
        (tmp_path / name).write_text("raise SystemExit('a file of the folder was run')\n")
    server = InstalledServer(tmp_path / "workspace", programs)
    yield server
    server.kill()


def test_the_wheel_has_the_files_that_pyproject_names_in_one_package(programs, sources, tmp_path):
    command = [programs / "python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, sources]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=600)
    (wheel,) = tmp_path.glob("runoff-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
    assert names == set(installed_files())
    (site,) = programs.parent.glob("[lL]ib/**/site-packages")
    assert {"core", "ui", "pages", "data", "voting", "app.py"} & {path.name for path in site.iterdir()} == set()


def test_the_demo_opens_and_its_pages_answer(installed, visit):
    installed.start()
    visitor = visit(installed)
    visitor.open()
    visitor.says("Demo: jobs and skills")
    for title in ("Scores", "Evaluate", "Export"):
        visitor.go(title)
    visitor.check_no_error()
    said = installed.log.read_text(encoding="utf-8")
    assert said == f"Runoff is open at {installed.url}. Ctrl-C ends it.\n"

    told = subprocess.run([installed.runoff, "--port", str(installed.port)], capture_output=True, text=True, timeout=60)
    assert told.returncode == 2
    assert told.stderr.startswith(f"Error: Port {installed.port} can't be listened on (Address already in use). ")


def test_voters_get_their_page(programs, store, tmp_path):
    _, code = make_voting(store, VotingSettings(), tokens=("anvil", "barge", "candle", "dune"), appearances=4)
    port = free_port()
    command = [programs / "runoff", "--workspace", store.folder, "vote", "--port", str(port)]
    with (tmp_path / "vote.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0 or process.poll() is not None:
                    break
            sleep(0.1)
        assert process.poll() is None, (tmp_path / "vote.log").read_text(encoding="utf-8")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v/{code}", timeout=30) as answer:
            page = answer.read().decode()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/static/vote.css", timeout=30) as answer:
            assert answer.status == 200
    finally:
        process.kill()
        process.wait()
    assert "<h1" in page
    assert "anvil" in page or "more related" in page
