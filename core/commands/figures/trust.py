"""How far the scores of a ranking can be trusted, line by line (`trust`), from the votes of its closed ballots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.parallel import Progress
from ...errors import RunoffError
from ...evaluation.vote_intervals import draw_scores, number_of_resamples
from ...protocols import protocol_of
from ...protocols.base import N_TOP
from ...scores import BallotVotes
from ...scores.borda import tally
from ...scores.bradley_terry import FittedVotes, fit_votes, joined
from ...scores.pair_graph import connected_parts
from ...scores.posterior import item_posteriors
from ...scores.signal_test import by_chance
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, ballots_of, closed_ballots_of
from ...store.projects.plans import is_last
from ...store.scores.next_ballot_value import closed_fit_of, read_audit, stored_next_ballot_value
from ...store.tokens.areas import items_of
from ...store.votes.checks import voter_answers, voter_names
from ...store.votes.tallies import closed_votes, progress_of
from ...tokens.items import pair_label
from ...trust import reliability, report
from ...trust.camps import between_camps, find_camps
from ...trust.leave_one_out import Guessers, find_guessers
from ...trust.report import TrustCheck
from ...trust.voter_quality import side_bias
from .votes import OfRanking, agreement_of

ONE_SIDED = 0.9  # share of a voter's votes for one side from which on they are told by name
SCORED = 10_000  # votes that are fitted, and scored again some twenty times, in a second


@dataclass(frozen=True)
class TrustLines(OfRanking[tuple[TrustCheck, ...]]):
    """All lines of a ranking, by its closed ballots; none before one is closed.

    Reads all their votes, fits them once, and scores them again some twenty times.
    """

    name = "trust_lines"
    version = 7
    doing = "Checking the scores"

    def seconds(self, conn: sa.Connection) -> float:
        ballots = closed_ballots_of(conn, self.project_id, self.area_id)
        return sum(progress_of(conn, ballot.id).votes for ballot in ballots) / SCORED

    def measure(self, store: Store, progress: Progress | None) -> tuple[tuple[TrustCheck, ...], None]:
        return _lines(store, self.project_id, self.area_id), None


def _lines(store: Store, project_id: str, area_id: int | None) -> tuple[TrustCheck, ...]:
    ballots, votes = closed_votes(store, project_id, area_id)
    if not ballots:
        return ()
    with store.read() as conn:
        next_ballot = stored_next_ballot_value(conn, ballots[-1].id)
        items = items_of(conn, project_id, area_id=area_id)
        audit = read_audit(conn, ballots[-1].id)
        tied = closed_fit_of(conn, ballots[-1].id).get("tied_for_first", [])
        last = is_last(conn, project_id, area_id, ballots[-1].number)
        called, answers = voter_names(conn, project_id), voter_answers(conn, [ballot.id for ballot in ballots])
        agreed = agreement_of(conn, [ballot.id for ballot in ballots_of(conn, project_id, area_id)])
    names = dict(zip(items["item"], pair_label(items), strict=True))
    lines = _vote_lines(ballots, votes, last)
    fitted, chance, guessers = _fitted(votes), by_chance(votes), find_guessers(votes)
    if (line := _who_voted(guessers, called, answers)) is not None:
        lines.append(line)
    if isinstance(fitted, FittedVotes):
        if not chance:  # whoever tosses coins has no opinion
            camps = find_camps(votes, fitted)
            every = called.set_index("voter_id")["name"][guessers.voters].tolist()
            lines.append(report.one_panel(camps, every, between_camps(votes, camps) if camps.are_two else None))
        try:
            lines += _top_lines(ballots[-1], votes, fitted, tied, names, last, chance)
            if (cycles := report.no_preference_cycles(next_ballot)) is not None:
                lines.append(cycles)
        except RunoffError as error:
            lines.append(_no_ranking(str(error)))
    else:
        lines.append(_no_ranking(fitted))
    # ballot 1 holds all: nothing is cut
    if len(ballots) > 1 and (cut := report.cut_lost(next_ballot, audit)) is not None:
        lines.append(cut)
    reliable = _reliability_lines(ballots[-1], votes, fitted, chance, guessers)
    return (*lines, report.agreement(*agreed, chance=chance), *reliable)


def _who_voted(guessers: Guessers, called: pd.DataFrame, answers: pd.DataFrame) -> TrustCheck | None:
    """Voters who have most of the votes, guess, or always take one side, by name."""
    given = answers[(answers["status"] == "counted") & answers["left"].notna()]
    bias = side_bias(given["voter_id"].to_numpy(), given["left"].to_numpy() == 1)
    uneven = np.abs(bias.flagged["share"] - 0.5) >= ONE_SIDED - 0.5
    names = called.set_index("voter_id")["name"]
    return report.who_voted(names[guessers.voters].tolist(), guessers, names[bias.flagged["voter"][uneven]].tolist())


def _fitted(votes: list[BallotVotes]) -> FittedVotes | str:
    """The fit of all votes, or why there is none."""
    try:
        return fit_votes(votes)
    except RunoffError as error:
        return str(error)


def _no_ranking(error: str) -> TrustCheck:
    why = f"There is no ranking of all items: {error}"
    return TrustCheck("The top", report.RED, why, "See the lines above.")


def _vote_lines(ballots: list[Ballot], votes: list[BallotVotes], is_last: bool) -> list[TrustCheck]:
    """What the votes allow at all: how many, won and lost, joined."""
    items = np.sort(votes[0].items)
    first, second, outcome, _ = joined(votes, items)
    points, times = tally(first, second, outcome, n_items=len(items))
    planned = np.zeros(len(items), dtype=np.int64)
    for ballot, held in zip(ballots, votes, strict=True):
        planned[np.searchsorted(items, held.items)] += ballot.appearances
    parts = connected_parts(first, second, len(items))
    top = np.argsort(-points / np.maximum(times, 1), kind="stable")[:N_TOP]
    return [
        report.one_graph([len(part) for part in parts], int((times == 0).sum())),
        report.enough_votes(times, planned),
        report.won_and_lost(points, times, top, is_last=is_last),
    ]


def _top_lines(
    ballot: Ballot,
    votes: list[BallotVotes],
    fitted: FittedVotes,
    tied: list[int],
    names: dict[int, str],
    is_last: bool,
    chance: str,
) -> list[TrustCheck]:
    """What is known of the ranking's top, and of its first."""
    n_top = min(N_TOP, len(fitted.items) - 1)
    if protocol_of(ballot.protocol).of_fit(fitted) is not None:
        probability = item_posteriors(fitted.fit).top_probability(n_top)
    else:
        rng = np.random.default_rng([ballot.seed, 4])
        n_votes = sum(len(held.first) for held in votes)
        draws = draw_scores(votes, ballot.protocol, resamples=number_of_resamples(n_votes), rng=rng)
        probability, tied = draws.top_probability(n_top), draws.tied_for_first().tolist()
    lines = [report.certain_top(probability, n_top, is_last=is_last, chance=chance)]
    if tied:
        lines.append(report.first_place([names[item] for item in tied], is_last=is_last, chance=chance))
    return lines


def _reliability_lines(
    ballot: Ballot, votes: list[BallotVotes], fitted: FittedVotes | str, chance: str, guessers: Guessers
) -> list[TrustCheck]:
    """Halves of the voters and the noise ceiling."""
    measures = (
        (report.halves, reliability.halves, reliability.HALVES_SEED),
        (
            partial(report.ceiling, chance=chance, n_guessers=len(guessers.suspected) if len(guessers.found) else 0),
            partial(reliability.ceiling, guessers=guessers),
            reliability.CEILING_SEED,
        ),
    )
    lines = []
    for line, statistic, number in measures:
        if isinstance(fitted, str):
            lines.append(line(None, fitted))
            continue
        try:
            rng = np.random.default_rng([ballot.seed, number])
            lines.append(line(statistic(votes, ballot.protocol, fitted, rng=rng), ""))
        except RunoffError as error:
            lines.append(line(None, str(error)))
    return lines
