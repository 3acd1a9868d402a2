"""What SECURITY.md promises, where no other test holds it."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import make_project
from openpyxl import Workbook

from core.errors import InputError, StoreError
from core.jobs import lifecycle
from core.platforms.presets import open_results
from core.questions.best_worst import kind as best_worst
from core.questions.voting_settings import VotingSettings
from core.store import schema as t
from core.store.backups import back_up, before_migration, restore
from core.store.engine import PARTS, open_apart
from core.store.projects import demo
from core.store.stored_files import put_blob, put_output, put_upload
from core.tabular import workbook_reading
from core.tabular.csv_writing import table_for_spreadsheets
from core.voting import process
from ui import start

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
SAID = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_what_is_ignored_says_why():
    for path in [*(ROOT / "core").rglob("*.py"), *(ROOT / "ui").rglob("*.py"), *(ROOT / "voting").rglob("*.py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "nosec" not in line or re.search(r"# nosec B\d+ # .+", line), f"{path.name}: {line}"


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


@pytest.mark.sqlite
@pytest.mark.skipif(sys.platform == "win32", reason="has other rights")
@pytest.mark.parametrize(("folder", "made"), [(0o755, 0o700), (0o770, 0o770), (0o777, 0o777)])
def test_a_folder_that_was_there_shows_its_votes_to_those_who_may_write_in_it(tmp_path, folder, made):
    tmp_path.chmod(folder)
    umask = os.umask(0)
    try:
        with open_apart(tmp_path) as store, store.write():
            rights = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(umask)
    for name in ("uploads", "embeddings", "incoming", "backups"):
        assert rights[name] == made, name
    for name in ("runoff.sqlite", "runoff.sqlite-wal", "runoff.sqlite-shm"):
        assert rights[name] == made & 0o666, name


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable(folder: Path) -> list[str]:
    """What others reach in a folder that they may look into."""
    return [path.name for path in sorted(folder.iterdir()) if path.stat().st_mode & 0o077]


@pytest.mark.sqlite
@pytest.mark.usefixtures("umask")
@pytest.mark.skipif(sys.platform == "win32", reason="has other rights")
def test_others_read_nothing_of_a_workspace_in_a_folder_of_all(tmp_path, monkeypatch):
    """Every file that is made there: database, logs, locks, kept files, backups, what says where the server is."""
    folder = tmp_path / "workspace"
    folder.mkdir(mode=0o755)
    monkeypatch.setattr(demo, "_put", lambda store: None)
    monkeypatch.setattr(process, "STARTS_WITHIN", 0)
    monkeypatch.setattr(lifecycle.subprocess, "Popen", failing)
    monkeypatch.setattr(start.log, "handlers", [])
    with open_apart(folder) as store:
        demo.ensure_demo(store)
        make_project(store)
        for begin in (lambda: lifecycle.start(store, "simulation", {}), lambda: process.start_server(store)):
            with pytest.raises((StoreError, OSError)):
                begin()
        logs = readable(folder)
        start.keep_log(store)
        start.log.handlers[0].doRollover()
        start.log.handlers[0].close()
        process.announce(store, "127.0.0.1", 1)
        put_blob(store, b"votes")
        put_upload(store, b"upload")
        put_output(store, "job", b"made")
        before_migration(store, "9999")
        back_up(store, folder / "backups" / "whole.zip")
        restore(store, folder / "backups" / "whole.zip", replace=True)
        made = {path.name.partition(".json.")[0] for path in folder.iterdir()}  # a server's file has its key behind
        kept = [path for part in PARTS for path in (folder / part).iterdir()]
    assert made >= {"runoff.sqlite", "runoff.log", "runoff.log.1", "voting.log", "voting"}
    assert len(kept) == 6
    assert logs + readable(folder) == []
    assert [path.name for path in kept if path.stat().st_mode & 0o077] == []


def failing(*_: object, **__: object) -> None:
    raise OSError("no processes here")


@pytest.mark.sqlite
@pytest.mark.usefixtures("umask")
@pytest.mark.skipif(sys.platform == "win32", reason="has other rights")
@pytest.mark.parametrize(("folder", "left"), [(0o755, 0o600), (0o770, 0o640), (0o777, 0o644)])
def test_what_an_earlier_runoff_made_readable_is_private_from_the_next_start_on(tmp_path, folder, left):
    names = ("runoff.log", "runoff.log.2", "voting.json", "demo.lock", "tour-seen")
    for name in (*names, "the owner's own.txt"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "uploads").mkdir()
    (tmp_path / "voting.log").symlink_to(tmp_path / "the owner's own.txt")
    tmp_path.chmod(folder)
    with open_apart(tmp_path):
        rights = {path.name: path.lstat().st_mode & 0o777 for path in tmp_path.iterdir()}
    for name in names:
        assert rights[name] == left, name
    assert rights["uploads"] == left | 0o100 | (left & 0o044) >> 2
    assert rights["the owner's own.txt"] == 0o644


def test_an_error_of_the_database_repeats_nothing_that_was_sent(store):
    with pytest.raises(sa.exc.IntegrityError) as error, store.write() as conn:
        conn.execute(sa.insert(t.voting_link).values(code="c", secret="hush", voter_secret="hush", project_id="none"))
    assert "hush" not in str(error.value)


def test_tables_for_people_hold_no_formulas_and_the_same_numbers():
    texts = ["=1+1", "+x", "-er", "@a", "\t=1", "\r=1", "＝1", "a;=cmd|' /C calc'!A0;b", 'a;"=1', "plain", "x;y-z"]
    table = pd.DataFrame({"=name": texts, "score": [-1.5, 0.1, math.nan, *range(8)], "ok": True})
    written = table_for_spreadsheets(table)
    assert written.startswith(b"\xef\xbb\xbf")
    header, *rows = csv.reader(io.StringIO(written.decode("utf-8-sig"), newline=""))
    assert header == ["'=name", "score", "ok"]
    assert [row[0] for row in rows] == [
        "'=1+1", "'+x", "'-er", "'@a", "'\t=1", "'\r=1", "'＝1", "a;'=cmd|' /C calc'!A0;b", "a;\"'=1", "plain", "x;y-z"
    ]  # fmt: skip
    assert [row[1] for row in rows[:4]] == ["-1.5", "0.1", "", "0.0"]


def test_pages_write_tables_in_no_way_of_their_own():
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        assert ".to_csv(" not in path.read_text(encoding="utf-8"), path.name


def test_a_table_of_a_few_cells_far_apart_is_refused(monkeypatch):
    """A zip of some kilobytes, or a JSON file of a megabyte, must not fill the memory."""
    monkeypatch.setattr(workbook_reading, "MOST_CELLS", 1000)
    book = Workbook()
    for row in range(1, 60):
        book.worksheets[0].cell(row, 20, "x")
    out = io.BytesIO()
    book.save(out)
    wide = json.dumps([{f"column {number}": 1} for number in range(40)]).encode()
    for data, name in ((out.getvalue(), "votes.xlsx"), (wide, "votes.json")):
        with pytest.raises(InputError, match="more than 1,000 cells"):
            open_results(data, name)


def test_a_column_with_a_name_of_no_end_is_refused():
    with pytest.raises(InputError, match="100,000 letters"):
        open_results(b"1" * 100_000 + b",choice\n1,left\n", "votes.csv")


def test_an_answer_is_read_in_the_time_that_its_length_takes():
    """Not in its square: whoever holds a voter's link may send any answer. The steps of the patterns can't be counted,
    so their form is: no two parts of them that take the same letters follow each other with nothing sure between."""
    assert not re.search(r"\\s\*\[[^]]*\]\?\\s\*", best_worst._WRITTEN.pattern)
    for told, best in (
        ("best=3;worst=1", 2),
        ("best = 3 , worst = 1", 2),
        ("best=3worst=1", 2),
        ("best=3  worst=1", 2),
    ):
        assert best_worst.extremes(told) == (best, 0)


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
