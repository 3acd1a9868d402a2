"""What the votes say of each voter: checks, agreement, consistency, sides, speed, lapse, and signs of carelessness.

No figure here takes a vote away, and none is a proof: signs that a voter may not read the task are hints, `voter_rules`
proposes, a person decides. Answers to the same comparison are the same if they name the same item, or both a tie.

Agreement has two figures per voter, both by the answer (first, second or tie: the same or not), over what others
answered too:

* the mean, over the voter's shared comparisons, of the share of the others who gave the same answer;
* the mean *pairwise* agreement: with each other voter the share of equal answers on what the two share, and the mean of
  that over these voters, however much each pair shares (Avraham, Goldberg 2016, section 5, after Hill et al. 2015).

Reference: Avraham, Goldberg (2016), Improving reliability of word similarity evaluation by redesigning annotation task
and performance measure, RepEval.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import bdtrc, expit, ndtri

from ..base.estimates import LEVEL, holm
from ..errors import InputError, RunoffError, UndefinedMetricError
from ..metrics import rounded_scores
from ..tables import VOTER_ANSWERS, Floats, Ints
from .agreement import KrippendorffAlpha, agreement
from .camps import camps_of
from .leave_one_out import Predictions, predict

FALSE_FLAGS = 0.05
# What the sides are called where people read of them: on a phone the pairs stand below each other.
SIDES = {"left": "the left or upper pair", "right": "the right or lower pair"}


@dataclass(frozen=True)
class SideBias:
    """How often each voter chose the left side.

    `voters` has the columns voter, answers (left and right, ties don't count), left, share (of left) and p: the
    two-sided exact binomial probability of a split at least as uneven if each side were chosen half the time. It is
    sorted by p, then by voter. `flagged` are the rows with p < `level` / number of voters (Bonferroni): if no voter
    preferred a side, the chance that any is flagged is at most `level`.
    """

    voters: pd.DataFrame
    level: float

    @property
    def flagged(self) -> pd.DataFrame:
        return self.voters[self.voters["p"] < self.level / max(len(self.voters), 1)]


def side_bias(voter: ArrayLike, chose_left: ArrayLike, *, level: float = FALSE_FLAGS) -> SideBias:
    """Whether voters prefer a side, whatever it shows.

    Sides are drawn at random, so a voter who reads chooses each about half the time.

    Parameters
    ----------
    voter : who voted, any codes or names, shape (n_votes,); votes for a tie are left out beforehand.
    chose_left : True for left, False for right, shape (n_votes,).
    level : bound on the chance of any false flag, between 0 and 1.

    Raises `InputError` for shapes or a level that can't be.

    >>> side_bias(["W1"] * 8, [True] * 8).flagged.round(4).to_dict("records")
    [{'voter': 'W1', 'answers': 8, 'left': 8, 'share': 1.0, 'p': 0.0078}]
    """
    names, left = np.asarray(voter), np.asarray(chose_left, dtype=bool)
    if names.ndim != 1 or names.shape != left.shape:
        raise InputError(f"Each vote needs a voter and a side, found shapes {names.shape} and {left.shape}.")
    if not 0 < level < 1:
        raise InputError(f"The level lies between 0 and 1, found {level}.")
    code, voters = pd.factorize(names, sort=True)  # np.unique would sort all names of all votes
    answers = np.bincount(code, minlength=len(voters))
    n_left = np.bincount(code[left], minlength=len(voters))
    more = np.maximum(n_left, answers - n_left)
    p = np.minimum(1.0, 2 * bdtrc(more - 1, answers, 0.5))
    table = pd.DataFrame({"voter": voters, "answers": answers, "left": n_left, "share": n_left / answers, "p": p})
    return SideBias(table.sort_values(["p", "voter"], ignore_index=True), level)


@dataclass(frozen=True, eq=False)
class PairwiseAgreement:
    """Agreement of each voter with the others; arrays of shape (n_voters,), in the order of `voters`.

    pairwise : mean pairwise agreement, in [0, 1], NaN where the voter shares nothing; others : with how many voters.
    same : mean share of the others with the same answer, NaN where nothing is shared; shared : comparisons shared.
    """

    voters: NDArray
    pairwise: Floats
    others: Ints
    same: Floats
    shared: Ints


def pairwise_agreement(
    voter: ArrayLike, comparison: ArrayLike, answer: ArrayLike, *, counts: ArrayLike | None = None
) -> PairwiseAgreement:
    """The agreement of each voter with the others.

    Parameters
    ----------
    voter, comparison : any codes, answer : a number for each answer that there is; shape (n,) each. Of a voter's
        several answers to a comparison the first counts.
    counts : False for answers of voters who are held against the others, without the others being held against them;
        default True for all.

    >>> found = pairwise_agreement(["A", "B", "C", "A", "B"], [1, 1, 1, 2, 2], [1, 1, 0, 1, 0])
    >>> found.pairwise, found.shared.tolist()
    (array([0.25, 0.25, 0.  ]), [2, 2, 1])
    """
    who, what, answers = np.asarray(voter), np.asarray(comparison), np.asarray(answer)
    other = np.ones(len(who), dtype=bool) if counts is None else np.asarray(counts, dtype=bool)
    if who.ndim != 1 or not who.shape == what.shape == answers.shape == other.shape:
        raise InputError(f"Each answer needs a voter and a comparison, found shapes {who.shape} and {what.shape}.")
    names, row = np.unique(who, return_inverse=True)
    _, unit = np.unique(what, return_inverse=True)
    kinds, kind = np.unique(answers, return_inverse=True)
    _, firsts = np.unique(row * (int(unit.max(initial=0)) + 1) + unit, return_index=True)
    row, unit, other = row[firsts], unit[firsts], other[firsts]
    cell = unit * len(kinds) + kind[firsts]
    n_units = int(unit.max(initial=-1)) + 1
    # How many other voters answered each comparison, and how many of them alike.
    times = np.bincount(unit[other], minlength=n_units)[unit] - other
    alike = np.bincount(cell[other], minlength=n_units * len(kinds))[cell] - other
    asked = np.flatnonzero(times > 0)
    shared = np.bincount(row[asked], minlength=len(names))
    same = _ratio(np.bincount(row[asked], alike[asked] / times[asked], len(names)), shared)
    pairwise, others = _pairwise(row, unit, cell, other, len(names))
    return PairwiseAgreement(names, pairwise, others, same, shared)


def _pairwise(row: Ints, unit: Ints, cell: Ints, other: NDArray[np.bool_], n: int) -> tuple[Floats, Ints]:
    """The mean over other voters of the share of equal answers, and the number of these voters."""
    together = (_matrix(row, unit, n) @ _matrix(row[other], unit[other], n, unit).T).tocoo()
    alike = (_matrix(row, cell, n) @ _matrix(row[other], cell[other], n, cell).T).tocsr()
    # In the order of `together`: every two that share a comparison are there, also where no answer is equal.
    equal = np.asarray(alike[together.row, together.col]).ravel()
    apart = together.row != together.col
    at = together.row[apart]
    others = np.bincount(at, minlength=n)
    return _ratio(np.bincount(at, equal[apart] / together.data[apart], n), others), others


def _matrix(row: Ints, column: Ints, n: int, columns: Ints | None = None) -> csr_array:
    """A one in each cell named; as wide as `columns` (default `column`) needs."""
    width = int((column if columns is None else columns).max(initial=-1)) + 1
    return csr_array((np.ones(len(row)), (row, column)), shape=(n, width))


def _ratio(sums: NDArray, counts: Ints) -> Floats:
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


NO_GOLD = "no voter was given a comparison with a known answer"
NO_OVERLAP = "no comparison was answered by two voters"
NO_REPEAT = "no comparison was put to the same voter twice"
NO_TIMES = "no result file tells how long answers took"
NO_SIDES = "no answer tells on which side the chosen item stood"
ALIKE = "the votes don't settle how voters differ, so all have one lapse"


@dataclass(frozen=True, eq=False)
class VoterQuality:
    """Figures of each voter.

    `table` has a row per voter, by voter_id, NaN where a figure is undefined:

    voter_id; left_out; votes (of comparisons that are scored), ties and unknown (shares of answers);
    gold_right of gold_n, gold with gold_lower, gold_upper;
    same: the mean share of the others with the same answer, over `shared` comparisons, with same_lower, same_upper;
    pairwise: the mean pairwise agreement with `others` voters;
    agrees: the share of `judged` votes, ties aside, for the item that the ranking by the other voters has higher;
    expected: what that is for an ordinary voter; gap = agrees − expected with gap_lower, gap_upper;
    repeat_same of repeat_n, consistent with consistent_lower, consistent_upper;
    sided answers, left of them for the left, p of the binomial test, p_holm over all voters;
    seconds: the median of `timed` answers, speed: that over the median of all answers;
    camp: 1 or 2 where the votes are of two opinions (`camps`), 2 the fewer voters;
    lapse ε_v with lapse_lower, lapse_upper, sharpness s_v with sharpness_lower, sharpness_upper: as the fit of all
    votes has them, given its scores and the priors.

    Intervals are at `LEVEL`. `reasons` says of a column why it is undefined for everybody. `alpha` is Krippendorff's,
    nominal, over the comparisons that several voters answered, or None, and then `no_alpha` says why.
    """

    table: pd.DataFrame
    reasons: dict[str, str] = field(default_factory=dict)
    alpha: KrippendorffAlpha | None = None
    no_alpha: str = ""

    def reason(self, row: pd.Series, column: str) -> str:
        """Why a figure of a voter is undefined; "" where it is defined."""
        if not pd.isna(row[column]):
            return ""
        return self.reasons.get(column) or _OWN_REASONS.get(column, "there is nothing to tell it from")


_OWN_REASONS = {
    "gold": "the voter was given no comparison with a known answer",
    "same": "nobody else answered any of the voter's comparisons",
    "pairwise": "nobody else answered any of the voter's comparisons",
    "gap": "other voters didn't vote on the voter's items, or all of the voter's votes are ties",
    "consistent": "the voter was never asked the same comparison twice",
    "p_holm": "no answer of the voter tells on which side the chosen item stood",
    "speed": "no answer of the voter has a time",
    "lapse": "the voter's votes aren't in the fit",
    "sharpness": "the voter's votes aren't in the fit",
}


def measure(answers: pd.DataFrame) -> VoterQuality:
    """The figures of every voter with an answer (schema VOTER_ANSWERS)."""
    VOTER_ANSWERS.check(answers)
    frame = answers.assign(said=_oriented_answer(answers))
    voters = np.unique(frame["voter_id"].to_numpy())
    table = pd.DataFrame({"voter_id": voters})
    reasons: dict[str, str] = {}
    for part, reason in (
        _counts(frame),
        _gold(frame),
        _others(frame),
        _ranking(frame),
        _repeats(frame),
        _sides(frame),
        _times(frame),
    ):
        table = table.merge(part, on="voter_id", how="left")
        reasons |= reason
    whole = ("votes", "gold_right", "gold_n", "shared", "others", "judged", "repeat_same", "repeat_n", "sided", "left",
             "timed")  # fmt: skip
    kinds = dict.fromkeys(whole, "int64")
    table = table.fillna(dict.fromkeys(whole, 0)).astype(kinds | {"left_out": "bool"})
    alpha, no_alpha = _alpha(frame)
    return VoterQuality(table, reasons, alpha, no_alpha)


def _oriented_answer(answers: pd.DataFrame) -> Floats:
    """The answer as of the item with the lower position, so that it is comparable."""
    answer = answers["answer"].to_numpy()
    return np.where(answers["first"] < answers["second"], answer, 1.0 - answer)


def _of(frame: pd.DataFrame, *statuses: str) -> pd.DataFrame:
    return frame[frame["status"].isin(statuses)]


def _votes(frame: pd.DataFrame) -> pd.DataFrame:
    """Votes that count, or would if their voter weren't left out."""
    answers = _of(frame, "counted", "excluded")
    return answers[answers["main"] & answers["answer"].notna()]


def _counts(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    answers = _of(frame, "counted", "unknown", "excluded")
    answers = answers[answers["main"]]
    grouped = answers.assign(vote=answers["answer"].notna(), tie=answers["answer"] == 0.5).groupby("voter_id")
    n = grouped["vote"].agg(["sum", "size"])
    n_ties = grouped["tie"].sum()
    table = pd.DataFrame(
        {"votes": n["sum"], "ties": n_ties / n["sum"].where(n["sum"] > 0), "unknown": 1 - n["sum"] / n["size"]}
    )
    out = frame.assign(out=frame["status"] == "excluded").groupby("voter_id")["out"].any()
    return table.reindex(out.index).assign(left_out=out).reset_index(), {}


def _gold(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    answers = frame[frame["gold"].notna() & frame["answer"].notna()]
    n = answers.assign(right=answers["answer"] == answers["gold"]).groupby("voter_id")["right"].agg(["sum", "size"])
    table = _shares(n["sum"], n["size"], "gold").assign(gold_right=n["sum"], gold_n=n["size"])
    return table.reset_index(), {} if len(answers) else {"gold": NO_GOLD}


def _shared(frame: pd.DataFrame) -> pd.DataFrame:
    """Answers that may be held against each other; nearly all get comparisons with a known answer right."""
    answers = _of(frame, "counted", "excluded")
    return answers[answers["gold"].isna() & answers["said"].notna()]


def _others(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    answers = _shared(frame)
    columns = (answers[name].to_numpy() for name in ("voter_id", "comparison", "said"))
    found = pairwise_agreement(*columns, counts=(answers["status"] == "counted").to_numpy())
    shared = pd.Series(found.shared, index=pd.Index(found.voters, name="voter_id"))
    table = _shares(found.same * found.shared, shared, "same")
    table = table.assign(pairwise=found.pairwise, others=found.others, shared=found.shared)
    return table.reset_index(), {} if found.shared.any() else {"same": NO_OVERLAP, "pairwise": NO_OVERLAP}


def _ranking(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Agreement with the ranking by the other voters, and lapse and sharpness as the fit has them."""
    votes = _votes(frame)
    names = ["camp", "judged", "agrees", "expected", "gap", "gap_lower", "gap_upper"]
    names += [f"{name}{end}" for name in ("lapse", "sharpness") for end in ("", "_lower", "_upper")]
    items, ends = np.unique(votes[["first", "second"]].to_numpy(), return_inverse=True)
    first, second = ends.reshape(-1, 2).T
    outcome, voter = votes["answer"].to_numpy(), votes["voter_id"].to_numpy()
    counts = (votes["status"] == "counted").to_numpy()
    try:
        predicted = predict(first, second, outcome, voter, n_items=len(items), counts=counts)
    except RunoffError as error:
        nothing = pd.DataFrame({"voter_id": np.unique(voter)}).assign(**dict.fromkeys(names, np.nan))
        return nothing, dict.fromkeys(("gap", "lapse", "sharpness"), str(error))
    table = _held_against(predicted, outcome, voter)
    effects, reason = _effects(predicted, voter)
    who, code = np.unique(voter[counts], return_inverse=True)
    camps = camps_of(first[counts], second[counts], outcome[counts], code, predicted.fit)
    if camps.are_two:
        table["camp"] = pd.Series(camps.camp + 1.0, index=who)
    elif camps.reason:
        reason = reason | {"camp": camps.reason}
    return table.assign(**{} if camps.are_two else {"camp": np.nan}).join(effects).reset_index(), reason


def _held_against(found: Predictions, outcome: Floats, voter: NDArray[np.int64]) -> pd.DataFrame:
    used = found.informed & (outcome != 0.5)
    # θ has a scale of its own: gaps that are all noise are no gaps.
    gap, sure = rounded_scores(found.gap[used], largest=1), found.probability[used]
    right = np.where(gap == 0, 0.5, (outcome[used] == 1) == (gap > 0))
    rows = pd.DataFrame({"voter_id": voter[used], "right": right, "expected": np.maximum(sure, 1 - sure)})
    n = rows.groupby("voter_id").agg(right=("right", "sum"), judged=("right", "size"), expected=("expected", "mean"))
    shares = _shares(n["right"], n["judged"], "agrees")
    table = pd.DataFrame({"judged": n["judged"], "agrees": shares["agrees"], "expected": n["expected"]})
    for end in ("", "_lower", "_upper"):
        table[f"gap{end}"] = shares[f"agrees{end}"] - n["expected"]
    return table.reindex(pd.Index(np.unique(voter), name="voter_id"))


def _effects(found: Predictions, voter: NDArray[np.int64]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Lapse and sharpness of each voter of the fit, with intervals given its scores."""
    names, at = np.unique(voter, return_index=True)
    code = found.code[at]
    inside = code >= 0
    index = pd.Index(names[inside], name="voter_id")
    effects = found.fit.effects
    if not effects.free.any() or len(effects.times) < 2:
        columns = [f"{name}{end}" for name in ("lapse", "sharpness") for end in ("", "_lower", "_upper")]
        nothing = pd.DataFrame(np.nan, index=index, columns=columns)
        return nothing, dict.fromkeys(("lapse", "sharpness"), ALIKE)
    error = found.fit.likelihood.effects_error()[:, code[inside]]
    z = float(ndtri((1 + LEVEL) / 2))
    values = effects.values[:, code[inside]]
    table = pd.DataFrame(index=index)
    for end, sign in (("", 0.0), ("_lower", -z), ("_upper", z)):
        table[f"lapse{end}"] = 0.5 * expit(values[1] + sign * error[1])
        table[f"sharpness{end}"] = np.exp(values[0] + sign * error[0])
    return table, {}


def _repeats(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    answers = frame[frame["said"].notna() & frame["gold"].isna()]
    keys = ["voter_id", "comparison"]
    again = answers.duplicated(keys).to_numpy()
    first = answers.groupby(keys)["said"].transform("first")
    n = answers.assign(same=answers["said"] == first)[again].groupby("voter_id")["same"].agg(["sum", "size"])
    table = _shares(n["sum"], n["size"], "consistent").assign(repeat_same=n["sum"], repeat_n=n["size"])
    return table.reset_index(), {} if again.any() else {"consistent": NO_REPEAT}


def _sides(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    answers = _of(frame, "counted", "excluded")
    answers = answers[answers["left"].notna()]
    table = side_bias(answers["voter_id"].to_numpy(), answers["left"].to_numpy() == 1).voters
    table = table.rename(columns={"voter": "voter_id", "answers": "sided"}).drop(columns="share")
    table = table.astype({"voter_id": "int64"}).assign(p_holm=holm(table["p"].to_numpy()))
    return table, {} if len(table) else {"p_holm": NO_SIDES}


def _times(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    answers = _of(frame, "counted", "unknown", "excluded")
    answers = answers[answers["seconds"].notna()]
    times = answers.groupby("voter_id")["seconds"].agg(seconds="median", timed="size")
    middle = float(answers["seconds"].median()) if len(answers) else 0.0
    times["speed"] = times["seconds"] / middle if middle > 0 else np.nan
    return times.reset_index(), {} if middle > 0 else {"speed": NO_TIMES, "seconds": NO_TIMES}


def _alpha(frame: pd.DataFrame) -> tuple[KrippendorffAlpha | None, str]:
    """α over comparisons that several voters answered; it doesn't ask who answered, so places stand for voters."""
    answers = _shared(frame)
    answers = answers[answers["status"] == "counted"].drop_duplicates(["voter_id", "comparison"])
    shared = answers[answers.duplicated("comparison", keep=False)]
    n_answered = answers["comparison"].nunique()
    if shared.empty:
        return None, f"of {n_answered:,} answered comparisons none was answered by two voters"
    places = shared.assign(place=shared.groupby("comparison").cumcount())
    try:
        alpha = agreement(places.pivot(index="place", columns="comparison", values="answer"), distance="nominal")
    except UndefinedMetricError as error:
        return None, str(error)
    return replace(alpha, n_answered=n_answered, n_voters=shared["voter_id"].nunique()), ""


def _shares(count: pd.Series | Floats, total: pd.Series, name: str) -> pd.DataFrame:
    """Shares with Wilson's interval at `LEVEL`, columns name, name_lower, name_upper; NaN where total is 0.

    Counts may be fractions; the interval takes the cases as independent.
    """
    n = total.to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.asarray(count, dtype=np.float64) / n
        z2 = float(ndtri((1 + LEVEL) / 2)) ** 2
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    bounds = {name: p, f"{name}_lower": np.maximum(centre - half, 0), f"{name}_upper": np.minimum(centre + half, 1)}
    return pd.DataFrame(bounds, index=total.index)
