"""The floor and the top of a table of embeddings beside their figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...commands.figures.evaluation import Scale
from ...commands.figures.evaluation_inputs import FIGURES
from ...evaluation.chance import shares_of
from .evaluate_page import EvaluateView

NO_SHARE = "No share from chance to the best that the votes allow:"
SHARE = "share"  # of a figure's name, in tables: from chance to the best that the votes allow


def with_shares(view: EvaluateView, top: Scale) -> tuple[EvaluateView, tuple[str, ...]]:
    """The view with the shares of ρ_w and τ_w beside them, overall and over common items, and why some are blank.

    The ceiling is that of all items. Without any the view is as it was, and the reasons say why there is none.
    """
    compared, ceilings = view.compared, top.ceilings
    if compared is None or not ceilings:
        return view, tuple(f"{NO_SHARE} {problem}" for problem in top.problems)
    tables, reasons = {"overall": view.overall, "common": view.common}, []
    for name, found in shares_of(compared, ceilings).items():
        if not len(tables[name]):
            continue
        for key, label in FIGURES[:2]:
            column = f"{label} {SHARE}"
            values = [np.nan if (value := of[key].value) is None else value for of in found]
            place = list(tables[name].columns).index(label) + 1
            tables[name] = tables[name].copy()
            tables[name].insert(place, column, values)
            named = zip(compared.names, found, strict=True)
            reasons += [f"{model}, {column}: {of[key].reason}" for model, of in named if of[key].reason]
    return replace(view, overall=tables["overall"], common=tables["common"]), tuple(dict.fromkeys(reasons))
