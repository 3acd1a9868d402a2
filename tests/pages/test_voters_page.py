"""The Voters page: the table, one voter, rules, the preview, the decision and the way back."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project
from page_words import labelled, press, words

from core.store import schema as t
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.exclusions import exclusions_of
from core.store.votes.intake import accept_upload
from core.trust.voter_rules import RULES
from core.views import voters


def held(store, n_closed=1):
    """A trial project with closed ballots and simulated votes."""
    project_id = make_project(store, kind="trial", plan=replace(PLAN, protocol="runoff", appearances=8, n_voters=12))
    for _ in range(n_closed):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
    return project_id


@pytest.mark.release
def test_figures_stand_in_the_table_and_what_is_blank_says_why(empty, visit):
    project_id = held(empty)
    app = visit("voters", project_id)
    assert not app.exception
    view = voters.load(empty, project_id)
    shown = app.dataframe[0].value
    # Nobody shared a comparison, had a known answer, was asked twice or told a time; all are of one opinion.
    blank = {"as others", "shared", "pairwise", "known right", "known", "consistent", "repeats", "seconds", "speed"}
    blank.add("camp")
    assert list(shown.columns) == [name for name in voters.COLUMNS if name not in blank]
    assert shown["votes"].sum() == view.n_votes == read_project_dataset(empty, project_id).attrs["votes"]
    said = words(app)
    assert "12 simulated voters gave 84 votes that count; nobody is left out." in said
    assert "α is not defined: of 84 answered comparisons none was answered by two voters." in said
    assert "Known answers: no voter was given a comparison with a known answer." in said
    labelled(app.text_input, "Find a voter").input("-007").run()
    assert list(app.dataframe[0].value["voter"]) == ["simulated-007"]
    assert "1 of 12 voters." in words(app)
    (voter_id,) = [id_ for id_, name in view.names.items() if name == "simulated-003"]
    labelled(app.selectbox, "Look at one voter").select(voter_id).run()
    details = next(frame.value for frame in app.dataframe if "why blank" in frame.value.columns)
    assert details.equals(view.details(voter_id))
    assert (details["why blank"] != "").sum() == (details["value"] == "–").sum() > 0


def test_rules_are_off_at_first_and_propose_with_reasons(empty, visit):
    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    accept_upload(empty, project_id, answer_batch(batch), "results.csv")
    accept_upload(empty, project_id, answer_batch(batch, voters=("W8",), choose=lambda _: "left", tag="B"), "left.csv")
    app = visit("voters", project_id)
    assert [labelled(app.toggle, rule.label).value for rule in RULES.values()] == [False] * len(RULES)
    assert "proposed." not in words(app)
    assert words(app).count("can't judge anybody here") == 2  # known answers and repeats: nobody was given any
    assert "names 1 of 7 voters" in words(app)  # what a rule would name is told while it is off
    labelled(app.toggle, RULES["side"].label).set_value(True).run()
    proposals = next(frame.value for frame in app.dataframe if "rule" in frame.value.columns)
    assert list(proposals["voter"]) == ["W8"]
    assert "chose the left or upper pair in 42 of 42 answers" in proposals["reason"][0]
    assert "raises every agreement figure" not in words(app)
    labelled(app.toggle, RULES["pairwise"].label).set_value(True).run()
    assert "raises every agreement figure" in words(app)
    labelled(app.toggle, RULES["pairwise"].label).set_value(False).run()
    labelled(app.number_input, RULES["side"].asks).set_value(0.0).run()
    assert "propose nobody" in words(app)


@pytest.mark.release
def test_voters_are_left_out_after_a_preview_and_come_back(empty, visit):
    project_id = held(empty)
    before = read_project_dataset(empty, project_id)
    app = visit("voters", project_id)
    with empty.read() as conn:
        ids = dict(conn.execute(sa.select(t.voter.c.external_id, t.voter.c.id)).all())
    labelled(app.multiselect, "Voters to leave out").set_value([ids["simulated-001"], ids["simulated-002"]]).run()
    assert not app.exception
    table = voters.load(empty, project_id).quality.table.set_index("voter_id")["votes"]
    n = int(table[[ids["simulated-001"], ids["simulated-002"]]].sum())
    assert f"Without these 2 voters: votes 84 → {84 - n}; comparisons without a vote 0 → {n}." in words(app)
    (button,) = [button for button in app.button if button.label == "Leave 2 voters out"]
    assert button.disabled
    labelled(app.text_input, "Reason").input("clicked *at random*").run()
    press(app, "Leave 2 voters out")
    assert not app.exception
    said = words(app)
    assert f"2 voters are left out: {n} answers. 1 closed ballot scored again." in said
    assert f"10 simulated voters gave {84 - n} votes that count; 2 voters left out." in said
    with empty.read() as conn:
        assert {e.reason for e in exclusions_of(conn, project_id)} == {"clicked *at random*"}
    assert not read_project_dataset(empty, project_id).equals(before)
    table = next(frame.value for frame in app.dataframe if "proposed because" in frame.value.columns)
    assert sorted(table["voter"]) == ["simulated-001", "simulated-002"]
    assert "of voters who are left out" not in words(visit("collect", project_id))  # the ballot is closed
    labelled(app.multiselect, "Voters to readmit").set_value([ids["simulated-001"], ids["simulated-002"]]).run()
    press(app, "Let them count again")
    assert f"2 voters are readmitted: {n} answers. 1 closed ballot scored again." in words(app)
    assert read_project_dataset(empty, project_id).equals(before)


def test_the_proposed_are_chosen_at_one_press_with_their_reasons(empty, visit):
    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    accept_upload(empty, project_id, answer_batch(batch), "results.csv")
    accept_upload(empty, project_id, answer_batch(batch, voters=("W8",), choose=lambda _: "left", tag="B"), "left.csv")
    app = visit("voters", project_id)
    assert "nobody is left out." in words(app)
    (odd,) = [warning.value for warning in app.warning if "Odd" in warning.value]
    assert (
        odd.replace("\\", "")
        == "Odd, but still counted: W8 (chose the left or upper pair in 42 of 42 answers (p < 0.001))."
    )
    labelled(app.toggle, RULES["side"].label).set_value(True).run()
    press(app, "Choose the proposed voter")
    labelled(app.text_input, "Reason").input("always left").run()
    press(app, "Leave 1 voter out")
    with empty.read() as conn:
        (kept,) = exclusions_of(conn, project_id)
    assert not [warning for warning in app.warning if "Odd" in warning.value]  # who is left out is told once
    assert kept.detail["proposed"] == ["chose the left or upper pair in 42 of 42 answers (p < 0.001)"]
    assert "42 of voters who are left out" in words(visit("collect", project_id))


@pytest.mark.release
def test_what_cannot_be_left_out_is_said_in_place(empty, visit):
    project_id = make_project(empty, plan=replace(PLAN, protocol="paper"))
    accept_upload(empty, project_id, answer_batch(draw_batch(empty, project_id)), "one.csv")
    close_ballot(empty, project_id)
    app = visit("voters", project_id)
    with empty.read() as conn:
        voters = [voter for (voter,) in conn.execute(sa.select(t.voter.c.id).order_by(t.voter.c.id))]
    labelled(app.multiselect, "Voters to leave out").set_value(voters[:5]).run()
    labelled(app.text_input, "Reason").input("nearly all").run()
    press(app, "Leave 5 voters out")
    assert "can't be scored without these voters" in "\n".join(error.value.replace("\\", "") for error in app.error)


@pytest.mark.release
def test_the_checks_of_the_scores_lead_here(empty, visit):
    links = [element.label for element in visit("scores", held(empty)).main.get("page_link")]
    assert "Look at each voter" in links
