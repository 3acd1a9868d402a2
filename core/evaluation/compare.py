"""One embedding, or several compared fairly, evaluated on a dataset by how well they rank its items, above all the top.

The model's score of an item is |cos| of its two tokens for a dataset of relatedness (antonyms are related) and cos for
one of similarity. Items with a token that the model lacks are left out and counted: a figure over part of the dataset
says nothing against one over all of it. What is done about them is a choice (`results.POLICIES`).

Tokens that an embedding proposed favour that embedding when it is evaluated (§2.2). A dataset says in
`attrs["tokens_proposed_by"]` which tokens are an embedding's own proposals:

    [{"name": …, "source": file name, "sha256": …, "content_hash": …, "tokens": [{"area": …, "token": …}, …]}, …]

Reference: Lombardo et al. (2020), EMNLP, sections 2.2, 2.6 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import metrics
from ..embeddings import EmbeddingInfo
from ..errors import InputError, Issue
from ..tables import DATASET
from .figures import NAMES, TOP_K, correlations
from .models import Model, with_parts
from .results import NOTIONS, POLICIES, Correlations, Evaluation, FigureEstimate, ModelComparison, model_scores

KEY = "tokens_proposed_by"
Token = tuple[str, str]  # area, token


def proposed_by(dataset: pd.DataFrame, info: EmbeddingInfo) -> tuple[Token, ...]:
    """The tokens of a dataset that an embedding proposed, as (area, token): none where the dataset doesn't say.

    It is the same embedding if its content or its file is the same, or if the file has the same name: a model of
    another version would have proposed much the same. Raises `InputError` for a description that can't be read.
    """
    try:
        return tuple(
            (str(token["area"]), str(token["token"]))
            for entry in dataset.attrs.get(KEY) or ()
            if _is_same(entry, info)
            for token in entry["tokens"]
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"The dataset's description doesn't say which tokens were proposed by whom: {KEY} must be a list of "
            "embeddings with their tokens. Export the dataset again."
        ) from error


def _is_same(entry: Mapping[str, Any], info: EmbeddingInfo) -> bool:
    return (
        info.identity == entry.get("content_hash")
        or info.identity[:16] == entry.get("embedding")
        or info.sha256 == entry.get("sha256")
        or info.source == entry.get("source")
    )


def items_with(pairs: pd.DataFrame, tokens: Iterable[Token]) -> NDArray[np.bool_]:
    """Which items (rows with area, token_a, token_b) hold one of the tokens; an item without an area, in any area.

    >>> pairs = pd.DataFrame({"area": ["x", "y"], "token_a": ["a", "a"], "token_b": ["b", "b"]})
    >>> items_with(pairs, [("x", "a")]).tolist()
    [True, False]
    """
    if not (tokens := list(tokens)):
        return np.zeros(len(pairs), dtype=bool)
    wanted = set(tokens) | {("", token) for _, token in tokens}
    rows = pairs[["area", "token_a", "token_b"]].itertuples(index=False, name=None)
    return np.array([(area, a) in wanted or (area, b) in wanted for area, a, b in rows], dtype=bool)


MANY = 1_000_000  # items beyond which Kendall's figures are taken under the chosen notion only
NO_PEARSON = FigureEstimate(None, reason="Items that the model lacks have a rank under this policy, but no score.")
_SMALL = 1e-3  # similarities below it are on another scale than cosines


def evaluate(
    dataset: pd.DataFrame, embedding: Model, *, n0: float = 2.0, notion: str | None = None, top: int = TOP_K
) -> Evaluation:
    """Compare an embedding's ranking of the items with the dataset's.

    Parameters
    ----------
    dataset : table `DATASET`; of its columns token_a, token_b and score are needed (higher = more related), and
        area is taken as one area where it is absent. Items without a score (NaN) are left out and counted.
    embedding : one that holds the dataset's tokens, such as `load(path, tokens=tokens_of(dataset))`, or another
        `Model`.
    n0 : offset of the weights, above −1 (`metrics.first_rank_share`).
    notion : "relatedness" (|cos|) or "similarity" (cos); None takes the dataset's, `dataset.attrs["notion"]`,
        and relatedness if it doesn't say.
    top : the k of the precision among the top k, from 1 on.

    A figure that is undefined (fewer than two covered items, or all scores equal) has no estimate, and a
    reason. Raises `InputError` for a table, notion, n0 or top that can't be.
    """
    dataset = _checked(dataset)
    notion = _notion(dataset, notion)
    scored = dataset[dataset["score"].notna()]
    tokens, (tokens_a, tokens_b) = _shared_tokens(scored)
    cosines = embedding.cosines(tokens_a, tokens_b)
    proposed = proposed_by(dataset, embedding.info)
    stored = zip(tokens, embedding.found_as(tokens), strict=True)
    evaluation = _of_cosines(scored, cosines, notion, n0=n0, apart=ranked_apart(dataset), top=top, proposed=proposed)
    return replace(
        evaluation,
        model=embedding.name,
        missing=embedding.reasons(tokens),
        n_unscored=len(dataset) - len(scored),
        notes=embedding.info.notes,
        found_as={token: name for token, name in stored if name not in ("", token)},
    )


def _of_cosines(
    scored: pd.DataFrame,
    cosines: np.ndarray,
    notion: str,
    *,
    n0: float,
    apart: bool,
    top: int,
    proposed: tuple[tuple[str, str], ...] = (),
) -> Evaluation:
    """The evaluation of a model's `cosines` (n,) of the items; it has no name yet."""
    scores = scored["score"].to_numpy(dtype=np.float64)
    values, other = (model_scores(cosines, each) for each in (notion, NOTIONS[1 - NOTIONS.index(notion)]))
    areas = scored["area"].to_numpy()
    of_areas = areas if apart else None
    overall = correlations(scores, values, n0=n0, apart=of_areas, top=top)
    names_of_areas = list(dict.fromkeys(areas))
    if len(names_of_areas) == 1 and not apart:
        by_area = {name: overall for name in names_of_areas if name}
    else:
        parts = [(name, areas == name) for name in names_of_areas]
        by_area = {name: correlations(scores[here], values[here], n0=n0, top=top) for name, here in parts}
    # Where no cosine is negative both notions rank alike.
    other_notion = overall
    if (cosines < 0).any():
        names = tuple(name for name in NAMES if len(scores) <= MANY or name not in ("tau_w", "tau"))
        other_notion = correlations(scores, other, n0=n0, apart=of_areas, top=top, names=names)
    without = None
    if proposed:
        free = ~items_with(scored, proposed)
        within = areas[free] if apart else None
        without = correlations(scores[free], values[free], n0=n0, apart=within, top=top)
    return Evaluation(
        model="",
        notion=notion,
        n0=float(n0),
        overall=overall,
        areas=by_area,
        other_notion=other_notion,
        pairs=_pairs(scored, scores, cosines, values, apart=apart),
        proposed=proposed,
        without_proposed=without,
    )


def compare(
    dataset: pd.DataFrame,
    embeddings: Iterable[Model],
    *,
    n0: float = 2.0,
    notion: str | None = None,
    policy: str = "common",
    top: int = TOP_K,
) -> ModelComparison:
    """`evaluate` several models; also over the items that all of them cover, where they can be ranked fairly.

    `embeddings` may be a generator: only one of them is needed at a time. `policy`, one of `results.POLICIES`, says
    what is done about tokens that a model lacks; `ModelComparison.figures` has the figures by it. For "parts" an
    embedding loaded for chosen tokens must hold their parts too (`words_of`).
    """
    if policy not in POLICIES:
        raise InputError(f"The policy for missing words is {', '.join(POLICIES)}; found {policy!r}.")
    dataset = _checked(dataset)
    tokens = tokens_of(dataset)
    models = (with_parts(embedding, tokens) if policy == "parts" else embedding for embedding in embeddings)
    evaluations = tuple(evaluate(dataset, model, n0=n0, notion=notion, top=top) for model in models)
    if not evaluations:
        raise InputError("No model to compare. Name at least one.")
    covered = np.logical_and.reduce([e.pairs["cosine"].notna().to_numpy() for e in evaluations])
    apart, n_common = ranked_apart(dataset), int(covered.sum())
    if policy == "lowest":
        evaluations = tuple(_with_lowest(e, apart) for e in evaluations)
        common = tuple(e.overall for e in evaluations)
    else:
        common = tuple(_over_common(e, covered, n_common, apart) for e in evaluations)
    proposed = [token for e in evaluations for token in e.proposed]
    without: tuple[Correlations, ...] = ()
    if proposed:
        free = ~items_with(evaluations[0].pairs, proposed)
        without = tuple(over(e, free, apart=apart) for e in evaluations)
    return ModelComparison(evaluations, common, n_common, without, policy, apart)


def _over_common(evaluation: Evaluation, covered: np.ndarray, n_common: int, apart: bool) -> Correlations:
    if evaluation.overall.n_covered == n_common:
        return replace(evaluation.overall, n_items=n_common)  # it covers no more than all do, so its figures are these
    return over(evaluation, covered, apart=apart)


def _with_lowest(evaluation: Evaluation, apart: bool) -> Evaluation:
    """The evaluation with the lowest possible score for the items that the model lacks; coverage stays as it is."""
    pairs = evaluation.pairs
    cosines = pairs["cosine"].to_numpy()
    lacking = np.isnan(cosines)
    if not lacking.any():
        return evaluation
    lowest = 0.0 if evaluation.notion == "relatedness" else _lowest(cosines[~lacking])
    filled = _of_cosines(
        pairs,
        np.where(lacking, lowest, cosines),
        evaluation.notion,
        n0=evaluation.n0,
        apart=apart,
        top=evaluation.overall.top,
        proposed=evaluation.proposed,
    )
    areas = pairs["area"].to_numpy()
    return replace(
        evaluation,
        overall=_counted(filled.overall, lacking),
        areas={name: _counted(figures, lacking[areas == name]) for name, figures in filled.areas.items()},
        other_notion=_counted(filled.other_notion, lacking),
        pairs=filled.pairs,
    )


def _lowest(similarities: np.ndarray) -> float:
    """What no similarity is below: −1 for cosines; what somebody gives may lie below it, or be far smaller."""
    largest = float(np.abs(similarities).max(initial=0.0))
    # Beside a −1, such small ones would be ties (`metrics.rounded_scores`).
    return -largest if 0 < largest < _SMALL else float(similarities.min(initial=-1.0))


def _counted(figures: Correlations, lacking: np.ndarray) -> Correlations:
    """Figures over all items with what the model really covers."""
    n_lowest = int(lacking.sum())
    return replace(
        figures,
        n_covered=figures.n_items - n_lowest,
        n_lowest=n_lowest,
        pearson=NO_PEARSON if n_lowest else figures.pearson,
    )


def over(evaluation: Evaluation, items: np.ndarray, *, apart: bool = False) -> Correlations:
    """An evaluation's figures over some of the items (n,), True for those that take part.

    Items that count as the lowest (policy "lowest") count as covered here.
    """
    pairs = evaluation.pairs[items]
    values = model_scores(pairs["cosine"].to_numpy(), evaluation.notion)
    areas = pairs["area"].to_numpy() if apart else None
    return correlations(
        pairs["score"].to_numpy(), values, n0=evaluation.n0, apart=areas, top=evaluation.overall.top or TOP_K
    )


def tokens_of(dataset: pd.DataFrame) -> list[str]:
    """The distinct tokens of a dataset, in order of appearance: what an embedding must be loaded for."""
    dataset = _checked(dataset)
    return _shared_tokens(dataset)[0]


def _shared_tokens(dataset: pd.DataFrame) -> tuple[list[str], tuple[list[str], list[str]]]:
    """The distinct tokens in order of appearance, first all of column a; and both columns.

    Each token is one object however often it stands there: of millions of items, hashing equal texts anew took most of
    the time.
    """
    codes, names = pd.factorize(pd.concat([dataset["token_a"], dataset["token_b"]], ignore_index=True))
    texts = np.array(names.tolist(), dtype=object)
    columns = np.split(texts[codes], 2)
    return texts.tolist(), (columns[0].tolist(), columns[1].tolist())


def _checked(dataset: pd.DataFrame) -> pd.DataFrame:
    """The dataset with an area and finite scores (or NaN)."""
    if "area" not in dataset.columns:
        attrs = dataset.attrs
        dataset = dataset.assign(area=pd.Series("", index=dataset.index, dtype="str"))
        dataset.attrs = attrs
    DATASET.check(dataset)
    infinite = np.flatnonzero(np.isinf(dataset["score"].to_numpy(dtype=np.float64)))
    if len(infinite):
        # The row that a spreadsheet shows, whose first row is the header.
        issues = [Issue("the score is infinite", row=int(i) + 2, column="score") for i in infinite]
        raise InputError("Scores must be finite numbers; correct these or leave them empty.", issues)
    return dataset


def _notion(dataset: pd.DataFrame, notion: str | None) -> str:
    chosen = notion or dataset.attrs.get("notion") or NOTIONS[0]
    if chosen not in NOTIONS:
        raise InputError(f"The notion is {' or '.join(NOTIONS)}, found {chosen!r}.")
    return str(chosen)


def ranked_apart(dataset: pd.DataFrame) -> bool:
    """Whether each area of the dataset has a ranking of its own."""
    return dataset.attrs.get("ranking") == "area"


def _pairs(
    scored: pd.DataFrame, scores: np.ndarray, cosines: np.ndarray, values: np.ndarray, *, apart: bool
) -> pd.DataFrame:
    """The table `Evaluation.pairs`; ranks within each area where the areas are ranked apart."""
    covered = ~np.isnan(values)
    ranks, model_ranks = np.full(len(scores), np.nan), np.full(len(scores), np.nan)
    areas = scored["area"].to_numpy() if apart else np.zeros(len(scores))
    for area in dict.fromkeys(areas[covered]):
        here = covered & (areas == area)
        ranks[here] = metrics.average_ranks(scores[here])
        model_ranks[here] = metrics.average_ranks(values[here])
    pairs = scored[["area", "token_a", "token_b"]].reset_index(drop=True)
    return pairs.assign(score=scores, rank=ranks, cosine=cosines, model_rank=model_ranks, gap=model_ranks - ranks)
