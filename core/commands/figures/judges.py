"""What a language model's answers say beside the votes of people, measured of one record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.parallel import Progress
from ...errors import RunoffError
from ...evaluation.vote_intervals import number_of_resamples
from ...judges.figures import (
    JudgeCost,
    JudgeEffects,
    OrderEffect,
    RankingAgreement,
    by_gap,
    judge_cost,
    judge_effects,
    order_effect,
    ranking_agreement,
)
from ...scores.bradley_terry import FittedVotes, fit_votes
from ...store import Store
from ...store import schema as t
from ...store.ballots.ballot_rows import ballots_of, every_ballot_of
from ...store.command import fetch_rows
from ...store.projects.plans import settings_for
from ...store.scores.project_dataset import dataset_of
from ...store.tokens.areas import items_of, n_items_of
from ...store.votes.model_answers import answers_of, judge_of
from ...store.votes.tallies import ballot_votes, progress_of
from .base import Figure
from .evaluation_inputs import KEYS, load_draws
from .votes import READ

RESAMPLED = 1.7e-6  # seconds a vote and resample, as `evaluation.VotesIntervals` takes
NO_SCORES = "There are no scores of people yet: they come with their votes."


@dataclass(frozen=True)
class JudgeFigures:
    """What a record says. `reasons` counts the answers that are no votes, by why; `no_gaps` says why there is no
    agreement by gap, or is empty."""

    n_votes: int
    n_answers: int
    reasons: dict[str, int]
    order: OrderEffect
    gaps: pd.DataFrame
    no_gaps: str
    effects: JudgeEffects
    ranking: RankingAgreement
    cost: JudgeCost


@dataclass(frozen=True)
class JudgeFigure(Figure[JudgeFigures]):
    """The figures of a record as far as it has answers: `n_attempts` tells that more have come."""

    name = "judge"
    version = 1
    doing = "Setting the language model beside people"
    judge_id: int
    n_attempts: int
    n0: float = 2.0

    def seconds(self, conn: sa.Connection) -> float:
        judge = judge_of(conn, self.project_id, self.judge_id)
        of = {ballot.id: ballot for ballot in every_ballot_of(conn, self.project_id)}
        ballots = ballots_of(conn, self.project_id, of[judge.ballot_id].area_id)
        n = sum(progress_of(conn, ballot.id).votes for ballot in ballots)
        return 0.3 + (3 * n + judge.n_answers) / READ + RESAMPLED * n * number_of_resamples(n)

    def measure(self, store: Store, progress: Progress | None) -> tuple[JudgeFigures, None]:
        return judge_figures(store, self.project_id, self.judge_id, self.n0, progress), None


def judge_figures(
    store: Store, project_id: str, judge_id: int, n0: float = 2.0, progress: Progress | None = None
) -> JudgeFigures:
    """The figures of a record, ρ_w and τ_w with the offset n₀. `StoreError` where the project has none such."""
    with store.read() as conn:
        judge = judge_of(conn, project_id, judge_id)
        ballot = next(ballot for ballot in every_ballot_of(conn, project_id) if ballot.id == judge.ballot_id)
        answers = answers_of(conn, judge_id)
        people = ballot_votes(conn, ballot.id)
        ballots = ballots_of(conn, project_id, ballot.area_id)
        votes = [ballot_votes(conn, one.id) for one in [b for b in ballots if not b.is_open] or ballots]
        items, dataset = items_of(conn, project_id), dataset_of(conn, project_id, ballot.area_id)
        plan = settings_for(conn, ballot.id)
        whole = plan.plan(n_items_of(conn, project_id, ballot.area_id))
        a = t.model_answer.c
        came = fetch_rows(
            conn, sa.select(a.prompt_tokens, a.answer_tokens).where(a.model_judge_id == judge_id).order_by(a.id)
        )
    scores = _by_position(items, dataset)
    drawn, no_draws = None, NO_SCORES
    if not np.isnan(scores).all():
        draws = load_draws(store, project_id, progress=progress)
        no_draws = draws.problem
        drawn = None if draws.problem else draws.columns_of(items)
    fitted, no_fit = _fitted(votes)
    gaps = by_gap(answers, scores, people)
    replies = pd.DataFrame(came, columns=["prompt_tokens", "answer_tokens"]).astype("float64")
    checks = sum(count.total for count in plan.check_counts(whole))
    is_vote = answers["reason"] == ""
    return JudgeFigures(
        n_votes=int(is_vote.sum()),
        n_answers=len(answers),
        reasons={str(reason): int(n) for reason, n in answers["reason"][~is_vote].value_counts().items()},
        order=order_effect(answers),
        gaps=gaps,
        no_gaps="" if len(gaps) else NO_SCORES if np.isnan(scores).all() else "No vote is on items of unlike scores.",
        effects=judge_effects(answers, fitted, no_fit),
        ranking=ranking_agreement(answers, scores, drawn, n0=n0, no_draws=no_draws),
        cost=judge_cost(
            replies,
            (judge.input_price, judge.output_price),
            plan.cost(whole).total / (whole.n_comparisons + checks),
            int(is_vote.sum()),
        ),
    )


def _by_position(items: pd.DataFrame, dataset: pd.DataFrame) -> np.ndarray:
    """The score of each item of the project by its position, NaN where it has none."""
    scored = pd.Series(dataset["score"].to_numpy(dtype=np.float64), index=pd.MultiIndex.from_frame(dataset[KEYS]))
    found = np.full(int(items["item"].max()) + 1 if len(items) else 0, np.nan)
    found[items["item"].to_numpy()] = scored.reindex(pd.MultiIndex.from_frame(items[KEYS])).to_numpy()
    return found


def _fitted(votes: list) -> tuple[FittedVotes | None, str]:
    if not votes or not len(votes[0].first):
        return None, NO_SCORES
    try:
        return fit_votes(votes), ""
    except RunoffError as error:
        return None, f"People's votes can't be fitted: {error}"
