"""What SECURITY.md promises, where no other test holds it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from core.store.engine import open_apart
from core.voting_settings import VotingSettings

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
SAID = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_nothing_dangerous_is_called():
    command = [sys.executable, "-m", "bandit", "-q", "-c", "pyproject.toml", "-r", *("core", "ui", "pages", "voting")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_what_is_ignored_says_why():
    for path in [*(ROOT / "core").rglob("*.py"), *(ROOT / "ui").rglob("*.py"), *(ROOT / "voting").rglob("*.py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "nosec" not in line or re.search(r"# nosec B\d+ \(.+\)", line), f"{path.name}: {line}"


@pytest.mark.skipif(sys.platform == "win32", reason="has other rights")
def test_a_new_workspace_is_its_owners_alone(tmp_path):
    with open_apart(tmp_path / "above" / "workspace") as store:
        assert store.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="has other rights")
def test_a_shared_workspace_stays_shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o770)
    with open_apart(folder):
        assert folder.stat().st_mode & 0o777 == 0o770


class TestTheOwnersPages:
    def test_they_are_for_this_machine(self):
        assert SETTINGS["server"]["address"] == "localhost"

    @pytest.mark.parametrize("host", ["evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example", None])
    def test_a_page_that_renamed_this_machine_is_refused(self, host):
        """DNS rebinding: its Origin and its Host agree."""
        from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

        assert not is_host_allowed(host)

    @pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1:8501", "[::1]:8501", "localhost"])
    def test_this_machine_is_let_in(self, host):
        from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

        assert is_host_allowed(host)

    def test_no_protection_is_switched_off(self):
        server = SETTINGS["server"]
        for name in ("enableCORS", "enableXsrfProtection"):
            assert server.get(name, True) is True
        assert server.get("enableAgentApi", False) is False
        assert SETTINGS["client"]["showErrorDetails"] == "none"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://example.com", "//example.com", 'https://a"b', 5, None])
def test_an_address_from_elsewhere_is_not_followed(url):
    """Settings of a project's file are not typed into the form."""
    assert VotingSettings.of({"return_url": url}).return_url == ""


def test_an_address_of_the_owner_stays():
    url = "https://app.prolific.com/submissions/complete?cc=C1"
    assert VotingSettings.of(VotingSettings(return_url=url).stored()).return_url == url


def test_what_is_said_is_there():
    for name in re.findall(r"`(tests/[a-z_/]+\.py|docs/[a-z]+\.md|bench/[a-z_]+\.py)`", SAID):
        assert (ROOT / name).is_file(), name
    assert 'allowedHosts = ["localhost"' in (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
