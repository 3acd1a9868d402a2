"""What the package mteb writes of a task of semantic similarity: figures in result files, similarities in predictions.

A result file (`TaskResult`) has a model's figures of each split and subset, and no pairs. A file of predictions
(`NAME_predictions.json`) has the similarity of each pair, in the order of the task's rows, so that a model can be
evaluated from it like any other: `Predicted`.

Of a figure alone an interval follows from the number of items only, taken as independent of each other:

    tanh(artanh(r) ± 1.645·s),    s² = (1 + r²/2)/(n − 3) for Spearman's ρ,  1/(n − 3) for Pearson's r

Items that share tokens aren't independent, so that it is rather too narrow.

References: Bonett, Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman correlations,
Psychometrika 65; Muennighoff, Tazi, Magne, Reimers (2023), MTEB: massive text embedding benchmark, EACL. The files as
mteb 2.26 writes them (`TaskResult`, `AbsTask._save_task_predictions`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import atanh, isfinite, sqrt, tanh
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .. import metrics
from ..embeddings import EmbeddingInfo
from ..errors import InputError, UndefinedMetricError
from ..tables import Floats
from ..tabular.json_files import parse_json
from .token_intervals import LEVEL

META, PREDICTIONS, MODEL_FILE = "mteb_model_meta", "_predictions.json", "model_meta.json"
SPEARMAN = ("cosine_spearman", "spearman", "cos_sim_spearman")  # the names of one figure, the newest first
PEARSON = ("cosine_pearson", "pearson", "cos_sim_pearson")
SIMILARITIES = ("cosine_scores", "similarity_scores")  # of predictions
CLOSE = 1e-4  # two packages' figures of the same numbers
MOST_BYTES = 500 << 20


@dataclass(frozen=True)
class Reported:
    """The figures of a model on one split and subset of a task, as a result file has them; None where it lacks one."""

    model: str
    revision: str
    task: str
    split: str
    subset: str
    version: str
    spearman: float | None
    pearson: float | None


@dataclass(frozen=True, eq=False)
class PairSimilarities:
    """The similarities (n,) that a model gave the pairs of one split and subset of a task, in the order of its rows."""

    model: str
    revision: str
    task: str
    split: str
    subset: str
    similarities: Floats = field(repr=False)


def read_mteb(paths: Iterable[Path]) -> tuple[list[Reported], list[PairSimilarities]]:
    """The result files and predictions of some paths, in folders those at any depth.

    Raises `InputError` for a file that is neither, or a folder without any.
    """
    reported: list[Reported] = []
    predicted: list[PairSimilarities] = []
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        files = [file for file in files if file.name != MODEL_FILE] if path.is_dir() else files
        if not files:
            raise InputError(f"{path} holds no file of mteb. Name its folder of results, or of predictions.")
        for file in files:
            content = _parsed(file)
            if META in content or file.name.endswith(PREDICTIONS):
                predicted += _predictions(file, content)
            elif "task_name" in content and "scores" in content:
                reported += _reported(file, content)
            else:
                raise InputError(
                    f"{file} is neither a result file of mteb (task_name, scores) nor its predictions ({META})."
                )
    return reported, predicted


def _parsed(file: Path) -> dict[str, Any]:
    try:
        content = parse_json(file.read_bytes(), most=MOST_BYTES)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file} can't be read as JSON: {error}.") from error
    if not isinstance(content, dict):
        raise InputError(f"{file} is no file of mteb: it holds no object.")
    return content


def _reported(file: Path, content: Mapping[str, Any]) -> list[Reported]:
    model, revision = _model_of(file)
    version, task = str(content.get("mteb_version") or ""), str(content["task_name"])
    rows = []
    try:
        for split, subsets in content["scores"].items():
            for scores in subsets:
                figures = [_figure(scores, names) for names in (SPEARMAN, PEARSON)]
                if figures != [None, None]:
                    subset = str(scores.get("hf_subset", "default"))
                    rows.append(Reported(model, revision, task, str(split), subset, version, *figures))
    except (AttributeError, TypeError) as error:
        raise InputError(f"{file} is no result file of mteb: its scores can't be read ({error}).") from error
    if not rows:
        raise InputError(f"{file} has no Spearman or Pearson correlation: {task} is no task of semantic similarity.")
    return rows


def _model_of(file: Path) -> tuple[str, str]:
    """Name and revision of a result file's model: of model_meta.json beside it, else of its folders, NAME/REVISION."""
    meta = file.parent / MODEL_FILE
    if meta.is_file():
        about = _parsed(meta)
        if isinstance(about.get("name"), str):
            return about["name"], str(about.get("revision") or "")
    parents = file.absolute().parent
    return parents.parent.name.replace("__", "/"), parents.name


def _figure(scores: Mapping[str, Any], names: Sequence[str]) -> float | None:
    value = next((scores[name] for name in names if name in scores), None)
    return float(value) if isinstance(value, int | float) and isfinite(value) and -1 <= value <= 1 else None


def _predictions(file: Path, content: Mapping[str, Any]) -> list[PairSimilarities]:
    about = content.get(META)
    about = about if isinstance(about, dict) else {}
    model, revision = str(about.get("model_name") or file.stem), str(about.get("revision") or "")
    rows = []
    for subset, splits in content.items():
        if subset == META:
            continue
        for split, by_name in splits.items() if isinstance(splits, dict) else ():
            values = next(
                (by_name[name] for name in SIMILARITIES if isinstance(by_name, dict) and by_name.get(name)), None
            )
            if not isinstance(values, list) or not all(type(v) in (int, float) and isfinite(v) for v in values):
                raise InputError(
                    f"{file}: subset {subset!r}, split {split!r} has no list of similarities ({SIMILARITIES[0]}), one "
                    "finite number a pair. Only predictions of tasks of semantic similarity (STS) hold them."
                )
            task = file.name.removesuffix(PREDICTIONS)
            rows.append(PairSimilarities(model, revision, task, str(split), subset, np.array(values, dtype=np.float64)))
    if not rows:
        raise InputError(f"{file} holds no predictions.")
    return rows


class Predicted:
    """A model of which the predictions of a dataset's pairs are known, and nothing else."""

    def __init__(self, name: str, found: PairSimilarities, values: Mapping[tuple[str, str], float]) -> None:
        self.name = name
        made = (("model", found.model), ("revision", found.revision or "not said"), ("similarities", "from mteb"))
        digest = hashlib.sha256(found.similarities.tobytes()).hexdigest()
        self.info = EmbeddingInfo("mteb predictions", 0, 0, digest, name, 0, kind="similarities", recipe=made)
        self._values = values
        self._tokens = {token for pair in values for token in pair}

    def cosines(self, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> np.ndarray:
        """The similarity of each pair, NaN for one that isn't known."""
        pairs = zip(a_tokens, b_tokens, strict=True)
        return np.array([self._values.get(pair, np.nan) for pair in pairs], dtype=np.float64)

    def reasons(self, tokens: Iterable[str]) -> dict[str, str]:
        """Why it has nothing for a token."""
        return {token: "not among the predictions" for token in tokens if token not in self._tokens}

    def found_as(self, tokens: Sequence[str]) -> list[str]:
        """Each token as it is."""
        return list(tokens)


def predicted_model(
    found: PairSimilarities, dataset: pd.DataFrame, reported: Sequence[Reported], name: str = ""
) -> tuple[Predicted, str]:
    """The model of some predictions on a dataset, whose rows stand in the task's order; and a note on that order.

    dataset : table `DATASET`; reported : result files, of which one of the same model and task shows whether the order
    is right: its Spearman's ρ is taken again from predictions and scores.

    Raises `InputError` where there are as many predictions neither as rows nor as rows with a score, or where the
    order is another.
    """
    name = name or found.model
    scores = dataset["score"].to_numpy(dtype=np.float64)
    scored = np.flatnonzero(~np.isnan(scores))
    n = len(found.similarities)
    if n not in (len(scores), len(scored)):
        raise InputError(
            f"{name}: {n:,} predictions of {found.task}, and {len(scores):,} items in the dataset, {len(scored):,} of "
            "them with a score. The dataset must be the task's own, its rows in the same order."
        )
    rows = np.arange(len(scores)) if n == len(scores) else scored
    of_rows = dict(zip(rows.tolist(), found.similarities.tolist(), strict=True))
    values = np.array([of_rows[row] for row in scored.tolist()])
    stated = next((r.spearman for r in reported if _same(r, found) and r.spearman is not None), None)
    note = f"{name}: predictions taken in the order of the dataset's rows; no result file says whether that is right."
    if stated is not None:
        try:
            ours = metrics.spearman(scores[scored], values)
        except UndefinedMetricError:
            ours = np.nan
        if not abs(ours - stated) <= CLOSE:
            raise InputError(
                f"{name}: Spearman's ρ of predictions and scores is {ours:.4f} here and {stated:.4f} in its result "
                "file, so the dataset's rows aren't those of the task, in its order. Give the dataset that the task "
                "was made of."
            )
        note = f"{name}: predictions in the order of the rows; Spearman's ρ is that of its result file, {stated:.4f}."
    a, b = (dataset[column].tolist() for column in ("token_a", "token_b"))
    pairs = {(a[row], b[row]): value for row, value in of_rows.items()}
    return Predicted(name, found, pairs), note


def _same(one: Reported, other: PairSimilarities) -> bool:
    return (one.model, one.task, one.split, one.subset) == (other.model, other.task, other.split, other.subset)


def interval_from_n(figure: float, n: int, *, spearman: bool) -> tuple[float, float] | None:
    """The module's interval of a correlation of n independent items; None for fewer than five, or at the ends.

    >>> [round(end, 3) for end in interval_from_n(0.5, 103, spearman=False)]
    [0.367, 0.613]
    >>> [round(end, 3) for end in interval_from_n(0.5, 103, spearman=True)]
    [0.358, 0.619]
    """
    if n < 5 or not -1 < figure < 1:
        return None
    error = sqrt((1 + figure**2 / 2 if spearman else 1) / (n - 3))
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    return tanh(atanh(figure) - reach), tanh(atanh(figure) + reach)
