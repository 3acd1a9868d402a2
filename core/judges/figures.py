"""What a language model's answers say, beside the votes of people, which they never join.

Each comparison was asked in both orders. A comparison *flips* where its two answers differ. Where figures need one
answer a comparison, its two count half each. People's scores are as they stand without the model; its lapse and
sharpness are those of one more voter in front of them, its ranking is the Bradley–Terry fit of its answers alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy  # its parts are loaded where they are first asked for: most processes never do
from scipy.special import ndtri

from ..base.estimates import LEVEL, Estimate, Share, share, wilson
from ..errors import RunoffError
from ..evaluation.figures import correlations
from ..evaluation.results import FigureEstimate
from ..evaluation.vote_intervals import Resampled, interval
from ..scores import BallotVotes
from ..scores.bradley_terry import RIDGE, FittedVotes, expected_borda, fit_bradley_terry
from ..scores.voter_effects import Data, Effects, Likelihood
from ..tables import Floats, Ints

MOST_BINS, FEWEST_A_BIN = 5, 10  # comparisons
FEWEST = 30  # comparisons below which nothing is fitted
RANKED = (("rho_w", "ρ_w"), ("tau_w", "τ_w"))
GAPS = ("lower", "upper", "comparisons", "model", "model lower", "model upper", "votes", "people", "same", "shared")


@dataclass(frozen=True)
class OrderEffect:
    """What the order of the two pairs does.

    flips : of the comparisons with a vote in both orders, those whose answers differ. chose_a : of the answers that
    name a pair, those that name A; without a taste for a place half of them.
    """

    flips: Share
    chose_a: Share


def order_effect(answers: pd.DataFrame) -> OrderEffect:
    """Of a table MODEL_ANSWERS."""
    votes = answers[answers["reason"] == ""]
    both = votes.pivot(index="question_id", columns="flipped", values="value").reindex(columns=[False, True]).dropna()
    named = votes[votes["value"] != 0.5]
    is_a = (named["value"] == 1) != named["flipped"]
    return OrderEffect(share(int((both[False] != both[True]).sum()), len(both)), share(int(is_a.sum()), len(named)))


def by_gap(answers: pd.DataFrame, scores: Floats, votes: BallotVotes | None) -> pd.DataFrame:
    """How often model and people name the item that people's scores have higher, by how far apart the two scores are.

    answers : MODEL_ANSWERS; scores : of the items by position, NaN without one, shape (n_items,); votes : people's, of
    the same ballot. A tie counts half. A row a range of gaps, of equally many comparisons: lower and upper end,
    comparisons, `model` with its interval, people's `votes` on these comparisons, `people` (whose own votes made the
    scores), and `same`: the share of `shared` pairs of an answer and a vote on the comparison that are alike.
    Comparisons of items that are level, or without a score, are left out.
    """
    model = answers[answers["reason"] == ""].groupby("question_id").agg(
        first=("first", "first"), second=("second", "first"), value=("value", "mean"),
        ones=("value", lambda v: int((v == 1).sum())), zeros=("value", lambda v: int((v == 0).sum())),
        ties=("value", lambda v: int((v == 0.5).sum())),
    )  # fmt: skip
    gap = scores[model["first"].to_numpy()] - scores[model["second"].to_numpy()]
    known = ~np.isnan(gap) & (gap != 0)
    model, gap = model[known].reset_index(drop=True), gap[known]
    if not len(model):
        return pd.DataFrame(columns=list(GAPS)).astype("float64")
    right = np.where(gap > 0, model["value"], 1.0 - model["value"])
    people = _people_on(model, votes)
    agrees = np.where(gap > 0, people["points"], people["n"] - people["points"])
    alike = sum(model[one] * people[one] for one in ("ones", "zeros", "ties"))
    together = (model["ones"] + model["zeros"] + model["ties"]) * people["n"]
    size = np.abs(gap)
    n_bins = int(np.clip(len(size) // FEWEST_A_BIN, 1, MOST_BINS))
    edges = np.quantile(size, np.linspace(0, 1, n_bins + 1))
    bin_of = np.searchsorted(edges[1:-1], size, side="right")
    rows = []
    for number in np.unique(bin_of):
        here = bin_of == number
        n, n_votes, n_together = int(here.sum()), int(people["n"][here].sum()), int(together[here].sum())
        mean = float(right[here].mean())
        rows.append((
            float(size[here].min()), float(size[here].max()), n, mean, *wilson(mean, n), n_votes,
            float(agrees[here].sum()) / n_votes if n_votes else np.nan,
            float(alike[here].sum()) / n_together if n_together else np.nan, n_together,
        ))  # fmt: skip
    whole = dict.fromkeys(("comparisons", "votes", "shared"), "int64")
    return pd.DataFrame(rows, columns=list(GAPS)).astype(whole)


def _people_on(model: pd.DataFrame, votes: BallotVotes | None) -> pd.DataFrame:
    """People's votes on each comparison: how many, their points for its first item, and how many of each outcome."""
    columns = ["n", "points", "ones", "zeros", "ties"]
    if votes is None or not len(votes.first):
        return pd.DataFrame(0.0, index=model.index, columns=columns)
    turned = votes.first > votes.second
    outcome = np.where(turned, 1.0 - votes.outcome, votes.outcome)
    low, high = np.minimum(votes.first, votes.second), np.maximum(votes.first, votes.second)
    given = pd.DataFrame({"low": low, "high": high, "points": outcome, "ones": outcome == 1, "zeros": outcome == 0})
    tallied = given.assign(ties=outcome == 0.5, n=1).groupby(["low", "high"])[columns].sum().astype("float64")
    first, second = model["first"].to_numpy(), model["second"].to_numpy()
    pairs = pd.MultiIndex.from_arrays([np.minimum(first, second), np.maximum(first, second)])
    tallies = tallied.reindex(pairs).fillna(0.0).reset_index(drop=True)
    swapped = first > second
    tallies["points"] = np.where(swapped, tallies["n"] - tallies["points"], tallies["points"])
    tallies["ones"], tallies["zeros"] = (
        np.where(swapped, tallies["zeros"], tallies["ones"]),
        np.where(swapped, tallies["ones"], tallies["zeros"]),
    )
    return tallies


@dataclass(frozen=True)
class VoterQuantiles:
    """What ten, fifty and ninety per cent of people's voters have at most; None where they have no effects of their
    own."""

    low: float | None
    middle: float | None
    high: float | None


@dataclass(frozen=True)
class JudgeEffects:
    """The model as one more voter before people's scores (`scores.voter_effects`).

    sharpness : s, 1 for people's mean; lapse : ε in [0, ½]; side : how often a guess goes to A. Intervals take the
    scores as known, and a comparison's two answers as one. The same of people's voters.
    """

    sharpness: Estimate
    lapse: Estimate
    side: Estimate
    n_comparisons: int
    n_voters: int
    people_sharpness: VoterQuantiles
    people_lapse: VoterQuantiles


def judge_effects(answers: pd.DataFrame, fitted: FittedVotes | None, problem: str = "") -> JudgeEffects:
    """Lapse, sharpness and side of a model, with the priors that any voter has.

    fitted : the fit of people's votes; None where there is none, and `problem` says why.
    """
    nothing = VoterQuantiles(None, None, None)
    votes = answers[answers["reason"] == ""]
    if fitted is not None:
        votes = votes[np.isin(votes["first"], fitted.items) & np.isin(votes["second"], fitted.items)]
    n = int(votes["question_id"].nunique())
    if fitted is None or n < FEWEST:
        reason = problem or f"A fit needs votes on {FEWEST} comparisons, and there are {n}."
        unknown = Estimate(None, reason=reason)
        return JudgeEffects(unknown, unknown, unknown, n, 0, nothing, nothing)
    weight = 1.0 / votes.groupby("question_id")["value"].transform("size").to_numpy(dtype=np.float64)
    value = votes["value"].to_numpy()
    data = Data(
        np.searchsorted(fitted.items, votes["first"]),
        np.searchsorted(fitted.items, votes["second"]),
        weight,
        weight * value,
        np.zeros(len(votes), dtype=np.int64),
        np.where(votes["flipped"], 0.0, 1.0),
    )
    theta = np.nan_to_num(fitted.fit.theta)
    start = Effects.start(1, fitted.fit.lapse, sharpness=True, own_lapse=True, side=True)

    def effects(values: Floats) -> Effects:
        return Effects(values[:, None], start.centre, start.free, start.times)

    def cost(values: Floats) -> float:
        at = effects(values)
        return Likelihood(data, theta, at).cost() + at.penalty()

    best = scipy.optimize.minimize(
        cost, start.centre, method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-9, "maxiter": 2000}
    )
    at = effects(np.asarray(best.x, dtype=np.float64))
    error = Likelihood(data, theta, at).effects_error()
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    ends = [effects(at.values[:, 0] + sign * reach[:, 0]) for sign in (-1.0, 1.0)]
    own = fitted.fit.effects
    n_voters = own.values.shape[1] if own.free.any() else 0
    found = []
    for name in ("sharpness", "lapse", "side"):
        middle, lower, upper = (float(getattr(one, name)[0]) for one in (at, *ends))
        found.append(Estimate(middle, lower, upper))
    of_people = [_spread(getattr(own, name)) if n_voters > 1 else nothing for name in ("sharpness", "lapse")]
    return JudgeEffects(found[0], found[1], found[2], n, n_voters, of_people[0], of_people[1])


def _spread(values: Floats) -> VoterQuantiles:
    return VoterQuantiles(*np.quantile(values, [0.1, 0.5, 0.9]).tolist())


@dataclass(frozen=True, eq=False)
class OwnRanking:
    """The model's own ranking of the items it compared: their positions, ascending, and expected Borda scores of its
    fit, (n,); of how many answers."""

    items: Ints
    score: Floats
    n_votes: int


def own_ranking(answers: pd.DataFrame) -> OwnRanking:
    """The Bradley–Terry fit of a model's answers alone.

    Raises `DisconnectedError` where they leave items apart, `InputError` where there is none, `NotConvergedError`.
    """
    votes = answers[answers["reason"] == ""]
    items, place = np.unique(votes[["first", "second"]].to_numpy(), return_inverse=True)
    place = place.reshape(-1, 2)
    fit = fit_bradley_terry(place[:, 0], place[:, 1], votes["value"].to_numpy(), n_items=len(items), ridge=RIDGE)
    fit.require_one_part()
    return OwnRanking(items.astype(np.int64), expected_borda(fit.theta, lapse=fit.lapse), len(votes))


@dataclass(frozen=True)
class RankingAgreement:
    """ρ_w and τ_w of a model's ranking against people's, over so many of people's items; intervals are over people's
    voters, as an embedding's are, and `no_interval` says why there are none."""

    rho_w: FigureEstimate
    tau_w: FigureEstimate
    n_items: int
    n_common: int
    n_votes: int
    no_interval: str = ""


def ranking_agreement(
    answers: pd.DataFrame, scores: Floats, drawn: Resampled | None, *, n0: float, no_draws: str = ""
) -> RankingAgreement:
    """The agreement of a model's own ranking with people's scores.

    scores : by position, NaN for an item without one, shape (n_items,); drawn : the same by resampled voters, or None,
    and `no_draws` says why.
    """
    rows = np.flatnonzero(~np.isnan(scores))
    values = np.full(len(scores), np.nan)
    n_votes = int((answers["reason"] == "").sum())
    try:
        ranking = own_ranking(answers)
        values[ranking.items] = ranking.score
    except RunoffError as error:
        undefined = FigureEstimate(None, reason=f"The model has no ranking of its own: {error}")
        return RankingAgreement(undefined, undefined, len(rows), 0, n_votes)
    people, model = scores[rows], values[rows]
    known = ~np.isnan(model)
    figures = {}
    found = correlations(people, model, n0=n0, names=[name for name, _ in RANKED])
    if drawn is not None and known.sum() > 1:
        resampled = replace(drawn, drawn=drawn.drawn[:, rows])
        of_model, of_people = (resampled.figures(each, known, n0) for each in (model, people))
    for name, _ in RANKED:
        figure: FigureEstimate = getattr(found, name)
        if drawn is not None and figure.estimate is not None:
            bounds = interval(
                figure.estimate,
                of_model[name],
                of_people[name],
                name=name,
                n_items=len(rows),
                n_voters=drawn.n_voters,
            )
            if bounds is not None:
                figure = figure.with_votes(bounds.corrected, bounds.lower, bounds.upper)
        figures[name] = figure
    return RankingAgreement(figures["rho_w"], figures["tau_w"], len(rows), int(known.sum()), n_votes, no_draws)


@dataclass(frozen=True)
class JudgeCost:
    """What a vote of a model costs, and a vote of people by the plan; None where it isn't known, and `reason` says why.

    Tokens are of `n_counted` replies that tell them, of all that came; the money is theirs. A vote is an answer in one
    order that names a letter.
    """

    n_votes: int
    n_replies: int
    n_counted: int
    prompt_tokens: int
    answer_tokens: int
    tokens_per_vote: float | None
    money: float | None
    money_per_vote: float | None
    people_per_vote: float | None
    reason: str = ""


def judge_cost(
    replies: pd.DataFrame, prices: tuple[float | None, float | None], people_per_vote: float | None, n_votes: int
) -> JudgeCost:
    """The cost of all that came: `replies` has prompt_tokens and answer_tokens, NaN where a server doesn't tell them;
    `prices` are of a million tokens sent and answered."""
    counted = replies[replies["prompt_tokens"].notna() & replies["answer_tokens"].notna()]
    sent, answered = int(counted["prompt_tokens"].sum()), int(counted["answer_tokens"].sum())
    per_vote = (sent + answered) / n_votes if n_votes and len(counted) else None
    reason = ""
    if not len(counted):
        reason = "The server doesn't tell how many tokens it read and wrote."
    elif prices[0] is None or prices[1] is None:
        reason = "What tokens cost wasn't said where the language model was set up."
    elif not n_votes:
        reason = "There is no vote yet."
    price = None
    if len(counted) and prices[0] is not None and prices[1] is not None:
        price = (sent * prices[0] + answered * prices[1]) / 1e6
    each = price / n_votes if price is not None and n_votes else None
    return JudgeCost(
        n_votes, len(replies), len(counted), sent, answered, per_vote, price, each, people_per_vote, reason
    )
