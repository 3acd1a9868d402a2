"""Areas edited as a table: which rows can be saved, and what saving them does."""

from __future__ import annotations

import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import AREAS, PLAN, draw_batch, make_project
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, StaleError, StoreError
from core.store import schema as t
from core.store.dialects import check_keys
from core.store.projects.archive import _hangs_on_ballots
from core.store.projects.plans import read_plan, save_plan, set_ranking
from core.store.projects.project_commands import read_log
from core.store.tokens.areas import (
    add_areas,
    change_area,
    change_areas,
    delete_area,
    origins_of,
    read_areas,
    read_items,
    restore_area,
)
from core.store.voting.owner_commands import invite
from core.tokens.files import AreaTokens, checked
from core.tokens.items import all_pairs

ANIMALS, TOOLS = AREAS


def test_rows_become_areas_in_the_order_of_their_first_rows():
    rows = [("Sea", " ship "), ("Land", "NA"), ("", ""), ("Sea", "cafe\u0301"), ("Land", "007")]
    assert checked(rows) == (AreaTokens("Sea", ("ship", "café")), AreaTokens("Land", ("NA", "007")))


def test_every_row_that_cannot_be_saved_is_told_with_its_number():
    rows = [
        ("Sea", "ship"),
        ("", "boat"),
        ("Sea", ""),
        ("Sea", "ship "),
        ("Sea", "a\tb"),
        ("x" * 201, "y"),
        ("Sky", "ship"),
    ]
    with pytest.raises(InputError, match="These rows can't be saved") as caught:
        checked(rows)
    told = [(issue.row, issue.message) for issue in caught.value.issues]
    assert [row for row, _ in told] == [2, 3, 4, 5, 6]
    assert told[0][1] == "the row has no area"
    assert told[1][1] == "the row has no token"
    assert told[2][1] == "Sea has this token in row 1 already"


def test_a_table_without_any_token_is_refused():
    with pytest.raises(InputError, match="no token left"):
        checked([("", ""), (" ", "")])


@given(st.dictionaries(st.sampled_from("xyz"), st.sets(st.sampled_from("abcdefg"), min_size=1), min_size=1))
def test_areas_come_back_from_their_rows(areas):
    given = tuple(AreaTokens(name, tuple(sorted(tokens))) for name, tokens in areas.items())
    assert checked([(area.name, token) for area in given for token in area.tokens]) == given


def test_all_areas_are_changed_together(store):
    project_id = make_project(store, plan=None)
    new = (AreaTokens("Tools", ("hammer", "saw")), AreaTokens("Sea", ("ship", "boat", "sail")))
    change_areas(store, project_id, AREAS, new)
    assert read_areas(store, project_id) == list(new)
    assert read_items(store, project_id).reset_index(drop=True).equals(all_pairs(new))
    detail = read_log(store, project_id, 1)[0]["detail"]
    assert list(detail["before"]["Animals"]) == list(ANIMALS.tokens)
    assert detail["areas"] == {area.name: list(area.tokens) for area in new}


def test_one_area_is_changed_in_its_place_and_the_others_stay(store):
    project_id = make_project(store, plan=None)
    change_areas(store, project_id, [ANIMALS], [AreaTokens("Animals", ("cat", "dog"))])
    assert read_areas(store, project_id) == [AreaTokens("Animals", ("cat", "dog")), TOOLS]


def test_a_table_over_an_area_that_was_changed_meanwhile_is_refused(store):
    project_id = make_project(store, plan=None)
    change_area(store, project_id, TOOLS, ("hammer", "saw"))
    with pytest.raises(StaleError):
        change_areas(store, project_id, AREAS, [AreaTokens("Animals", ("cat", "dog"))])
    with pytest.raises(InputError, match="area Tools already"):
        change_areas(store, project_id, [ANIMALS], [AreaTokens("Tools", ("cat", "dog"))])
    with pytest.raises(InputError, match="fewer than two"):
        change_areas(store, project_id, [ANIMALS], [AreaTokens("Animals", ("cat",))])
    assert [area.name for area in read_areas(store, project_id)] == ["Animals", "Tools"]


def test_nothing_changes_once_ballot_1_is_drawn(store):
    project_id = make_project(store)
    draw_batch(store, project_id)
    with pytest.raises(StoreError, match="ballot 1 is drawn"):
        change_areas(store, project_id, [ANIMALS], [AreaTokens("Animals", ("cat", "dog"))])
    assert read_areas(store, project_id) == list(AREAS)


def test_whatever_points_to_areas_tokens_and_items_is_deleted_with_them_or_hangs_on_ballots():
    """Before ballot 1 nothing hangs on ballots; a new table of another kind must be deleted in `areas.py` too."""
    pointing = {
        table.name
        for table in t.metadata.sorted_tables
        if {key.column.table for key in table.foreign_keys} & {t.area, t.token, t.item}
    }
    assert pointing - {table.name for table in t.metadata.sorted_tables if _hangs_on_ballots(table)} == {
        "token",
        "item",
        "plan",
        "voting_link",
    }


def test_links_are_sound_after_every_change_beside_another_project_with_ballots(store):
    """Areas are written without the database's watch over foreign keys, so nothing may hang in the air."""
    draw_batch(store, make_project(store))
    project_id = make_project(store, plan=None)
    set_ranking(store, project_id, "area")
    with store.read() as conn:
        of_name = sa.select(t.area.c.id).where(t.area.c.name == "Animals", t.area.c.project_id == project_id)
        animals = conn.execute(of_name).scalar_one()
    save_plan(store, project_id, PLAN, area_ids=[animals])
    invite(store, project_id, ["Anna"], area_id=animals)  # a link of the voting page, with a personal one
    add_areas(store, project_id, [AreaTokens("Sea", ("ship", "boat"))])
    change_area(store, project_id, TOOLS, ("hammer", "saw"))
    gone = delete_area(store, project_id, ANIMALS)  # its plan goes with it
    with store.read() as conn:
        assert check_keys(conn) == 0
        assert conn.execute(sa.select(t.plan.c.id).where(t.plan.c.project_id == project_id)).all() == []
        if conn.dialect.name == "sqlite":
            assert conn.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1  # others are watched as ever
    assert len(read_items(store, project_id)) == 2
    restore_area(store, project_id, gone)  # and comes back with it
    with store.read() as conn:
        assert check_keys(conn) == 0
        animals = conn.execute(of_name).scalar_one()
    assert read_plan(store, project_id, animals) == PLAN
    assert [area.name for area in read_areas(store, project_id)] == ["Animals", "Tools", "Sea"]
    with pytest.raises(InputError, match="There is an area Animals already"):
        restore_area(store, project_id, gone)


def test_an_area_comes_back_as_it_was(store):
    """In its place, by its tokens' origins, with the same items at the same positions."""
    project_id = make_project(store)
    with store.write(project_id) as conn:
        conn.execute(sa.update(t.token).where(t.token.c.text == "dog").values(origin="neighbour:x"))
    with store.read() as conn:
        before = origins_of(conn, project_id)
    assert before == {("Animals", "dog"): "x"}
    areas, items = read_areas(store, project_id), read_items(store, project_id)
    restore_area(store, project_id, delete_area(store, project_id, ANIMALS))
    assert read_areas(store, project_id) == areas
    pd.testing.assert_frame_equal(read_items(store, project_id).reset_index(drop=True), items.reset_index(drop=True))
    with store.read() as conn:
        assert origins_of(conn, project_id) == before
