"""What `evaluate` prints: a table with remarks, or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .shared import text_table

if TYPE_CHECKING:
    from ..evaluation import Comparison, Correlations, Evaluation, Figure
    from ..evaluation.baselines import Baselines
    from ..evaluation.chance import Share
    from ..evaluation.results import Ends

    Shares = Mapping[str, Sequence[Mapping[str, Share]]]  # as `chance.shares_of` gives them

LABELS = {
    "rho_w": "ρ_w",
    "tau_w": "τ_w",
    "rho": "ρ",
    "tau": "τ",
    "pearson": "Pearson",
    "precision": "top k",
}
METRICS = tuple(LABELS)
SHOWN = METRICS[:4]
_FAVOURED = "such tokens favour the model that chose them, §2.2"


def _figures_json(result: Correlations, shares: Mapping[str, Share] | None = None) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "n_items": result.n_items,
        "n_covered": result.n_covered,
        "coverage": result.coverage,
        "remark": result.remark,
        **({"n_lowest": result.n_lowest} if result.n_lowest else {}),
    }
    for name in METRICS:
        figure = getattr(result, name)
        figures[name] = {"estimate": figure.estimate, **_ends(figure.by_votes)}
        if figure.token_lower is not None:
            figures[name]["tokens"] = _ends(figure.by_tokens)
        if figure.estimate is None:
            figures[name]["why_undefined"] = figure.reason
        if shares and name in shares:
            of = shares[name]
            figures[name] |= {"share": of.value, "chance": of.chance, "ceiling": of.ceiling}
            if of.value is None:
                figures[name]["why_no_share"] = of.reason
    return figures


def _ends(found: Ends) -> dict[str, float | None]:
    return dict(zip(("corrected", "lower", "upper"), found, strict=True))


def evaluation_json(models: Sequence[str], comparison: Comparison, shares: Shares) -> dict[str, Any]:
    from ..evaluation import WHY_NO_INTERVALS

    rows: list[dict[str, Any]] = []
    for model, evaluation, of in zip(models, comparison.evaluations, shares["overall"], strict=True):
        overall = {
            **_figures_json(evaluation.overall, of),
            "missing": dict(evaluation.missing),
            "notes": evaluation.notes,
        }
        overall["other_notion"] = _figures_json(evaluation.other_notion)
        overall["found_as"] = dict(evaluation.found_as)
        overall["proposed_tokens"] = [{"area": area, "token": token} for area, token in evaluation.proposed]
        rows.append({"model": model, "area": None, "notion": evaluation.notion, **overall})
        for area, result in evaluation.areas.items():
            rows.append({"model": model, "area": area, "notion": evaluation.notion, **_figures_json(result)})
    common = [
        {"model": model, **_figures_json(result, of)}
        for model, result, of in zip(models, comparison.common, shares["common"], strict=True)
    ]
    without = [
        {"model": model, **_figures_json(result)}
        for model, result in zip(models, comparison.without_proposed, strict=False)
    ]
    first = comparison.evaluations[0]
    return {
        "notion": first.notion,
        "n0": first.n0,
        "policy": comparison.policy,
        "top": first.overall.top,
        "n_unscored": first.n_unscored,
        "models": rows,
        "same_items": comparison.is_even,
        "common_items": common,
        "without_proposed_tokens": without,
        "why_no_intervals": WHY_NO_INTERVALS,
    }


def baselines_json(found: Baselines) -> list[dict[str, Any]]:
    """The rows of the baselines, as those of models."""
    return [{"model": name, **_figures_json(figures)} for name, figures in found.rows]


def baselines_text(found: Baselines, metrics: Sequence[str]) -> str:
    """The baselines as a table."""
    rows = ([name, *(_cell(getattr(figures, metric)) for metric in metrics)] for name, figures in found.rows)
    return text_table(("baseline", *(LABELS[metric] for metric in metrics)), rows)


def _cell(figure: Figure) -> str:
    if figure.estimate is None:
        return "–"
    value, lower, upper = figure.by_tokens
    if value is None:
        return f"{figure.estimate:.4f}"
    return f"{figure.estimate:.4f} ({value:.2f}: {lower:.2f} to {upper:.2f})"


def evaluation_text(
    models: Sequence[str], comparison: Comparison, metrics: Sequence[str], shares: Shares, why_none: str
) -> str:
    """Tables for people: overall, over the common items where coverage differs, and by area.

    Beside ρ_w and τ_w stand their shares from chance to the best that the votes allow; where nothing is known of that,
    why_none says why.
    """
    first = comparison.evaluations[0]
    header: tuple[str, ...] = ("model", "covered", *(LABELS[metric] for metric in metrics))
    shared = [metric for metric in metrics if metric in shares["overall"][0] and not why_none]
    wide = ("model", "covered", *(text for m in metrics for text in (LABELS[m], "share")[: 1 + (m in shared)]))

    def _row(name: str, result: Correlations, of: Mapping[str, Share] | None = None) -> list[str]:
        cells = [f"{result.n_covered}/{result.n_items}"]
        for metric in metrics:
            cells.append(_cell(getattr(result, metric)))
            if of is not None and metric in shared:
                value = of[metric].value
                cells.append("–" if value is None else f"{value:.4f}")
        return [name, *cells]

    named = list(zip(models, comparison.evaluations, strict=True))
    parts = [
        f"Ranked by {'|cos|' if first.notion == 'relatedness' else 'cos'} ({first.notion}), n₀ = {first.n0:g}",
        text_table(wide, (_row(m, e.overall, of) for (m, e), of in zip(named, shares["overall"], strict=True))),
    ]
    for place, model in enumerate(models):
        if others := comparison.fewer(place):
            parts.append(
                f"{model} lacks items that {models[comparison.names.index(others[0])]} must rank: no fair win."
            )
    if not comparison.is_even and comparison.policy in ("common", "parts"):
        common = zip(models, comparison.common, shares["common"], strict=True)
        parts.append("The models cover different items: compare them over the items that all of them cover.")
        parts.append(text_table(wide, (_row(*each) for each in common)))
    if comparison.without_proposed:
        rows = (_row(model, result) for model, result in zip(models, comparison.without_proposed, strict=True))
        parts.append(f"Without the items that hold a token which a model proposed ({_FAVOURED}):")
        parts.append(text_table(header, rows))
    if len(first.areas) > 1:
        rows = (_row(f"{model}, {area}", result) for model, e in named for area, result in e.areas.items())
        parts.append(text_table(header, rows))
    parts += _shares_said(models, shares, shared, why_none if {*metrics} & {*shares["overall"][0]} else "")
    parts += [f"{model}: {remark}" for model, evaluation in named for remark in _remarks(evaluation)]
    return "\n\n".join(parts)


def _shares_said(models: Sequence[str], shares: Shares, shared: Sequence[str], why_none: str) -> list[str]:
    """What the shares are, or why there are none."""
    if why_none:
        return [f"No share from chance to the best that the votes allow. {why_none}"]
    if not shared:
        return []
    of, said = shares["overall"][0], []
    for metric in shared:
        by_chance, ceiling = of[metric].chance, of[metric].ceiling
        if by_chance is not None and ceiling is not None:
            said.append(f"{LABELS[metric]} of chance {by_chance:.4f}, of the best {ceiling:.4f}")
    told = f" ({models[0]}: {'; '.join(said)})" if said else ""
    reasons = [
        f"{model}: {each[metric].reason}"
        for found in (shares["overall"], shares["common"])
        for model, each in zip(models, found, strict=True)
        for metric in shared
        if each[metric].reason
    ]
    return [f"share: 0 is chance, 1 the best that these votes allow{told}.", *dict.fromkeys(reasons)]


def _remarks(evaluation: Evaluation) -> list[str]:
    """What a reader of an evaluation's figures should know, a sentence each."""
    reasons = {getattr(evaluation.overall, metric).reason for metric in SHOWN}
    missing = f"no vector for {_some(evaluation.missing)}" if evaluation.missing else ""
    found = [f"{token} as {name}" for token, name in evaluation.found_as.items()]
    spelled = f"found in another way: {_some(found)}" if found else ""
    proposed = _some(token for _, token in evaluation.proposed)
    biased = f"Warning: it proposed tokens of the dataset itself, which favours it: {proposed}" if proposed else ""
    return [
        text
        for text in (biased, *evaluation.notes, missing, spelled, *sorted(reasons), evaluation.overall.remark)
        if text
    ]


def _some(tokens: Iterable[str], n: int = 10) -> str:
    names = list(tokens)
    return ", ".join(names[:n]) + (f" and {len(names) - n} more" if len(names) > n else "")
