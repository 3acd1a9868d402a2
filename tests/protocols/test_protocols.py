"""A protocol is one class and one line in a list; nobody else knows its name."""

from __future__ import annotations

import ast
import json
from dataclasses import replace

import numpy as np
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project, run_simulated
from click.testing import CliRunner

from core.__main__ import cli
from core.commands.integrity import check_store
from core.commands.publishing import publish
from core.commands.recompute import replay_record
from core.errors import InputError
from core.evaluation.vote_intervals import draw_scores
from core.plan import Plan
from core.protocols import Held, Votes, collectable, protocol_of
from core.protocols.paper import Paper
from core.scores import BallotVotes, final_scores, score_campaign
from core.scores.bradley_terry import fit_votes
from core.simulation import simulate_campaign
from core.simulation.forecast import ForecastAssumptions, number_of_campaigns
from core.simulation.similarities import at_other_budgets
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot
from core.store.projects.archive import export_project
from core.store.projects.records import record_of
from core.store.scores.forecasts import known_search, make_forecast, make_search
from core.store.scores.project_dataset import chosen_otherwise, read_ballot_scores, read_project_dataset
from core.store.votes.intake import accept_upload
from core.trust.reliability import ceiling, halves
from core.trust.stopping import value_of_next
from core.views import plan as planner
from core.voters.model import Panel, exponential
from tests.rooms import ROOT
from tests.syntax import nodes, reads_the_code

NAMES = {"uniform", "paper", "runoff"}


def test_a_fourth_protocol_is_simulated_planned_and_replayed(swiss):
    plan = Plan(40, 3, 0.5, 10)
    made = simulate_campaign(exponential(40), plan, protocol=swiss, rng=np.random.default_rng(1))
    assert [len(held.votes.items) for held in made.held] == [40, 20, 10]
    assert made.accuracy().rho > 0.5
    assert number_of_campaigns(plan, swiss) == number_of_campaigns(plan, "paper")
    assert swiss in collectable()
    votes = [BallotVotes(*Votes.of(held.votes)) for held in made.held]
    fitted, rng = fit_votes(votes), np.random.default_rng(2)
    assert value_of_next(votes, swiss, fitted, n_keep=5, appearances=4, simulations=2, rng=rng).n_items == 5
    assert 0 < halves(votes, swiss, fitted, repeats=2, rng=rng).mean < 1
    assert 0.5 < ceiling(votes, swiss, fitted, simulations=2, rng=rng).mean < 1
    drawn = draw_scores(votes, swiss, resamples=20, rng=rng)
    assert drawn.drawn.shape == (20, 40)
    assert np.abs(np.nanmean(drawn.drawn, axis=0) - drawn.estimate).max() < 0.05


def test_a_fourth_protocol_is_collected_closed_and_recomputed(store, swiss):
    project_id = make_project(store, plan=replace(PLAN, protocol=swiss))
    for number in range(2):
        answers = answer_batch(draw_batch(store, project_id), tag=f"A{number}-")
        accept_upload(store, project_id, answers, f"{number}.csv")
        close_ballot(store, project_id)
    first, second = read_ballots(store, project_id)
    assert {first.protocol, second.protocol} == {swiss}
    scores = read_ballot_scores(store, project_id)
    wins = (scores["wins"] + scores["ties"] / 2) / 100
    rows = scores[scores["ballot"] == 2]
    so_far = wins[scores["item"].isin(rows["item"])].groupby(scores["item"]).sum()
    assert rows["mean"].tolist() == pytest.approx(so_far.tolist())
    assert (rows["lower"] <= rows["mean"]).all()
    dataset = read_project_dataset(store, project_id)
    assert dataset.attrs["estimator"] == "wins"
    assert len(dataset) == 21
    assert check_store(store).faults == ()
    with store.read() as conn:
        assert chosen_otherwise(conn, project_id, frozenset()) == [(2, 0)]
        record = record_of(conn, project_id, "s")
    assert replay_record(record, dataset).n_different == 0


def test_a_fourth_protocol_is_forecast_and_searched_for(store, swiss):
    guess, plan = ForecastAssumptions(exponential(21), Panel(10)), Plan(21, 2, 0.5, 4)
    for name in planner.compared():
        make_forecast(store, guess, plan, name)
    outlook = planner.load_outlook(store, guess, plan)
    assert outlook.is_complete
    assert outlook.table()["protocol"].tolist() == ["Swiss", "Runoff's own", "the paper's", "every item alike"]
    other = at_other_budgets(plan)[-1]
    assert make_forecast(store, guess, other, swiss).rho_w.mean > 0
    assert set(planner.load_curve(store, guess, plan)["protocol"]) >= {"Swiss", "the paper's"}
    found = make_search(store, guess, 30, swiss, "rho_w")
    assert (found.protocol, found.best.plan.n_items) == (swiss, 21)
    assert known_search(store, guess, 30, swiss, "rho_w").leaders == found.leaders


def test_a_fourth_protocol_is_replayed_and_simulated_by_the_commands(store, swiss, tmp_path):
    project_id = make_project(store, kind="trial", plan=replace(PLAN, protocol=swiss))
    run_simulated(store, project_id, 2)
    file = tmp_path / "published.zip"
    for data in (publish(store, project_id).data, export_project(store, project_id)):
        file.write_bytes(data)
        done = CliRunner().invoke(cli, ["replay", str(file), "--json"])
        told = json.loads(done.stdout)
        assert (done.exit_code, told["passed"], told["different"]) == (0, True, 0)
    small = ["simulate", "--similarity", "exponential", "--items", "20", "--ballots", "2", "--simulations", "2"]
    (row,) = json.loads(CliRunner().invoke(cli, [*small, "--protocol", swiss, "--json"]).stdout)["rows"]
    assert (row["protocol"], row["simulations"]) == (swiss, 2)
    small = ["equal-time", "--items", "20", "--ballots", "2", "--votes", "90", "--panels", "2", "--kind", "ratings"]
    rows = json.loads(CliRunner().invoke(cli, [*small, "--protocol", swiss, "--json"]).stdout)["rows"]
    assert [row["kind"] for row in rows] == ["comparisons", "ratings"]


def test_the_papers_scores_ballot_by_ballot_are_those_of_the_whole_chain():
    made = simulate_campaign(exponential(50), Plan(50, 4, 0.5, 6), protocol="paper", rng=np.random.default_rng(3))
    votes = [BallotVotes(*Votes.of(held.votes)) for held in made.held]
    chain = score_campaign(votes, 50)
    for number, scored in enumerate(Paper().scored([Held(ballot) for ballot in votes])):
        assert scored.scores.columns["y"].tobytes() == chain[number].y.tobytes()
        assert scored.scores.columns["mean"].tobytes() == chain[number].mean.tobytes()
    field = Paper().field([Held(ballot) for ballot in votes])
    assert field.rank_by.tobytes() == final_scores(chain, 50).score.tobytes()


def test_a_name_that_isnt_known_is_told():
    with pytest.raises(InputError, match="must be 'uniform' or 'paper' or 'runoff', found 'best'"):
        protocol_of("best")


def compared(code):
    """The comparisons of something called a protocol with a protocol's name."""
    found = []
    for node in code:
        if isinstance(node, ast.Compare):
            names = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and part.value in NAMES}
            if names and "protocol" in ast.unparse(node):
                found.append(ast.unparse(node))
        if isinstance(node, ast.Match) and "protocol" in ast.unparse(node.subject):
            found.append(ast.unparse(node.subject))
    return found


@reads_the_code
def test_nothing_else_compares_a_protocols_name():
    found = {}
    for folder in ("core", "ui", "pages", "voting"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.parent != ROOT / "core" / "protocols" and (here := compared(nodes(path))):
                found[path.relative_to(ROOT).as_posix()] = here
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        'if ballot.protocol == "runoff": pass',
        'x = protocol in ("paper", "uniform")',
        'any(p.protocol != "paper" for p in q)',
    ],
)
def test_comparisons_of_names_are_seen(code):
    other = code.replace("protocol", "platform")
    assert [len(compared(ast.walk(ast.parse(each)))) for each in (code, other)] == [1, 0]
