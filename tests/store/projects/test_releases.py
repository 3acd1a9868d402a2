"""Versions of a dataset: kept byte for byte, never written over, carried along with the project."""

from __future__ import annotations

import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import make_project, run_people

from core.commands.publishing import publish, release
from core.dataset.diff import diff
from core.dataset.files import read_dataset
from core.errors import InputError, StoreError
from core.store import schema as t
from core.store.ballots.closing import reopen_ballot
from core.store.engine import open_apart
from core.store.projects.archive import copy_without_ballots, delete_project, export_project, import_project
from core.store.projects.project_commands import read_log
from core.store.projects.releases import check_version, keep_release, read_releases, release_bytes
from core.tabular.zips import checksum
from core.views import export


@pytest.fixture
def released(store):
    """A project of people with one ballot closed, released as 1.0."""
    project = make_project(store)
    run_people(store, project, 1)
    release(store, project, "1.0", "The first.")
    return project


def test_a_release_is_the_published_zip_kept_under_its_hash(store, released):
    (kept,) = read_releases(store, released)
    data = release_bytes(store, kept)
    assert (kept.version, kept.note) == ("1.0", "The first.")
    assert checksum(data) == kept.sha256
    assert (store.uploads / kept.sha256).read_bytes() == data
    assert publish(store, released, "1.0").data == data
    assert (kept.detail["items"], kept.detail["bytes"]) == (21, len(data))
    assert read_log(store, released, 1)[0]["action"] == "release dataset"


@pytest.mark.parametrize("version", ["", "  ", "-1", "a b", "1/2", "../x", "v" * 41, "1\n2", "ü1"])
def test_names_that_are_none(store, released, version):
    with pytest.raises(InputError, match="A version's name"):
        release(store, released, version)
    assert len(read_releases(store, released)) == 1


def test_names_that_are_good():
    assert [check_version(name) for name in ("1", "1.0.0-rc.1", "2026-11", " v2+b_1 ")] == [
        "1",
        "1.0.0-rc.1",
        "2026-11",
        "v2+b_1",
    ]


def test_a_version_is_never_written_over(store, released):
    before = release_bytes(store, read_releases(store, released)[0])
    run_people(store, released, 1)
    with pytest.raises(InputError, match="stays as it is"):
        release(store, released, "1.0")
    release(store, released, "V2")
    with pytest.raises(InputError, match="stays as it is"):
        release(store, released, "v2")
    newest, oldest = read_releases(store, released)
    assert (newest.version, oldest.version) == ("V2", "1.0")
    assert release_bytes(store, oldest) == before


def test_a_zip_of_an_older_state_is_not_kept(store, released):
    made = publish(store, released, "2")
    run_people(store, released, 1)
    with pytest.raises(StoreError, match="changed while"):
        keep_release(store, released, "2", made.data, detail=made.detail, made_at=made.revision)
    assert len(read_releases(store, released)) == 1


def test_a_damaged_or_lost_file_is_told(store, released):
    (kept,) = read_releases(store, released)
    (store.uploads / kept.sha256).write_bytes(b"x")
    with pytest.raises(StoreError, match="was damaged"):
        release_bytes(store, kept)
    (store.uploads / kept.sha256).unlink()
    with pytest.raises(StoreError, match="can't be read"):
        release_bytes(store, kept)


def test_releases_travel_with_the_project(store, released, tmp_path):
    (kept,) = read_releases(store, released)
    data = export_project(store, released)
    with open_apart(tmp_path / "other") as other:
        project = import_project(other, data)
        (there,) = read_releases(other, project)
        assert release_bytes(other, there) == release_bytes(store, kept)
        assert (there.version, there.sha256, there.note, there.at) == (kept.version, kept.sha256, kept.note, kept.at)
        # and the copy publishes the same file again, voters' pseudonyms among it
        assert publish(other, project, "1.0").data == release_bytes(store, kept)


def test_a_copy_without_ballots_has_none_and_another_secret(store, released):
    copy = copy_without_ballots(store, released, "Anew")
    assert read_releases(store, copy) == []
    with store.read() as conn:
        secrets = dict(conn.execute(sa.select(t.project.c.id, t.project.c.voter_secret)).all())
    assert secrets[released]
    assert not secrets[copy]


def test_the_file_goes_with_the_project_and_stays_in_its_backup(store, released):
    (kept,) = read_releases(store, released)
    backup = delete_project(store, released, "Test")
    assert not (store.uploads / kept.sha256).exists()
    again = import_project(store, backup.read_bytes())
    assert checksum(release_bytes(store, read_releases(store, again)[0])) == kept.sha256


def test_numbers_of_what_changed_are_written_as_people_do():
    one = pd.DataFrame({"area": "x", "token_a": "a", "token_b": ["b", "c", "d"], "score": [0.9, 0.5, 0.1]})
    two = one.assign(score=[0.5, 0.9, 0.1])
    one.attrs, two.attrs = {"votes": 1200, "provisional": True}, {"votes": 15000, "provisional": False}
    lines = dict(export.diff_lines(diff(one, two)).to_numpy().tolist())
    assert (lines["votes"], lines["ρ"], lines["provisional"]) == ("1,200 → 15,000", "0.5000", "True → False")


def test_what_changed_between_versions(store, released):
    run_people(store, released, 1)
    second = release(store, released, "1.1")
    first = read_releases(store, released)[-1]
    found = export.load_diff(store, released, first.id, second.id)
    old, new = (read_dataset(release_bytes(store, kept)) for kept in (first, second))
    assert found.described["votes"] == (old.attrs["votes"], new.attrs["votes"])
    assert found.described["ballots_closed"] == (1, 2)
    assert (len(found.moved), len(found.added)) == (21, 0)
    assert export.load_diff(store, released, second.id, export.NOW).same
    lines = dict(export.diff_lines(found).to_numpy().tolist())
    assert lines["votes"] == f"{old.attrs['votes']} → {new.attrs['votes']}"
    with pytest.raises(StoreError, match="no longer exists"):
        export.load_diff(store, released, 999, export.NOW)
    reopen_ballot(store, released)
    assert not export.load_diff(store, released, second.id, export.NOW).same
