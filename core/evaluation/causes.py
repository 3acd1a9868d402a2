"""Why a model disagrees with people: tokens it puts everywhere, and how it lays out an area."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..errors import InputError
from ..tokens.hubness import skewness
from .figures import in_top
from .models import Model
from .results import Evaluation, model_scores

MANY_TIMES = 2.0  # a token in so many times as many top items as by people, and …
FEWEST_MORE = 2  # … in so many more, is named


def crowding(evaluation: Evaluation, top: int) -> pd.DataFrame:
    """How many of the model's `top` highest items each token is in, and how many of people's; the most crowding first.

    Over the covered items. Columns: token, by_model, by_people, more (their difference) and is_hub: by the model at
    least twice as many as by people, and two more. Items that tie at the cut count in part.
    """
    if top < 1:
        raise InputError(f"The top has at least 1 item, found {top}.")
    pairs = evaluation.pairs[evaluation.pairs["cosine"].notna()]
    if not len(pairs):
        return pd.DataFrame({"token": [], "by_model": [], "by_people": [], "more": [], "is_hub": []})
    k = min(top, len(pairs))
    values = model_scores(pairs["cosine"].to_numpy(), evaluation.notion)
    shares = {"by_model": in_top(values, k), "by_people": in_top(pairs["score"].to_numpy(), k)}
    both = pd.concat([pairs["token_a"], pairs["token_b"]], ignore_index=True)
    table = pd.DataFrame({name: np.concatenate([share, share]) for name, share in shares.items()})
    table = table.assign(token=both).groupby("token", sort=False).sum().reset_index()
    more = table["by_model"] - table["by_people"]
    is_hub = (table["by_model"] >= MANY_TIMES * table["by_people"]) & (more >= FEWEST_MORE)
    table = table.assign(more=more, is_hub=is_hub).sort_values("more", ascending=False, kind="stable")
    return table.reset_index(drop=True)[["token", "by_model", "by_people", "more", "is_hub"]]


def hub_skewness(table: pd.DataFrame) -> float:
    """The skewness of `by_model` over tokens; raises `UndefinedMetricError` if all are alike."""
    return skewness(table["by_model"].to_numpy())


def with_hubs(worst: pd.DataFrame, crowded: pd.DataFrame) -> pd.DataFrame:
    """The worst disagreements with the column hubs: which of an item's tokens crowd the model's top, in its items that
    the model puts too high; "" for none."""
    hubs = set(crowded.loc[crowded["is_hub"], "token"])
    rows = zip(worst["token_a"], worst["token_b"], worst["gap"], strict=True)
    named = [", ".join(t for t in (a, b) if t in hubs) if gap < 0 else "" for a, b, gap in rows]
    return worst.assign(hubs=named)


def layout(model: Model, tokens: Sequence[str]) -> tuple[pd.DataFrame, float]:
    """Two dimensions in which tokens lie as far apart as the model says, as well as two can: classical scaling.

    Squared distances are 2·(1 − cos), those of unit vectors, of which this is the first two principal components.
    Tokens without a value to all others are left out. Returns a table token, x, y, and the share (0 to 1) of the
    squared distances that the two dimensions keep. The axes mean nothing; each is turned so that its value farthest
    from 0 is positive. Raises `InputError` for fewer than three tokens.

    Reference: Torgerson (1952), Multidimensional scaling: I. Theory and method, Psychometrika 17.
    """
    reasons = model.reasons(tokens)
    names = [token for token in dict.fromkeys(tokens) if token not in reasons]
    a, b = np.triu_indices(len(names), 1)
    cosines = np.eye(len(names))
    found = model.cosines([names[i] for i in a], [names[i] for i in b])
    cosines[a, b] = cosines[b, a] = found
    while len(names) > 2 and np.isnan(cosines).any():
        worst = int(np.isnan(cosines).sum(axis=0).argmax())
        names.pop(worst)
        cosines = np.delete(np.delete(cosines, worst, axis=0), worst, axis=1)
    if len(names) < 3:
        raise InputError(f"A map takes at least three tokens that {model.name} knows; it knows {len(names)}.")
    centred = cosines - cosines.mean(axis=0) - cosines.mean(axis=1, keepdims=True) + cosines.mean()
    values, vectors = np.linalg.eigh(centred)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    positive = np.maximum(values, 0)
    kept = float(positive[::-1][:2].sum() / positive.sum()) if positive.sum() > 0 else 0.0
    return pd.DataFrame({"token": names, "x": axes[:, 0], "y": axes[:, 1]}), kept
