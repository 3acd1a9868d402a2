"""Figures of all votes of a ranking: each voter's, checks of the votes, how far scores can be trusted, and previews.

A preview says what leaving voters out would change before it is decided: votes, scores, the project's embeddings. Trust
is told line by line (`trust`), from the votes of the ranking's closed ballots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...base.estimates import Share, share
from ...base.numbers_in_words import many, plural, with_decimals
from ...base.parallel import Progress
from ...embeddings import Embedding
from ...errors import RunoffError, UndefinedMetricError
from ...evaluation import compare
from ...evaluation.vote_intervals import draw_scores, number_of_resamples
from ...protocols import protocol_of
from ...protocols.base import N_TOP
from ...scores import BallotVotes
from ...scores.borda import tally
from ...scores.bradley_terry import FittedVotes, fit_votes, joined
from ...scores.pair_graph import connected_parts
from ...scores.posterior import item_posteriors
from ...scores.reliability import by_chance
from ...store import Store
from ...store.ballots.ballot_rows import Ballot, ballots_of, closed_ballots_of, pilot_of
from ...store.projects.embedding_library import embeddings_of, open_library
from ...store.projects.plans import is_last
from ...store.scores.next_ballot_value import closed_fit_of, read_audit, stored_next_ballot_value
from ...store.scores.project_dataset import VoteCounts, chosen_otherwise, counted_without, dataset_of, dataset_without
from ...store.tokens.areas import items_of
from ...store.votes.checks import CheckAnswers, check_answers, counted_votes, voted_pairs, voter_answers, voter_names
from ...store.votes.tallies import closed_votes, excluded_ids, progress_of
from ...tokens.items import pair_label
from ...trust import reliability, report
from ...trust.agreement import KrippendorffAlpha, agreement, raw_agreement
from ...trust.camps import between_camps, find_camps
from ...trust.leave_one_out import Guessers, find_guessers
from ...trust.report import TrustCheck
from ...trust.voter_quality import SideBias, VoterQuality, measure, side_bias
from .base import Figure, R

READ = 25_000  # votes that are read and looked at in a second
NAMED = 3
NO_GOLD = Share(None, reason="Nobody answered a comparison with a known answer.")
NO_REPEATS = Share(None, reason="Nobody answered the same comparison twice.")
NO_OVERLAP = Share(None, reason="No comparison has answers of two voters.")


@dataclass(frozen=True)
class OfRanking(Figure[R]):
    """A figure of the votes of a ranking."""

    area_id: int | None

    def seconds(self, conn: sa.Connection) -> float:
        ballots = ballots_of(conn, self.project_id, self.area_id)
        return sum(ballot.n_comparisons for ballot in ballots) / READ


@dataclass(frozen=True)
class VoterFigures(OfRanking[VoterQuality]):
    """The figures of a ranking's voters: of its ballots, or of its pilot as long as there is none.

    Reads all their votes, and fits them: two million take a minute.
    """

    name = "voter_figures"
    version = 6
    doing = "Measuring the voters"

    def measure(self, store: Store, progress: Progress | None) -> tuple[VoterQuality, None]:
        with store.read() as conn:
            ballots = ballots_of(conn, self.project_id, self.area_id)
            pilot = pilot_of(conn, self.project_id, self.area_id)
            if not ballots and pilot is not None:
                ballots = [pilot]
            answers = voter_answers(conn, [ballot.id for ballot in ballots])
        return measure(answers), None


@dataclass(frozen=True)
class VoteChecks:
    """What the votes of all ballots of a ranking look like.

    `part_sizes` are the items of each part that votes join, the largest first; one part is as it should be. `apart`
    are the words of the first `NAMED` items of the others. `agreement` is None where α is not defined, and
    `no_agreement` tells why.
    """

    n_votes: int
    part_sizes: tuple[int, ...]
    apart: tuple[str, ...]
    sides: SideBias
    agreement: KrippendorffAlpha | None
    no_agreement: str
    gold: Share = NO_GOLD
    repeats: Share = NO_REPEATS
    overlap: Share = NO_OVERLAP
    n_overlapping: int = 0

    @property
    def has_checks(self) -> bool:
        """Whether any check was answered."""
        return any(share.total for share in (self.gold, self.repeats, self.overlap))


@dataclass(frozen=True)
class ChecksOfVotes(OfRanking[VoteChecks]):
    """The checks of a ranking; reads all its votes, so a second or two for a hundred thousand."""

    name = "vote_checks"
    version = 4
    doing = "Checking the votes"

    def seconds(self, conn: sa.Connection) -> float:
        ballots = ballots_of(conn, self.project_id, self.area_id)
        return sum(progress_of(conn, ballot.id).votes for ballot in ballots) / READ

    def measure(self, store: Store, progress: Progress | None) -> tuple[VoteChecks, None]:
        with store.read() as conn:
            ids = [ballot.id for ballot in ballots_of(conn, self.project_id, self.area_id)]
            pairs = voted_pairs(conn, ids)
            votes, answers = counted_votes(conn, ids), check_answers(conn, ids)
            parts = connected_parts(pairs[:, 0], pairs[:, 1], int(pairs.max(initial=-1)) + 1)
            apart = [item for part in parts[1 : NAMED + 1] for item in part[:NAMED].tolist()][:NAMED]
            words = {}
            if apart:
                items = items_of(conn, self.project_id)
                words = dict(zip(items["item"], items["token_a"] + " – " + items["token_b"], strict=True))
        sided = votes.dropna(subset=["left"])
        shared = _shared(answers)
        alpha, reason = _agreement(shared, len(pairs))
        found_checks = VoteChecks(
            n_votes=len(votes),
            part_sizes=tuple(map(len, parts)),
            apart=tuple(words[item] for item in apart),
            sides=side_bias(sided["voter"].to_numpy(), sided["left"].to_numpy() == 1),
            agreement=alpha,
            no_agreement=reason,
            **_shares(answers, shared),
        )
        return found_checks, None


def agreement_of(conn: sa.Connection, ballot_ids: Sequence[int]) -> tuple[KrippendorffAlpha | None, str]:
    """How far voters agree in some ballots, and the reason where α is not defined; reads all their votes."""
    return _agreement(_shared(check_answers(conn, ballot_ids)), len(voted_pairs(conn, ballot_ids)))


def _shared(answers: CheckAnswers) -> pd.DataFrame:
    """The counted answers to comparisons that have several of them."""
    shared = answers.overlap[answers.overlap["counted"]]
    return shared[shared.duplicated("question_id", keep=False)]


def _shares(answers: CheckAnswers, shared: pd.DataFrame) -> dict[str, Any]:
    """The shares of the view that there are; Wilson's intervals take answers of one voter as independent."""
    shares: dict[str, Any] = {}
    for name, column in (("gold", answers.gold["right"]), ("repeats", answers.repeats["same"])):
        if len(column):
            shares[name] = share(int(column.sum()), len(column))
    if len(shared):
        shares["overlap"] = raw_agreement(shared["question_id"], shared["value"])
        shares["n_overlapping"] = int(shared["question_id"].nunique())
    return shares


def _agreement(shared: pd.DataFrame, n_answered: int) -> tuple[KrippendorffAlpha | None, str]:
    """α over the comparisons that several voters answered; first, second and tie are the same or not (nominal)."""
    if shared.empty:
        return None, (
            "Krippendorff's α (agreement of voters) is not defined: none of {comparisons} was answered by two voters."
        ).format(comparisons=plural(n_answered, "{n} answered comparison", "{n} answered comparisons"))
    # α doesn't ask who answered: places stand for voters, of whom there may be thousands.
    places = shared.assign(place=shared.groupby("question_id").cumcount())
    try:
        alpha = agreement(places.pivot(index="place", columns="question_id", values="value"), distance="nominal")
    except UndefinedMetricError as error:
        return None, f"Krippendorff's α (agreement of voters): {error!s}"
    return replace(alpha, n_voters=shared["voter_id"].nunique()), ""


KEYS = ["area", "token_a", "token_b"]


@dataclass(frozen=True)
class ExclusionPreview:
    """What leaving some voters out would change.

    before, after : counts over all ballots. changes : items among the first `n_top` that would be others (summed over
    areas where each has a ranking of its own). models : embedding, ρ_w and τ_w now and then, NaN where undefined.
    otherwise : of drawn ballots, how many of their items would not have gone on. problem : why there are no scores
    without these voters, or "".
    """

    voters: int
    before: VoteCounts
    after: VoteCounts
    n_top: int
    changes: int
    models: pd.DataFrame
    otherwise: tuple[tuple[int, int], ...]
    problem: str

    @property
    def said(self) -> tuple[str, ...]:
        """The changes in sentences."""
        votes = plural(
            self.voters,
            "Without this voter: votes {before:,} → {after:,}; comparisons without a vote {was:,} → {becomes:,}.",
            "Without these {n} voters: votes {before:,} → {after:,}; comparisons without a vote {was:,} → {becomes:,}.",
            before=self.before.votes,
            after=self.after.votes,
            was=self.before.unvoted,
            becomes=self.after.unvoted,
        )
        if self.problem:
            return (votes,)
        sentences = [f"The top {self.n_top} stays the same."]
        if self.changes:
            sentences = [f"The top {self.n_top} changes in {many(self.changes, 'item')}."]
        moved = [
            f"ρ_w of {name} from {with_decimals(was)} to {with_decimals(becomes)}"
            for name, was, becomes in self.models[["embedding", "ρ_w now", "ρ_w then"]].itertuples(index=False)
            if was == was and becomes == becomes
        ]
        if moved:
            sentences.append(f"{'; '.join(moved)}.")
        others = [f"{many(n, 'item')} of ballot {number}" for number, n in self.otherwise if n]
        if others:
            items = ", ".join(others)
            sentences.append(f"Who went on stays as decided; by these votes {items} would be others.")
        return votes, " ".join(sentences)


@dataclass(frozen=True)
class WithoutVoters(OfRanking[ExclusionPreview]):
    """The preview of leaving voters out besides those who are left out already."""

    name = "voter_preview"
    version = 3
    doing = "Scoring without them"
    voter_ids: tuple[int, ...]

    def measure(self, store: Store, progress: Progress | None) -> tuple[ExclusionPreview, None]:
        return _preview(store, self.project_id, self.area_id, self.voter_ids), None


def _preview(store: Store, project_id: str, area_id: int | None, voter_ids: tuple[int, ...]) -> ExclusionPreview:
    with store.read() as conn:
        out = excluded_ids(conn, project_id)
        then = out | set(voter_ids)
        counts = counted_without(conn, project_id, out), counted_without(conn, project_id, then)
        before = dataset_of(conn, project_id)
        imported = embeddings_of(conn, project_id)
        nothing = pd.DataFrame(columns=["embedding", "ρ_w now", "ρ_w then", "τ_w now", "τ_w then"])
        try:
            after = dataset_without(conn, project_id, then)
            otherwise = tuple(chosen_otherwise(conn, project_id, then, area_id))
        except RunoffError as error:
            return ExclusionPreview(len(voter_ids), *counts, N_TOP, 0, nothing, (), str(error))
    opened = []
    for embedding in imported:
        try:
            opened.append((embedding.name, open_library(store, embedding)))
        except RunoffError:
            continue  # the Evaluate page says which can't be opened, and why
    models = _models(before, after, opened) if opened and len(before) and len(after) else nothing
    changes = _changes(before, after)
    return ExclusionPreview(len(voter_ids), *counts, min(N_TOP, len(before)), changes, models, otherwise, "")


def _models(before: pd.DataFrame, after: pd.DataFrame, opened: list[tuple[str, Embedding]]) -> pd.DataFrame:
    embeddings = [embedding for _, embedding in opened]
    figures = [[e.overall for e in compare(dataset, embeddings).evaluations] for dataset in (before, after)]
    rows = [
        (name, *(getattr(f, figure).estimate for figure in ("rho_w", "tau_w") for f in both))
        for (name, _), both in zip(opened, zip(*figures, strict=True), strict=True)
    ]
    names = ["embedding", "ρ_w now", "ρ_w then", "τ_w now", "τ_w then"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], "float64"))


def _changes(before: pd.DataFrame, after: pd.DataFrame) -> int:
    """How many of the first items would be others; ties at the end of the top may make it longer."""
    apart = before.attrs["ranking"] == "area"
    return len(_top(before, apart) - _top(after, apart))


def _top(dataset: pd.DataFrame, apart: bool) -> set[tuple[str, ...]]:
    first = dataset.groupby("area", sort=False).head(N_TOP) if apart else dataset.head(N_TOP)
    return set(first[KEYS].itertuples(index=False, name=None))


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
    counted = answers[(answers["status"] == "counted") & answers["left"].notna()]
    bias = side_bias(counted["voter_id"].to_numpy(), counted["left"].to_numpy() == 1)
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
