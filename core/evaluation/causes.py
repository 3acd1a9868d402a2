"""Diagnostics of why a model disagrees with people: hubs, distances, parts of the items, and other kinds of cosine.

They show tokens that the model puts near everything, how it lays out an area, and its figures over parts of the items:
those with frequent or rare tokens, the related or the unrelated. Other ways to take cosines of the same vectors are
shown beside the model with their figures, never silently applied. Means and directions are those of a sample of the
vocabulary, or of the dataset's tokens where that is all there is.

References: Mu, Viswanath (2018), All-but-the-top: simple and effective postprocessing for word representations, ICLR;
Conneau, Lample, Ranzato, Denoyer, Jégou (2018), Word translation without parallel data, ICLR (CSLS); Radovanović,
Nanopoulos, Ivanović (2010), Hubs in space, JMLR 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import metrics
from ..embeddings import Embedding
from ..errors import InputError
from ..tables import Floats
from ..tokens.hubness import sample_words, skewness
from .compare import over
from .figures import correlations, in_top
from .models import Model, given
from .results import Correlations, Evaluation, model_scores

RARE, NOT_RARE = "with a rare token", "without a rare token"
UNKNOWN = "a frequency isn't known"
THIRDS = ("least frequent third", "middle third", "most frequent third")
RELATED = ("first tenth by people", "next tenth to half", "second half")
ORDER = (*RELATED, NOT_RARE, RARE, *THIRDS, UNKNOWN)
_CUTS = (0.1, 0.5)


def by_rarity(pairs: pd.DataFrame, rare: Mapping[str, bool | None]) -> NDArray[np.object_]:
    """The band of each item by whether one of its tokens is rare, (n,); None, or no entry, is unknown.

    One rare token is enough; an item that has none, but one that isn't known, is unknown.
    """
    known = [(rare.get(a), rare.get(b)) for a, b in zip(pairs["token_a"], pairs["token_b"], strict=True)]
    bands = [RARE if True in both else UNKNOWN if None in both else NOT_RARE for both in known]
    return np.array(bands, dtype=object)


def by_frequency(pairs: pd.DataFrame, frequency: Mapping[str, float]) -> NDArray[np.object_]:
    """The band of each item by the frequency of its rarer token, in thirds of the items whose frequencies are known.

    Equal frequencies fall into the same band, the lower one.
    """
    a, b = (pairs[side].map(frequency).to_numpy(dtype=np.float64) for side in ("token_a", "token_b"))
    rarer = np.minimum(a, b)  # NaN where one isn't known
    known = rarer[~np.isnan(rarer)]
    bands = np.full(len(pairs), UNKNOWN, dtype=object)
    if len(known):
        cuts = np.quantile(known, [1 / 3, 2 / 3], method="lower")
        place = np.searchsorted(cuts, rarer, side="left")
        for number, name in enumerate(THIRDS):
            bands[(place == number) & ~np.isnan(rarer)] = name
    return bands


def by_relatedness(scores: np.ndarray) -> NDArray[np.object_]:
    """The band of each item by its rank among people's scores (n,): the first tenth, up to the half, the rest.

    Equal scores fall into the same band, the higher one.
    """
    ordered = np.sort(-scores)
    places = np.searchsorted(ordered, -scores, side="left") / max(len(scores), 1)
    return np.array(RELATED, dtype=object)[np.searchsorted(_CUTS, places, side="right")]


def over_bands(
    evaluation: Evaluation, bands: NDArray[np.object_], *, items: NDArray[np.bool_] | None = None, apart: bool = False
) -> dict[str, Correlations]:
    """A model's figures over each band that has items; `items` (n,) says which of all items take part.

    Ranks are taken within a band. A band is narrower than the whole, so that its figures are lower: compare models
    within a band, not bands of a model.
    """
    inside = np.ones(len(bands), dtype=bool) if items is None else items
    named = sorted(set(bands[inside]), key=ORDER.index)
    return {name: over(evaluation, inside & (bands == name), apart=apart) for name in named}


N_SAMPLED = 20_000  # words of the vocabulary behind means and directions
N_QUERIES = 2_000  # of them, beside the tokens, behind CSLS
NEIGHBOURS = 10

PLAIN, CENTRED, UNIT_CENTRED, ALL_BUT_TOP, CSLS = (
    "as it is",
    "mean taken away",
    "unit length, then mean taken away",
    "all but the top",
    "CSLS",
)
WHAT: Mapping[str, str] = {
    PLAIN: "Cosines of the vectors as they are. Their lengths make no difference.",
    CENTRED: "The mean vector is taken from all vectors first.",
    UNIT_CENTRED: "Vectors are brought to length 1, then their mean is taken away.",
    ALL_BUT_TOP: (
        "The mean and the strongest directions, a hundredth of the dimensions, are taken away (Mu & Viswanath 2018)."
    ),
    CSLS: "Twice the cosine less how near each token's ten nearest are: a cure for hubs (Conneau et al. 2018).",
}


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to take cosines: what it makes of each item, (n,), NaN where a token is missing, and the figures."""

    name: str
    values: Floats
    figures: Correlations


def variants(
    evaluation: Evaluation, embedding: Embedding, *, apart: bool = False, rng: np.random.Generator
) -> tuple[Variant, ...]:
    """The model of an evaluation in all ways, the plain one first, over its own items.

    `embedding` is the one that was evaluated; a sample of its vocabulary is drawn with `rng` (of one loaded for chosen
    tokens, these are all there is). Raises `InputError` for similarities, which have no vectors.
    """
    if embedding.kind != "vectors":
        raise InputError(f"{embedding.name} has no vectors, only similarities of pairs: there is nothing to change.")
    pairs, notion = evaluation.pairs, evaluation.notion
    a, b = pairs["token_a"].tolist(), pairs["token_b"].tolist()
    tokens = list(dict.fromkeys([*a, *b]))
    vectors = embedding.vectors(tokens).astype(np.float64)
    words = sample_words(embedding.vocabulary, N_SAMPLED, [], rng=rng)
    sample = embedding.vectors(words).astype(np.float64)
    sample = sample[np.isfinite(sample).all(axis=1)]
    changed = {CENTRED: centred(vectors, sample), UNIT_CENTRED: centred(_units(vectors), _units(sample))}
    changed[ALL_BUT_TOP] = all_but_the_top(vectors, sample)
    values = {PLAIN: model_scores(pairs["cosine"].to_numpy(), notion)}
    for name, variant in changed.items():
        values[name] = model_scores(given(tokens, variant, name=name).cosines(a, b), notion)
    queries = sample[np.sort(rng.permutation(len(sample))[:N_QUERIES])]
    values[CSLS] = csls(values[PLAIN], a, b, tokens, vectors, queries, notion)
    scores, areas = pairs["score"].to_numpy(), pairs["area"].to_numpy() if apart else None
    top = max(evaluation.overall.top, 1)
    return tuple(
        Variant(name, value, correlations(scores, value, n0=evaluation.n0, apart=areas, top=top))
        for name, value in values.items()
    )


def _units(vectors: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def centred(vectors: Floats, sample: Floats) -> Floats:
    """Vectors (n × d) less the mean of a sample (m × d)."""
    return vectors - sample.mean(axis=0)


def all_but_the_top(vectors: Floats, sample: Floats, directions: int | None = None) -> Floats:
    """Vectors (n × d) less the mean of a sample (m × d) and what lies along its `directions` strongest components.

    `directions` is d/100, at least 1, as Mu and Viswanath advise, unless it is given.
    """
    n = max(1, round(vectors.shape[1] / 100)) if directions is None else directions
    mean = sample.mean(axis=0)
    around = sample - mean
    _, axes = np.linalg.eigh(around.T @ around)
    strongest = axes[:, ::-1][:, :n]
    moved = vectors - mean
    return np.asarray(moved - (moved @ strongest) @ strongest.T)


def csls(
    values: Floats,
    a: Sequence[str],
    b: Sequence[str],
    tokens: Sequence[str],
    vectors: Floats,
    queries: Floats,
    notion: str,
) -> Floats:
    """2·s(a, b) − r(a) − r(b) for each item, r the mean of s to a token's k nearest among the tokens and `queries`.

    s is cos or |cos|, as the notion has it; `values` (n,) are those of the items, `vectors` (n_tokens × d) may have
    rows of NaN.
    """
    units = _units(vectors)
    usable = np.isfinite(units).all(axis=1)
    others = np.concatenate([units[usable], _units(queries)])
    near = model_scores(units[usable] @ others.T, notion)
    near[np.arange(len(near)), np.arange(len(near))] = -np.inf
    # A token drawn as a query too would be its own nearest.
    near[:, usable.sum() :][near[:, usable.sum() :] >= 1 - 1e-9] = -np.inf
    n_near = min(NEIGHBOURS, near.shape[1] - 1)
    r = np.full(len(tokens), np.nan)
    if n_near > 0:
        r[usable] = np.partition(near, -n_near, axis=1)[:, -n_near:].mean(axis=1)
    at = pd.Series(r, index=list(tokens))
    scaled = 2 * values - at.loc[list(a)].to_numpy() - at.loc[list(b)].to_numpy()
    return metrics.rounded_scores(scaled, largest=1)


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
    share = float(positive[::-1][:2].sum() / positive.sum()) if positive.sum() > 0 else 0.0
    return pd.DataFrame({"token": names, "x": axes[:, 0], "y": axes[:, 1]}), share
