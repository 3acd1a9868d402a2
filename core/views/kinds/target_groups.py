"""What is shown of target groups."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Mapping, Sequence

import pandas as pd

from ...base.numbers_in_words import many, with_decimals
from ...errors import InputError, Issue
from ...metrics import rounded_scores
from ...questions.order.groups import GroupComparison, GroupFigure, GroupScores, Similarity, TargetGroup
from ...questions.order.kind import GroupFile
from ...questions.order.orders import GroupAgreement
from ..wording import out_of

FIGURES = ("overall", "positive", "distractor", "random")
HELP = {
    "model": "An embedding of the workspace.",
    "overall": (
        "Share of what could be earned over all comparisons, 0 to 1. A comparison on which people agree more "
        "earns more; two equal similarities earn nothing."
    ),
    "positive": "Over comparisons of two positives, which people put into order.",
    "distractor": "Over positives against distractors: near words of another relation.",
    "random": "Over positives against random words.",
    "Spearman": "Mean over targets of Spearman's ρ with people's order, unpreferred words last and tied.",
    "targets": "Targets that have a Spearman's ρ.",
    "covered": "Comparisons of which the model has all words.",
}
WORST_HELP = {
    "target": "The target word.",
    "preferred": "The word that more people put above the other.",
    "other": "The word that stands below.",
    "kind": "Of the other word: positive, distractor or random.",
    "R": "Share of people that prefer the first; 1 by definition for distractors and randoms.",
    "cos, preferred": "The model's similarity of the target and the preferred word.",
    "cos, other": "Its similarity of the target and the other word.",
}
PEOPLE_HELP = {
    "voter": "As the file names them.",
    "ρ with others": "Mean Spearman's ρ with everybody who ordered two words of a target that this one ordered too.",
    "others": "People it is compared with.",
    "targets": "Targets ordered.",
    "proposed": "More than one standard deviation under the mean: look at their orders, and leave them out or not.",
}
EDIT_COLUMNS = ("target", "positives", "distractors", "randoms")


def isolated(text: str) -> str:
    """A word of any script inside a sentence of another: its direction doesn't reach beyond it (Unicode isolates)."""
    return f"\u2068{text}\u2069"


def headline(read: GroupFile, groups: Sequence[TargetGroup]) -> str:
    """What a file holds."""
    kinds = {kind: sum(c.kind == kind for c in read.comparisons) for kind in ("positive", "distractor", "random")}
    counts = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    return f"{many(len(groups), 'target group')}, {many(len(read.comparisons), 'comparison')} ({counts})."


def table(groups: Sequence[TargetGroup]) -> pd.DataFrame:
    """A row per group, words with commas between."""
    rows = [(g.target, ", ".join(g.positives), ", ".join(g.distractors), ", ".join(g.randoms)) for g in groups]
    return pd.DataFrame(rows, columns=list(EDIT_COLUMNS), dtype="str")


def from_table(edited: pd.DataFrame) -> list[TargetGroup]:
    """The groups of an edited table; raises `InputError` naming each row that is none."""
    groups: list[TargetGroup] = []
    issues = []
    for number, row in enumerate(edited.fillna("").to_dict("records"), 1):
        words = [tuple(w.strip() for w in str(row[name]).split(",") if w.strip()) for name in EDIT_COLUMNS[1:]]
        target = str(row["target"]).strip()
        if not target and not any(words):
            continue
        try:
            if not target or "," in target:
                raise InputError("a group needs one target, without a comma")
            if any(group.target == target for group in groups):
                raise InputError(f"{target} is the target of another group too")
            groups.append(TargetGroup(target, *words))
        except InputError as error:
            issues.append(Issue(str(error).rstrip("."), row=number))
    if issues:
        raise InputError("These groups can't be written.", issues)
    return groups


def comparisons(read: GroupFile) -> pd.DataFrame:
    """Every comparison with its share."""
    rows = [(c.target, c.first, c.second, c.kind, c.r) for c in read.comparisons]
    return pd.DataFrame(rows, columns=["target", "preferred", "other", "kind", "R"])


def group_html(group: TargetGroup) -> str:
    """A group as a list whose words each run in their own direction; everything is escaped."""
    kinds = (("Positives", group.positives), ("Distractors", group.distractors), ("Randoms", group.randoms))
    rows = "".join(
        f'<dt style="opacity:.75">{label}</dt><dd dir="{direction(words[0])}" style="margin:0;text-align:left">'
        f"{' · '.join(_bdi(word) for word in words)}</dd>"
        for label, words in kinds
        if words
    )
    grid = "display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1rem;margin:.5rem 0 0"
    return f'<strong>{_bdi(group.target)}</strong><dl style="{grid}">{rows}</dl>'


def agreement_text(agreement: GroupAgreement, n_targets: int) -> str:
    """How far people agree in their orders, and who is proposed to be left out."""
    who = ", ".join(map(isolated, agreement.proposed)) or "nobody"
    mean = with_decimals(agreement.mean)
    agree = f"{many(n_targets, 'target')} ordered by {len(agreement.people):,} people: mean pairwise ρ {mean}."
    if agreement.bound is None:
        return f"{agree} More than one SD under the mean: {who}."
    return f"{agree} More than one SD under the mean (under {with_decimals(agreement.bound)}): {who}."


def people(agreement: GroupAgreement) -> pd.DataFrame:
    """A row per person, the lowest agreement first."""
    rows = [(p.voter, p.agreement, p.n, p.n_targets, p.voter in agreement.proposed) for p in agreement.people]
    table = pd.DataFrame(rows, columns=list(PEOPLE_HELP)).astype({"ρ with others": "float64"})
    return table.sort_values("ρ with others", kind="stable", ignore_index=True)


def direction(word: str) -> str:
    """`rtl` where a word's first letter belongs to a script that runs from right to left, else `ltr`.

    >>> direction("זמר"), direction("42 songs")
    ('rtl', 'ltr')
    """
    strong = (unicodedata.bidirectional(letter) for letter in word)
    return "rtl" if next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L" else "ltr"


def _bdi(word: str) -> str:
    return f'<bdi dir="auto">{html.escape(word)}</bdi>'


def scores(by_model: Mapping[str, GroupScores]) -> pd.DataFrame:
    """A row per model, the best first; None where undefined."""
    rows = []
    for model, score in by_model.items():
        n = score.overall.n
        values = [getattr(score, name).value for name in FIGURES]
        rows.append((model, *values, score.spearman, score.n_targets, out_of(n, n + score.overall.n_missing)))
    frame = pd.DataFrame(rows, columns=["model", *FIGURES, "Spearman", "targets", "covered"])
    frame = frame.astype(dict.fromkeys([*FIGURES, "Spearman"], "float64"))
    return frame.sort_values("overall", ascending=False, kind="stable", ignore_index=True)


def behind(score: GroupScores) -> pd.DataFrame:
    """The counts and weights behind a model's figures, with the reason where one is undefined."""
    rows: list[tuple] = []
    for name in FIGURES:
        figure: GroupFigure = getattr(score, name)
        rows.append((name, figure.value, figure.n, figure.n_missing, figure.weight, figure.reason))
    rows.append(("Spearman", score.spearman, score.n_targets, None, None, score.reason))
    names = ["figure", "value", "n", "missing", "Σ|s|", "why undefined"]
    return pd.DataFrame(rows, columns=names).astype({"value": "float64", "missing": "Int64", "Σ|s|": "float64"})


def worst(rows: Sequence[GroupComparison], similarity: Similarity, limit: int = 100) -> pd.DataFrame:
    """Comparisons a model has wrong, those that cost it most first, then those it misses by most."""
    targets = [c.target for c in rows]
    first = similarity(targets, [c.first for c in rows])
    second = similarity(targets, [c.second for c in rows])
    values = [(c.target, c.first, c.second, c.kind, c.r) for c in rows]
    frame = pd.DataFrame(values, columns=["target", "preferred", "other", "kind", "R"])
    frame["cos, preferred"], frame["cos, other"] = first, second
    compared = rounded_scores([first, second])
    wrong = frame[(compared[0] <= compared[1]) & (frame["R"] > 0.5)]
    gap = wrong["cos, other"] - wrong["cos, preferred"]
    order = wrong.assign(gap=gap).sort_values(["R", "gap"], ascending=False, kind="stable")
    return order.drop(columns="gap").head(limit).reset_index(drop=True)


def to_judge(groups: Sequence[TargetGroup]) -> pd.DataFrame:
    """Every two positives of each group: what people are to be asked."""
    rows = [(group.target, one, other) for group in groups for one, other in group.pairs_to_judge()]
    return pd.DataFrame(rows, columns=["target", "first", "second"])
