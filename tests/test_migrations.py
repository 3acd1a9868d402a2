"""Projects and workspaces of earlier versions, kept under fixtures/ as those wrote them, are as they were.

`project-schema-….zip` was exported by the last commit with that schema: 21 items, ballot 1 closed, ballot 2 open with
all its votes; from 0002 on, so for each of two areas; in 0003 by the protocol "runoff". The CSV beside it is the
dataset that commit read from it.
"""

from __future__ import annotations

import pandas as pd
import pytest
from old_workspaces import FIXTURES, OLD, make_old_workspace

from core.store import open_store
from core.store.archive import export_project, import_project
from core.store.ballots import read_ballots
from core.store.closing import close_ballot
from core.store.project_zip import SCHEMAS, read_zip
from core.store.projects import get_project, list_projects
from core.store.rankings import read_rankings
from core.store.scores import read_dataset


def kept(schema: str) -> tuple[bytes, pd.DataFrame]:
    path = FIXTURES / f"project-schema-{schema}.zip"
    texts = {"area": "str", "token_a": "str", "token_b": "str"}
    numbers = dict.fromkeys(("lower", "upper", "rank_lower", "rank_upper"), "")
    dataset = pd.read_csv(path.with_suffix(".csv"), dtype=texts, keep_default_na=False, na_values=numbers)
    return path.read_bytes(), dataset


def assert_same(dataset: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(dataset.reset_index(drop=True), expected, check_dtype=False, rtol=0, atol=1e-15)


def test_every_earlier_schema_has_a_project_kept():
    assert sorted(SCHEMAS)[:-1] == OLD


@pytest.mark.parametrize("schema", OLD)
def test_a_project_exported_earlier_comes_in(store, schema):
    data, expected = kept(schema)
    project_id = import_project(store, data)
    assert_same(read_dataset(store, project_id), expected)
    assert get_project(store, project_id).ranking == ("all" if schema == "0001" else "area")
    again = import_project(store, export_project(store, project_id))
    assert_same(read_dataset(store, again), expected)
    for ranking in read_rankings(store, project_id):
        close_ballot(store, project_id, area_id=ranking.area_id)
        ballots = read_ballots(store, project_id, ranking.area_id)
        assert [ballot.state for ballot in ballots] == ["closed", "closed"]


@pytest.mark.sqlite
@pytest.mark.parametrize("schema", OLD)
def test_a_workspace_of_an_earlier_schema_is_brought_up(tmp_path, schema):
    data, expected = kept(schema)
    folder = tmp_path / "workspace"
    make_old_workspace(folder, schema)
    store = open_store(folder)
    (project,) = list_projects(store)
    assert_same(read_dataset(store, project.id), expected)
    assert len(list((folder / "backups").iterdir())) == 1
    now, before = read_zip(export_project(store, project.id)), read_zip(data)
    assert now.rows["judgement"] == before.rows["judgement"]
    store.engine.dispose()
