"""Voters' figures by the checks of ballots, and voters left out of ballots with checks."""

from __future__ import annotations

import pytest
from campaigns import make_project
from checks_by_voter import checks_by_voter
from test_ballot_checks import WITH, hold
from test_exclusions import ids_of, state_of

from core.store.ballots.ballot_rows import read_ballots
from core.store.scores.next_ballot_value import read_audit
from core.store.votes.exclusions import exclude_voters, readmit_voters
from core.store.votes.tallies import write_tallies
from core.views import voters
from core.views.scores import trust


def slips(shown):
    """Longer pairs, but where the first word is short."""
    left, right = len(shown["left_a"] + shown["left_b"]), len(shown["right_a"] + shown["right_b"])
    if len(shown["left_a"]) == 3:
        return "left"
    return "tie" if left == right else "left" if left > right else "right"


def tallies_hold(store, project_id):
    """A recount of the tallies changes nothing."""
    before = state_of(store)
    with store.write() as conn:
        for ballot in read_ballots(store, project_id):
            write_tallies(conn, ballot.id)
    assert state_of(store) == before


@pytest.fixture
def project_id(store):
    project_id = make_project(store, plan=WITH)
    for _ in range(2):
        hold(store, project_id, choose=slips)
    return project_id


def test_gold_repeats_and_agreement_are_those_of_the_checks(store, project_id):
    view = voters.load(store, project_id)
    found = view.quality.table.set_index("voter_id")
    with store.read() as conn:
        counted = checks_by_voter(conn, [ballot.id for ballot in read_ballots(store, project_id)]).set_index("voter_id")
    assert counted["gold_n"].sum() > 0
    assert counted["repeats_n"].sum() > 0
    assert found["gold_right"].to_dict() == counted["gold_right"].to_dict()
    assert found["gold_n"].to_dict() == counted["gold_n"].to_dict()
    assert found["repeat_same"].to_dict() == counted["repeats_same"].to_dict()
    assert found["repeat_n"].to_dict() == counted["repeats_n"].to_dict()
    alpha = trust.load_checks(store, project_id).agreement
    assert alpha is not None
    assert view.quality.alpha.alpha == pytest.approx(alpha.alpha)
    assert (view.quality.alpha.n_units, view.quality.alpha.n_voters) == (alpha.n_units, alpha.n_voters)


def test_out_and_in_again_with_checks_and_an_audit(store, project_id):
    before, last = state_of(store), read_ballots(store, project_id)[-1]
    out = [ids_of(store, project_id)["W2"]]
    with store.read() as conn:
        audit = read_audit(conn, last.id)
    exclude_voters(store, project_id, out, "why")
    tallies_hold(store, project_id)
    with store.read() as conn:
        assert read_audit(conn, last.id) != audit
    readmit_voters(store, project_id, out)
    assert state_of(store) == before
