"""How well models rank the items of a dataset: figures, intervals, differences, reasons.

evaluate(dataset, model)                 one model
compare(dataset, models, policy=…)       several, with a choice of what is done about words that one lacks
"""

from .compare import compare, evaluate, over, tokens_of
from .figures import NAMES, SIGNS, TOP_K, correlations, pearson, precision_at
from .models import Encoder, Model, encoded, given, sentence_transformer, words_of
from .results import (
    FEW_ITEMS,
    NOTIONS,
    POLICIES,
    WHY_NO_INTERVALS,
    Correlations,
    Evaluation,
    FigureEstimate,
    ModelComparison,
    model_scores,
)

__all__ = [
    "FEW_ITEMS",
    "NAMES",
    "NOTIONS",
    "POLICIES",
    "SIGNS",
    "TOP_K",
    "WHY_NO_INTERVALS",
    "ModelComparison",
    "Correlations",
    "Encoder",
    "Evaluation",
    "FigureEstimate",
    "Model",
    "compare",
    "correlations",
    "encoded",
    "evaluate",
    "given",
    "model_scores",
    "over",
    "pearson",
    "precision_at",
    "sentence_transformer",
    "tokens_of",
    "words_of",
]
