"""The facts of a project's datasheet, read from its votes: a few seconds for twenty thousand of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from .. import __version__
from ..base.numbers_in_words import percent_as_set
from ..dataset.datasheet.facts import (
    AreaFacts,
    BallotFacts,
    BaselineFacts,
    ExclusionFacts,
    Facts,
    FigureScale,
    RankingFacts,
    Reliability,
    SheetFields,
    VoteFacts,
    VoterFacts,
)
from ..dataset.formats import Speller, ways
from ..errors import InputError, RunoffError, UndefinedMetricError
from ..evaluation import SIGNS
from ..evaluation.baselines import baselines
from ..evaluation.chance import chance
from ..i18n import STANDARD, language
from ..questions.comparison_page import NOTIONS
from ..questions.voting_settings import FEWEST_TOLD
from ..scores import BallotVotes
from ..scores.bradley_terry import fit_votes
from ..store import Store
from ..store import schema as t
from ..store.ballots.ballot_rows import Ballot, ballots_of, pilot_of
from ..store.command import fetch_numbers, fetch_rows, project_row
from ..store.projects.embedding_library import embeddings_of, open_library
from ..store.projects.plans import PlanSettings, Ranking, in_campaign, is_comparison, rankings_of, settings_of
from ..store.scores.project_dataset import dataset_of
from ..store.tokens.areas import ItemRules, areas_of, n_items_of, proposed_tokens_of
from ..store.tokens.frequencies import rare_of
from ..store.votes.tallies import closed_votes_of, scored_ballots
from ..trust import reliability
from .figures.evaluation_inputs import BASELINES, NOT_CLOSED
from .figures.votes import agreement_of

# The closed ballots of each ranking with their votes.
Closed = tuple[tuple[list[Ballot], list[BallotVotes]], ...]
_UNKNOWN = Reliability(None, 0, "")


def load(store: Store, project_id: str, version: str = "") -> Facts:
    """The facts of a project's dataset, to be published as `version` ("" for none)."""
    with store.read() as conn:
        facts, closed = store_facts(store, conn, project_id, version)
    return measured(facts, closed)


def store_facts(store: Store, conn: sa.Connection, project_id: str, version: str = "") -> tuple[Facts, Closed]:
    """What one look at the store says: the facts but for reliability, and what `measured` computes that from."""
    project = project_row(conn, project_id)
    dataset = dataset_of(conn, project_id)
    rankings = rankings_of(conn, project_id)
    plans = [found[1] if (found := settings_of(conn, project_id, r.area_id)) else None for r in rankings]
    wording = next((plan.wording for plan in plans if plan is not None), None)
    spoken = language(wording.language if wording else STANDARD)
    asked, explained = map(spoken.text, NOTIONS[project.notion])
    frequencies, areas = _areas(store, conn, project_id)
    proposed = tuple(
        (str(one.get("name", one["embedding"])), len(one["tokens"])) for one in proposed_tokens_of(conn, project_id)
    )
    counted = _counted(conn, project_id)
    told = (_ranking(conn, project_id, of, plan, counted) for of, plan in zip(rankings, plans, strict=True))
    facts = Facts(
        fields=SheetFields.of(project.datasheet),
        version=version,
        runoff=__version__,
        dataset=dataset,
        about={str(key): value for key, value in dataset.attrs.items()},
        kind=project.kind,
        seed=project.seed,
        areas=areas,
        n_items=n_items_of(conn, project_id),
        item_rules=_rules(ItemRules.of(project.item_rules)),
        frequencies=frequencies,
        proposed_by=proposed,
        question=wording.question if wording and wording.question else asked,
        instructions=wording.instructions if wording and wording.instructions else explained,
        n_examples=len(wording.examples) if wording else 0,
        rankings=tuple(told),
        voters=_voters(conn, project_id, scored_ballots(conn, project_id)),
        votes=_votes(conn, project_id),
        exclusions=_exclusions(conn, project_id),
        split=None,
        left_out_formats={},
        spellings=spellings_of(store, conn, project_id, dataset),
    )
    return facts, tuple(closed_votes_of(conn, project_id, ranking.area_id) for ranking in rankings)


def measured(facts: Facts, closed: Closed) -> Facts:
    """The facts with the reliability that the closed ballots' votes give."""
    rankings = []
    for of, (ballots, votes) in zip(facts.rankings, closed, strict=True):
        halves, ceilings = _reliability(ballots, votes)
        items = facts.dataset[facts.dataset["area"] == of.area] if of.area else facts.dataset
        scales = _scales(items["score"].dropna().to_numpy(dtype=np.float64), ceilings)
        rankings.append(replace(of, halves=halves, ceiling=ceilings["rho_w"], scales=scales))
    return _with_baselines(replace(facts, rankings=tuple(rankings)))


FIGURES = ("rho_w", "tau_w", "rho", "tau")  # of baselines


def _with_baselines(facts: Facts) -> Facts:
    """The facts with the rankings that know nothing of meaning, as the Evaluate page has them."""
    try:
        measured = baselines(facts.dataset, rng=np.random.default_rng([facts.seed, 11, BASELINES]))
    except InputError as error:
        return replace(facts, why_no_baselines=str(error))
    rows = [BaselineFacts(name, tuple(getattr(of, key).estimate for key in FIGURES)) for name, of in measured.rows]
    return replace(facts, baselines=tuple(rows), why_no_baselines=measured.problem)


def spellings_of(
    store: Store, conn: sa.Connection, project_id: str, dataset: pd.DataFrame
) -> tuple[dict[str, str], ...]:
    """The ways in which the project's embeddings spell the dataset's tokens; see `formats.ways`."""
    tokens = list(dict.fromkeys([*dataset["token_a"], *dataset["token_b"]]))
    spellings = []
    for imported in embeddings_of(conn, project_id):
        try:
            opened = open_library(store, imported)
        except RunoffError:  # an embedding whose files are gone spells nothing
            continue
        spellings.append((opened, opened.spelling(tokens)))
    words = sorted({word for _, spelled in spellings for word in spelled if word is not None})
    return ways(tokens, [Speller(spelled, opened.holds(words)) for opened, spelled in spellings])


def _areas(store: Store, conn: sa.Connection, project_id: str) -> tuple[str, tuple[AreaFacts, ...]]:
    """The source of frequencies in words, "" where none was chosen, and the areas."""
    proposed = Counter(t_["area"] for one in proposed_tokens_of(conn, project_id) for t_ in one["tokens"])
    judged = rare_of(store, conn, project_id, areas_of(conn, project_id))
    rare: dict[str, int] = {}
    source = ""
    if judged is not None:
        source = (
            f"{judged.source.label}; a token is rare below {percent_as_set(judged.source.share)} of the mean frequency"
        )
        source += " (a proxy for the domain's own texts)" if judged.is_proxy else ""
        if judged.problem:
            source += f". Not known now: {judged.problem}"
        else:
            rare = dict(zip(judged.by_area["area"], judged.by_area["n_rare"].astype(int), strict=True))
    query = (
        sa.select(t.area.c.name, sa.func.count())
        .join(t.item, t.item.c.area_id == t.area.c.id)
        .where(t.item.c.project_id == project_id)
        .group_by(t.area.c.name)
    )
    n_items = dict(fetch_rows(conn, query))
    return source, tuple(
        AreaFacts(area.name, len(area.tokens), proposed[area.name], rare.get(area.name), n_items.get(area.name, 0))
        for area in areas_of(conn, project_id)
    )


def _rules(rules: ItemRules) -> str:
    told = ["every pair of two tokens of an area"]
    if rules.excluded:
        told.append(f"{len(rules.excluded):,} pairs that the owner named are left out")
    if rules.merge_shared:
        told.append("a pair that stands in several areas is an item of the first of them only")
    if rules.sample_size is not None:
        told.append(f"of the rest at most {rules.sample_size:,} per area, drawn at random by the project's seed")
    return "; ".join(told)


def _main(project_id: str) -> sa.Select[Any]:
    """Judgements of a project's ballots from 1 on, joined with assignment, question and ballot; nothing selected."""
    return (
        sa.select()
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == t.judgement.c.assignment_id)
        .join(t.question, t.question.c.id == t.judgement.c.question_id)
        .join(t.ballot, t.ballot.c.id == t.question.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, in_campaign())
    )


def _votes(conn: sa.Connection, project_id: str) -> VoteFacts:
    j, q = t.judgement.c, t.question.c
    main = _main(project_id).where(q.role == "main")
    status = dict(fetch_rows(conn, main.add_columns(j.status, sa.func.count()).group_by(j.status)))
    counted = main.where(j.status == "counted")
    n_ties = fetch_rows(conn, counted.where(j.answer == "tie").add_columns(sa.func.count()))[0][0]
    people = counted.where(j.source == "person", j.seconds.is_not(None), j.seconds > 0)
    seconds = fetch_numbers(conn, people.add_columns(j.seconds))
    checks_ = _main(project_id).join(t.gold, t.gold.c.question_id == q.id).where(j.status != "withdrawn")
    right = fetch_rows(conn, checks_.where(j.answer == t.gold.c.answer).add_columns(sa.func.count()))[0][0]
    answered = fetch_rows(conn, checks_.add_columns(sa.func.count()))[0][0]
    of_checks = (
        sa.select(sa.func.count(t.gold.c.question_id), sa.func.count())
        .select_from(t.question)
        .join(t.ballot, t.ballot.c.id == q.ballot_id)
        .outerjoin(t.gold, t.gold.c.question_id == q.id)
        .where(t.ballot.c.project_id == project_id, in_campaign(), q.role == "check")
    )
    n_checks, n_all = conn.execute(of_checks).one()
    several = counted.add_columns(j.question_id).group_by(j.question_id).having(sa.func.count() > 1).subquery()
    n_several = fetch_rows(conn, sa.select(sa.func.count()).select_from(several))[0][0]
    median = float(np.median(seconds)) if len(seconds) else None
    return VoteFacts(
        {str(name): int(n) for name, n in sorted(status.items())},
        n_ties,
        median,
        len(seconds),
        n_checks,
        right,
        answered - right,
        n_all - n_checks,
        n_several,
    )


def _voters(conn: sa.Connection, project_id: str, ballot_ids: list[int]) -> VoterFacts:
    """The voters of the ballots whose votes are in the scores, as the dataset's description counts them."""
    v, j = t.voter.c, t.judgement.c
    query = (
        _main(project_id)
        .where(t.ballot.c.id.in_(ballot_ids), t.question.c.role == "main", j.status == "counted")
        .join(t.voter, v.id == t.assignment.c.voter_id)
        .add_columns(v.platform, v.kind, v.id, sa.func.count())
        .group_by(v.platform, v.kind, v.id)
    )
    rows = fetch_rows(conn, query)
    platforms = Counter((platform, kind) for platform, kind, _, _ in rows)
    share = np.array([row[3] for row in rows], dtype=float)
    share = share / share.sum() if len(share) else share
    of = t.voter_trait.c
    told = (
        sa.select(of.trait, of.value, sa.func.sum(of.n))
        .join(t.voting, t.voting.c.id == of.voting_id)
        .join(t.ballot, t.ballot.c.id == t.voting.c.ballot_id)
        .where(t.ballot.c.project_id == project_id, is_comparison())
        .group_by(of.trait, of.value)
        .order_by(of.trait, of.value)
    )
    kinds = Counter(kind for _, kind, _, _ in rows)
    return VoterFacts(
        kinds["person"],
        kinds["simulated"],
        tuple((platform, kind, n) for (platform, kind), n in sorted(platforms.items())),
        _hidden([(trait, value, int(n)) for trait, value, n in fetch_rows(conn, told)]),
        float(share.max()) if len(share) else None,
        float(1 / (share**2).sum()) if len(share) else None,
    )


def _hidden(told: list[tuple[str, str, int]]) -> tuple[tuple[str, str, int], ...]:
    """Totals of what voters told; values that fewer than `FEWEST_TOLD` share are one line, or nothing if still few."""
    large_enough = [row for row in told if row[2] >= FEWEST_TOLD]
    for trait in dict.fromkeys(row[0] for row in told):
        few = sum(n for name, _, n in told if name == trait and n < FEWEST_TOLD)
        if few >= FEWEST_TOLD:
            large_enough.append((trait, f"others, fewer than {FEWEST_TOLD} each", few))
    return tuple(sorted(large_enough))


def _exclusions(conn: sa.Connection, project_id: str) -> tuple[ExclusionFacts, ...]:
    e = t.exclusion.c
    query = (
        sa.select(e.reason, sa.func.count(sa.distinct(e.voter_id)))
        .where(e.project_id == project_id, e.undone_at.is_(None))
        .group_by(e.reason)
        .order_by(e.reason)
    )
    return tuple(ExclusionFacts(reason, n) for reason, n in fetch_rows(conn, query))


def _ranking(
    conn: sa.Connection, project_id: str, ranking: Ranking, plan: PlanSettings | None, counted: dict[int, int]
) -> RankingFacts:
    pilot = pilot_of(conn, project_id, ranking.area_id)
    ballots = ballots_of(conn, project_id, ranking.area_id)
    alpha, no_alpha = agreement_of(conn, [ballot.id for ballot in ballots])
    closed = [ballot for ballot in ballots if not ballot.is_open]
    drawn = [pilot, *ballots] if pilot else ballots
    return RankingFacts(
        ranking.area,
        ballots[-1].protocol if ballots else plan.protocol if plan else "paper",
        {} if plan is None else {name: value for name, value in vars(plan).items() if name != "wording"},
        tuple(_ballot(ballot, counted.get(ballot.id, 0)) for ballot in drawn),
        alpha,
        no_alpha,
        _UNKNOWN,
        _UNKNOWN,
        (closed[-1].interval_note or "") if closed else NOT_CLOSED,
    )


def _counted(conn: sa.Connection, project_id: str) -> dict[int, int]:
    """Counted votes on main comparisons of each ballot, pilots among them."""
    q = t.question.c
    query = (
        sa.select(q.ballot_id, sa.func.sum(q.n_votes))
        .join(t.ballot, t.ballot.c.id == q.ballot_id)
        .where(t.ballot.c.project_id == project_id, q.role == "main")
        .group_by(q.ballot_id)
    )
    return {ballot: int(n) for ballot, n in fetch_rows(conn, query)}


def _ballot(ballot: Ballot, n_votes: int) -> BallotFacts:
    return BallotFacts(
        ballot.number,
        ballot.protocol,
        ballot.state,
        ballot.n_items,
        ballot.appearances,
        ballot.n_comparisons,
        n_votes,
        ballot.drawn_at[:10],
        (ballot.closed_at or "")[:10],
        ballot.slope,
    )


def _reliability(ballots: list[Ballot], votes: list[BallotVotes]) -> tuple[Reliability, dict[str, Reliability]]:
    """ρ_w of halves of the voters and the noise ceiling of ρ_w and τ_w: of ρ_w the very figures of the Scores page."""

    def none(why: str) -> Reliability:
        return Reliability(None, 0, why)

    def nothing(why: str) -> dict[str, Reliability]:
        return dict.fromkeys(reliability.WEIGHTED, none(why))

    if not ballots:
        return none("No ballot is closed yet."), nothing("No ballot is closed yet.")
    protocol = ballots[-1].protocol
    try:
        fitted = fit_votes(votes)
    except RunoffError as error:
        return none(str(error)), nothing(str(error))
    seeds = (reliability.HALVES_SEED, reliability.CEILING_SEED)
    rngs = [np.random.default_rng([ballots[-1].seed, number]) for number in seeds]
    try:
        agreed = reliability.halves(votes, protocol, fitted, rng=rngs[0])
        halves = Reliability(agreed.mean, len(agreed.values))
    except RunoffError as error:
        halves = none(str(error))
    try:
        measured_ = reliability.ceiling(votes, protocol, fitted, metric=reliability.both_weighted, rng=rngs[1])
    except RunoffError as error:
        return halves, nothing(str(error))
    of = reliability.one_by_one(measured_)
    return halves, {name: Reliability(found.mean, len(found.values)) for name, found in of.items()}


def _scales(scores: np.ndarray, ceilings: dict[str, Reliability]) -> tuple[FigureScale, ...]:
    """What a model's figures lie between, for a model whose scores don't tie; `scores` (n,) are the dataset's."""
    n, scales = len(scores), []
    try:
        by_chance, why_not = chance(scores, np.arange(n)), ""
    except UndefinedMetricError as error:
        by_chance, why_not = {}, str(error)
    for name, ceiling in ceilings.items():
        at = by_chance.get(name)
        ends = (at.mean if at else None, ceiling.value)
        scales.append(FigureScale(SIGNS[name], n, *ends, at.n if at else 0, ceiling.n, why_not or ceiling.why_not))
    return tuple(scales)
