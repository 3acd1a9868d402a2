"""What is shown of a rating set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...base.estimates import Estimate
from ...base.numbers_in_words import many, plural
from ...evaluation.rating_report import RatingReport
from ...questions.rating.scales import Qualified
from ...questions.rating.statistics import Deviation, Fit, ModelPlace
from ...tabular.csv_writing import cells_of, csv_text, harmless
from ...trust.agreement import KrippendorffAlpha
from ..wording import ends, estimated, out_of

UNDEFINED = "–"
HELP = {
    "first": "The first text of the item.",
    "second": "The second text of the item.",
    "mean": "Mean of people's ratings.",
    "SD": "Standard deviation of people's ratings (n − 1); blank below two.",
    "n": "How many people rated it.",
    "apart": "Highest minus lowest rating.",
    "r": "Pearson's r of the person's ratings with the mean of all others'.",
    "items": "Items behind the figure.",
    "α": "Krippendorff's α by squared differences (interval metric): 1 is full agreement, 0 what chance gives.",
    "90% interval": "Items are drawn anew, since ratings of one item hang together.",
}
CONDITION_HELP = {
    "r": "Pearson's r of the items' means under the two conditions.",
    "noise, first": "Mean SD of the items under the first condition.",
    "noise, second": "Mean SD of the items under the second condition.",
    "p (noise)": "Of equal noise, by Welch's t-test over items.",
    "items": "Items with ratings under both.",
}
ANOVA_HELP = {
    "difference": "Mean at the second level minus mean at the first, in points; of the interaction: of differences.",
    "F": "Mean square of the effect over that of the error.",
    "p": "Of no effect.",
}
ORDER_HELP = {
    "A": "Ratings with the texts in order A.",
    "B": "Ratings with the texts in order B.",
    "difference": "Mean in order A minus mean in order B.",
    "p (t)": "Of equal means, by Welch's t-test. One in twenty is below .05 by chance alone.",
    "p (Mann–Whitney)": "Of equal ranks, by the test of Mann and Whitney.",
}
MODEL_HELP = {
    "place": "By the sum of Pearson's r over the levels.",
    "model": "An embedding, or one of two string baselines: a floor for every model.",
    "level": "Sizes of the two texts; “all” where the file has no levels.",
    "genre": "Kind of text; “all” sums up a level, “held out” the genres that models couldn't prepare for.",
    "Pearson": "Pearson's r of similarities with mean ratings.",
    "Spearman": "Spearman's ρ of the same.",
    "covered": "Items the model has a similarity for, of those with a mean.",
}


QUALIFIED_HELP = {
    "person": "As the file names them.",
    "near enough": "Gold pairs rated within the points allowed.",
    "gold pairs": "Gold pairs among the items of the file.",
    "not rated": "Gold pairs that the person left out; they count as not near.",
    "passed": "Whether every gold pair was rated near enough.",
}
DEVIATION_HELP = {
    "genre": "“all” is over all items.",
    "mean": "Mean crowd rating minus expert rating, in points.",
    "lower quartile": "A quarter of the items lie below.",
    "median": "Half of the items lie below.",
    "upper quartile": "A quarter of the items lie above.",
    "items": "Items that both rated.",
}


def headline(report: RatingReport) -> str:
    """The set in a sentence."""
    ratings = report.ratings
    if not ratings.has_people:
        return f"{ratings.name}: means of {many(ratings.n_items, 'item')}; who rated what isn't in the file."
    counts = f"{many(len(ratings.rating), 'rating')} of {many(ratings.n_items, 'item')}"
    people = plural(len(ratings.people), "{n} person", "{n} people")
    return f"{ratings.name}: {counts} by {people}, from {ratings.rating.min():g} to {ratings.rating.max():g}."


def figures(report: RatingReport) -> list[tuple[str, str, str]]:
    """Label, value and help of the figures at the top; "–" where undefined (`why_undefined` says why)."""
    loo = report.leave_one_out
    mean, best, worst = (None,) * 3 if isinstance(loo, str) else (loo.mean, loo.best, loo.worst)
    alpha_said = UNDEFINED if isinstance(report.alpha, str) else _alpha_text(report.alpha)
    return [
        ("Noise", estimated(report.noise, 2), "Mean of the items' SDs, in points of the scale: less is closer."),
        (
            "Leave-one-out r",
            estimated(Estimate(mean, worst, best)),
            "Pearson's r of each person with the mean of all others: the mean over people, and the worst and best.",
        ),
        (
            "Pairwise ρ",
            estimated(Estimate(report.pairwise.mean)),
            f"Spearman's ρ between two people, the mean over {report.pairwise.n_pairs:,} pairs of people.",
        ),
        (
            "Krippendorff's α",
            alpha_said,
            " ".join([HELP["α"], "In brackets: its 90% interval.", HELP["90% interval"]]),
        ),
    ]


def _alpha_text(alpha: KrippendorffAlpha) -> str:
    bounds = (None, None) if math.isnan(alpha.lower) else (alpha.lower, alpha.upper)
    return estimated(Estimate(alpha.alpha, *bounds))


def why_undefined(report: RatingReport) -> list[str]:
    """Why a figure at the top has no value."""
    loo = report.leave_one_out
    why = [f"Noise: {report.noise.reason}." if report.noise.estimate is None else ""]
    if isinstance(loo, str):
        why.append(loo)
    elif loo.mean is None:
        reason = loo.people[0].reason if loo.people else "nobody rated"
        why.append(f"Leave-one-out r: {reason}.")
    if isinstance(report.alpha, str) and report.alpha != loo:
        why.append(f"α: {report.alpha}")
    return [text for text in why if text]


def items(report: RatingReport) -> pd.DataFrame:
    """A row per item, in the order of the file; level and genre where there are any."""
    ratings = report.ratings
    columns: dict[str, object] = {"first": ratings.first, "second": ratings.second}
    columns |= {"level": ratings.level} if any(ratings.level) else {}
    columns |= {"genre": ratings.genre} if any(ratings.genre) else {}
    columns |= {"mean": report.mean, "SD": report.sd}
    if ratings.has_people:
        table = ratings.table
        rated = report.n > 0
        apart = np.full(ratings.n_items, np.nan)
        apart[rated] = np.nanmax(table[:, rated], axis=0) - np.nanmin(table[:, rated], axis=0)
        columns |= {"n": report.n, "apart": apart}
    return pd.DataFrame(columns)


def people(report: RatingReport) -> pd.DataFrame:
    """Each person's leave-one-out r, the lowest first, undefined ones last with the reason."""
    loo = report.leave_one_out
    if isinstance(loo, str):
        return pd.DataFrame(columns=["person", "r", "items", "why undefined"])
    rows = [(report.ratings.people[p.row], p.r, p.n_items, p.reason) for p in loo.people]
    table = pd.DataFrame(rows, columns=["person", "r", "items", "why undefined"])
    table["r"] = table["r"].astype("float64")
    return table.sort_values("r", kind="stable", ignore_index=True)


def alphas(groups: Mapping[str, KrippendorffAlpha | str], called: str) -> pd.DataFrame:
    """α of each genre or level, with its interval or the reason why there is none."""
    rows: list[tuple] = []
    for name, alpha in groups.items():
        if isinstance(alpha, str):
            rows.append((name or "(none)", None, "", None, alpha))
        else:
            bounds = "" if math.isnan(alpha.lower) else ends(alpha.lower, alpha.upper)
            rows.append((name or "(none)", alpha.alpha, bounds, alpha.n_units, ""))
    table = pd.DataFrame(rows, columns=[called, "α", "90% interval", "items", "why undefined"])
    return table.astype({"α": "float64", "items": "Int64"})


def conditions(report: RatingReport) -> pd.DataFrame:
    """Every two conditions."""
    rows = [
        (c.one, c.other, c.r, c.noise_one, c.noise_other, c.noise_p, c.n_items, c.reason) for c in report.conditions
    ]
    names = ["first", "second", "r", "noise, first", "noise, second", "p (noise)", "items", "why undefined"]
    return pd.DataFrame(rows, columns=names)


def anova(report: RatingReport) -> pd.DataFrame:
    """The effects; empty where there is no analysis."""
    if isinstance(report.anova, str) or report.factors is None:
        return pd.DataFrame(columns=["effect", *ANOVA_HELP])
    names = [f"{second} rather than {first}" for first, second in report.factors]
    effects = (report.anova.order, report.anova.anchors, report.anova.interaction)
    rows = [(name, e.difference, e.f, e.p) for name, e in zip([*names, "both together"], effects, strict=True)]
    return pd.DataFrame(rows, columns=["effect", "difference", "F", "p"])


def anova_text(report: RatingReport) -> str:
    """What the analysis rests on, or why there is none; "" without conditions."""
    if isinstance(report.anova, str):
        return report.anova
    a = report.anova
    tests = [("Bartlett", a.bartlett_p), ("Levene", a.levene_p)]
    p_values = ", ".join(f"{name} p = {p:.3g}" for name, p in tests if p is not None)
    weak = any(p is not None and p < 0.05 for _, p in tests)
    sentences = [
        (
            f"Over {many(a.n_items, 'item')} that all four conditions rated, {a.n_left_out:,} left out; "
            f"{a.df_error:,} degrees of freedom of the error."
        ),
        f"Equal variances: {p_values or 'not testable: residuals are equal'}.",
        "The variances differ, so these p are on weak ground." if weak else "",
    ]
    return " ".join(filter(None, sentences))


def orders(report: RatingReport) -> pd.DataFrame:
    """Items rated with their texts in both orders, the smallest p first."""
    names = ["first", "second", *ORDER_HELP, "why undefined"]
    rows = [
        (report.ratings.first[at], report.ratings.second[at], t.n_one, t.n_other, t.difference, t.t_p, t.mann_whitney_p,
         t.reason)
        for at, t in report.order_tests.items()
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=names)
    return table.astype(dict.fromkeys(names[4:7], "float64")).sort_values("p (t)", kind="stable", ignore_index=True)


def qualified(people: Sequence[Qualified]) -> pd.DataFrame:
    """A row per person, those who don't pass first, fewest near pairs first."""
    rows = [(q.voter, q.result.n_within, q.result.n, q.missing, q.result.passed) for q in people]
    table = pd.DataFrame(rows, columns=list(QUALIFIED_HELP))
    return table.sort_values(["passed", "near enough"], kind="stable", ignore_index=True)


def deviations(by_genre: Mapping[str, Deviation | None]) -> pd.DataFrame:
    """A row a genre, all items first."""
    rows = [
        (name, None, None, None, None, 0)
        if one is None
        else (name, one.mean, one.lower_quartile, one.median, one.upper_quartile, one.n)
        for name, one in by_genre.items()
    ]
    table = pd.DataFrame(rows, columns=list(DEVIATION_HELP))
    return table.astype(dict.fromkeys(table.columns[1:5], "float64"))


def models(standings: Sequence[ModelPlace]) -> pd.DataFrame:
    """A row per model, level and genre, best model first; a level as a whole before its genres."""
    rows = []
    for standing in standings:
        if standing.unseen is not None:
            rows.append((standing.place, standing.model, "all", "held out", *_fitted(standing.unseen)))
        for level, whole in standing.by_level.items():
            parts = [(genre, fit) for (at, genre), fit in standing.by_genre.items() if at == level and genre != "all"]
            for genre, fit in [("all", whole), *parts]:
                rows.append((standing.place, standing.model, level, genre, *_fitted(fit)))
    names = ["place", "model", "level", "genre", "Pearson", "Spearman", "covered", "why undefined"]
    return pd.DataFrame(rows, columns=names).astype({"Pearson": "float64", "Spearman": "float64"})


def _fitted(fit: Fit) -> tuple[float | None, float | None, str, str]:
    """A fit as the cells Pearson, Spearman, covered and why undefined."""
    return fit.pearson, fit.spearman, out_of(fit.n, fit.n_items), fit.reason


def as_csv(table: pd.DataFrame) -> bytes:
    """A table as a file; cells that a spreadsheet would take for a formula get an apostrophe."""
    rows = ([harmless(value) for value in row] for row in cells_of(table))
    return csv_text(map(harmless, table.columns), rows).encode("utf-8")
