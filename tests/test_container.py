"""The Dockerfile and compose.yaml, as far as that goes without Docker: what they name is there and fits together."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.browser.server import free_port
from tests.requirements import extra

ROOT = Path(__file__).resolve().parents[1]
SERVED = {"app": 8501, "voting": 8600}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]  # type: ignore[misc]


def stages() -> dict[str, SimpleNamespace]:
    """Each stage with what it has of its own and of the stages under it: copied, by instruction."""
    found: dict[str, SimpleNamespace] = {}
    for name, rest in instructions():
        if name == "FROM":
            below, _, called = rest.partition(" AS ")
            under = found.get(below, SimpleNamespace(copied=[], said={}))
            stage = found[called] = SimpleNamespace(copied=[*under.copied], said=dict(under.said))
        elif name == "COPY":
            stage.copied += rest.split()[:-1]
        else:
            stage.said[name] = rest
    return found


def exec_form(text: str) -> list[str]:
    words = yaml.safe_load(text[text.index("[") :])
    assert all(isinstance(word, str) for word in words)
    return words


def test_what_is_copied_is_there_and_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for stage in stages().values():
        for path in stage.copied:
            assert (ROOT / path).exists(), path
            assert any(Path(path).match(pattern) for pattern in kept), f"{path} is ignored"
    assert "tests" not in {path for stage in stages().values() for path in stage.copied}


@pytest.mark.release
@pytest.mark.release
@pytest.mark.sqlite
@pytest.mark.parametrize(("target", "port"), SERVED.items())
def test_each_target_starts_from_what_is_copied_and_is_healthy(tmp_path, target, port):
    """The command in a folder that has nothing else of the project; then the health check says that all is well."""
    image, free = tmp_path / "runoff", str(free_port())
    for path in stages()[target].copied:
        source, goal = ROOT / path, image / path
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, goal) if source.is_dir() else shutil.copy(source, goal)
    said = stages()[target].said
    command = [word.replace(str(port), free) for word in exec_form(said["CMD"])]
    command = [sys.executable, *(command[1:] if command[0] == "python" else ["-m", *command])]
    health = [sys.executable, *(word.replace(str(port), free) for word in exec_form(said["HEALTHCHECK"])[1:])]
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RUNOFF_DATABASE_URL")}
    env |= {"RUNOFF_WORKSPACE": str(tmp_path / "workspace")}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=image, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        well = False
        for _ in range(600):
            well = subprocess.run(health, capture_output=True).returncode == 0
            if well or process.poll() is not None:
                break
            time.sleep(0.1)
        assert well, (tmp_path / "log").read_text(errors="replace")[-2000:]
        assert (tmp_path / "workspace" / "runoff.sqlite").exists()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("target", "port"), SERVED.items())
def test_command_port_and_health_fit_together(target, port):
    said = stages()[target].said
    command = exec_form(said["CMD"])
    assert said["EXPOSE"] == str(port)
    assert command[command.index("--port" if target == "voting" else "--server.port") + 1] == str(port)
    assert "0.0.0.0" in command  # else nothing outside the container reaches it
    assert f"http://127.0.0.1:{port}/" in said["HEALTHCHECK"]
    assert find_spec({"app": "streamlit", "voting": "voting"}[target])
    compile(exec_form(said["HEALTHCHECK"])[2], "health", "exec")


def test_health_is_asked_where_it_is_answered():
    assert "/health" in (ROOT / "voting" / "app.py").read_text(encoding="utf-8")
    assert "/health'" in stages()["voting"].said["HEALTHCHECK"]
    assert "/_stcore/health'" in stages()["app"].said["HEALTHCHECK"]


def test_it_runs_without_rights_on_a_volume():
    names = [name for name, _ in instructions()]
    for stage in ("app", "voting"):
        said = stages()[stage].said
        assert said["USER"] == "runoff"
        assert said["VOLUME"] == "/workspace"
        assert "RUNOFF_WORKSPACE=/workspace" in said["ENV"]
    assert "ADD" not in names
    assert not [rest for name, rest in instructions() if name == "FROM" and rest.split()[0].endswith(":latest")]
    assert names[-1] == "CMD"  # the last stage is what a build without --target makes
    assert list(stages())[-1] == "app"


def test_compose_serves_the_owner_on_this_machine_only():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert set(services) == set(SERVED)
    for name, service in services.items():
        assert service["build"]["target"] == name
        assert service["volumes"] == ["workspace:/workspace"]
        assert service["ports"][0].endswith(f"{SERVED[name]}:{SERVED[name]}")
    assert services["app"]["ports"] == ["127.0.0.1:8501:8501"]
    assert services["voting"]["pid"] == "service:app"


def wanted(name: str) -> list[Requirement]:
    """The requirements of a file, comments left out."""
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [Requirement(line) for line in lines if line]


def test_the_lock_pins_all_that_is_required_within_its_ranges():
    pins = {canonicalize_name(pin.name): pin for pin in wanted("requirements.lock")}
    assert all(re.fullmatch(r"==[\w.+!]+", str(pin.specifier)) and not pin.url for pin in pins.values())
    for requirement in [*wanted("requirements.txt"), *map(Requirement, extra("postgresql"))]:
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"{requirement.name} isn't in requirements.lock: make lock"
        version = str(pin.specifier).removeprefix("==")
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} and {pin}: make lock"


def test_commands_in_the_guide_name_what_there_is():
    page = (ROOT / "docs" / "howto" / "container.md").read_text(encoding="utf-8")
    targets = [words[words.index("--target") + 1] for words in map(str.split, page.splitlines()) if "--target" in words]
    assert targets == ["voting"]
    assert set(re.findall(r"-p (\S+)", page)) == {"127.0.0.1:8501:8501", "8600:8600"}
