"""Pages and files count voters in one way, and a share never says that all is there while something is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project
from page_words import words

from core.base.numbers_in_words import VoterCount, in_percent, percent
from core.commands import datasheet_facts as datasheet
from core.dataset.datasheet.sheet import datasheet as page_of
from core.dataset.datasheet.sheet import to_markdown
from core.store import Store
from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.views import export, overview, voters
from core.views.scores import scores_page

ROOT = Path(__file__).resolve().parents[2]


def counts_of(store: Store, project_id: str) -> dict[str, VoterCount]:
    """The voters as each place counts them, but for who is left out in the datasheet, which gives the reasons."""
    facts = datasheet.load(store, project_id)
    out = sum(reason.n_voters for reason in facts.exclusions)
    return {
        "voters": voters.load(store, project_id).count,
        "scores": scores_page.load(store, project_id).voters,
        "export": export.load(store, project_id).voters,
        "datasheet": VoterCount(facts.voters.n_people, facts.voters.n_simulated, out),
        "platforms": VoterCount(*(sum(n for _, kind, n in facts.voters.platforms if kind == of)
                                  for of in ("person", "simulated")), out),
    }  # fmt: skip


def said_of(store: Store, project_id: str) -> str:
    (step,) = [step for step in overview.load(store, project_id).steps if step.page == "voters"]
    return step.state


@pytest.mark.release
def test_the_demo_has_as_many_voters_on_every_page(demo, visit):
    assert set(counts_of(demo, "demo").values()) == {VoterCount(0, 60)}
    assert said_of(demo, "demo") == "60 simulated voters"
    for page in ("voters", "scores", "export"):
        assert "60 simulated voters" in words(visit(page, "demo")), page


def of_people(store: Store) -> tuple[str, dict[str, int]]:
    """A project of six voters with votes, of whom one is left out, and one who knew no word; ballot 1 is closed."""
    project_id = make_project(store, plan=replace(PLAN, protocol="paper"))
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch), "results.csv")
    unknown = answer_batch(batch, voters=("W7",), choose=lambda _: "unknown", tag="B")
    accept_upload(store, project_id, unknown, "unknown.csv")
    with store.read() as conn:
        ids = dict(conn.execute(sa.select(t.voter.c.external_id, t.voter.c.id)).all())
    assert len(ids) == 7
    exclude_voters(store, project_id, [ids["W2"]], "too fast")
    close_ballot(store, project_id)
    return project_id, ids


def test_who_is_left_out_or_never_voted_is_counted_nowhere_as_a_voter(empty, visit):
    project_id, _ = of_people(empty)
    assert set(counts_of(empty, project_id).values()) == {VoterCount(5, 0, 1)}
    assert said_of(empty, project_id) == "5 people (1 more left out)"
    for page in ("project", "scores", "export"):
        assert "5 people (1 more left out)" in words(visit(page, project_id)), page
    assert "5 people gave" in words(visit("voters", project_id))
    sheet = to_markdown(page_of(datasheet.load(empty, project_id))).decode()
    assert " of 5." in sheet


def test_who_voted_in_the_open_ballot_alone_is_in_no_score_and_the_page_says_which_it_counts(empty, visit):
    project_id, _ = of_people(empty)
    batch = draw_batch(empty, project_id)
    accept_upload(empty, project_id, answer_batch(batch, voters=("W9",), tag="C"), "open.csv")
    found = counts_of(empty, project_id)
    assert found.pop("voters") == VoterCount(6, 0, 1)
    assert set(found.values()) == {VoterCount(5, 0, 1)}
    assert said_of(empty, project_id) == "6 people (1 more left out)"
    assert "including the open ballot’s" in words(visit("voters", project_id))
    assert any(line.value.startswith("1 voter;") for line in visit("collect", project_id).main.caption)


@pytest.mark.parametrize(
    ("answered", "wanted", "said"), [(2998, 3000, "over 99%"), (1, 3000, "under 1%"), (0, 3000, "0%"), (7, 7, "100%")]
)
def test_a_ballot_says_100_only_when_all_is_there(demo, answered, wanted, said):
    (standing,) = overview.load_standings(demo, "demo")
    assert standing.progress is not None
    found = replace(standing, progress=replace(standing.progress, answered=answered, wanted=wanted))
    assert found.said == f"ballot 4 of 5 open, {said} voted"
    assert percent(answered / wanted) == said


@pytest.mark.parametrize("digits", [0, 1, 2])
def test_no_share_rounds_to_an_end_that_it_has_not_reached(digits):
    for missing in (1, 2, 3):
        for n in (3, 7, 199, 201, 1999, 2001, 100_000, 3_000_000):
            few, most = missing / n / 3, 1 - missing / n / 3
            ends = {f"{0:.{digits}%}", f"{1:.{digits}%}"}
            assert not {percent(few, digits), percent(most, digits)} & ends
            shown = {f"{value:.{digits}f}%" for value in in_percent([few, most], digits)}
            assert not shown & ends


def test_every_share_is_written_by_the_one_helper():
    """A format such as `.0%` rounds to 100% what isn't all."""
    found = []
    for folder in ("core/views", "core/dataset/datasheet", "core/store", "ui", "pages", "voting"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = enumerate(path.read_text("utf-8").splitlines(), 1)
            found += [f"{path.relative_to(ROOT)}:{n}" for n, line in lines if re.search(r":,?\.\d%\}", line)]
    assert found == []
