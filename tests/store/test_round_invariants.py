"""`check` finds what is broken in rounds: each break is made here by hand, in rows that no command leaves so."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from rounds_of_people import SMALL, collected, round_id

from core.commands.integrity import check_store
from core.errors import InputError
from core.store import schema as t
from core.store.projects.archive import export_project, import_project
from tests.rounds_of_people import BEST_WORST, ORDER, RATING, close_round

J = t.judgement


def first_judgement(conn: sa.Connection) -> int:
    return int(conn.execute(sa.select(sa.func.min(J.c.id))).scalar_one())


def of_judgement(**values):
    return lambda conn, _: conn.execute(sa.update(J).where(J.c.id == first_judgement(conn)).values(values))


def of_ballot(**values):
    return lambda conn, id_: conn.execute(sa.update(t.ballot).where(t.ballot.c.id == id_).values(values))


def last_option(conn: sa.Connection, _: int) -> None:
    """A place of a question is left out."""
    option = t.question_option.c
    question = conn.execute(sa.select(sa.func.min(option.question_id))).scalar_one()
    conn.execute(sa.delete(t.question_option).where(option.question_id == question, option.position == 0))


def item_tally(conn: sa.Connection, id_: int) -> None:
    b = t.ballot_item.c
    item = conn.execute(sa.select(sa.func.min(b.item_id)).where(b.ballot_id == id_)).scalar_one()
    conn.execute(sa.update(t.ballot_item).where(b.ballot_id == id_, b.item_id == item).values(wins=b.wins + 1))


def item_score(conn: sa.Connection, id_: int) -> None:
    b = t.ballot_item.c
    item = conn.execute(sa.select(sa.func.min(b.item_id)).where(b.ballot_id == id_)).scalar_one()
    conn.execute(sa.update(t.ballot_item).where(b.ballot_id == id_, b.item_id == item).values(mean=None))


@pytest.mark.parametrize(
    ("scheme", "break_it", "rule"),
    [
        (RATING, of_judgement(value=1.5, answer="2"), "values"),
        (RATING, of_judgement(answer="9", value=9.0), "values"),
        (RATING, of_judgement(value=None), "values"),
        (BEST_WORST, of_judgement(answer="best=3;worst=3"), "values"),
        (BEST_WORST, of_judgement(value=1.0), "values"),
        (ORDER, of_judgement(answer="1 1"), "values"),
        (RATING, of_ballot(settings={"raters": 0}), "values"),
        (RATING, of_ballot(settings=sa.null()), "values"),
        (RATING, of_ballot(purpose="campaign"), "numbers"),
        (RATING, of_ballot(kind="comparison"), "numbers"),
        (BEST_WORST, last_option, "options"),
        (RATING, last_option, "options"),
        (BEST_WORST, item_tally, "item tallies"),
        (RATING, item_tally, "item tallies"),
        (RATING, item_score, "scores"),
    ],
)
def test_a_break_is_found_and_named(store, scheme, break_it, rule):
    project_id = collected(store, scheme)
    if break_it is item_score:
        close_round(store, project_id, 1)
    assert check_store(store).is_fine
    with store.write(project_id) as conn:
        break_it(conn, round_id(store, project_id))
    assert rule in {fault.rule.name for fault in check_store(store).faults}


@pytest.mark.parametrize("change", [{"purpose": "campaign"}, {"kind": "guess"}, {"settings": {"raters": 0}}])
def test_a_file_with_a_round_that_is_none_is_refused(store, change):
    project_id = collected(store, RATING, SMALL[RATING])
    with store.write(project_id) as conn:
        conn.execute(sa.update(t.ballot).values(change))
    with pytest.raises(InputError, match="can't be read as a project"):
        import_project(store, export_project(store, project_id))
