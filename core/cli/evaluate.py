"""`python -m core evaluate`: word embeddings ranked by a dataset."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .bounds import bounds_of, bounds_text, held_against
from .needed import needed_lines, simulated
from .shared import text_table, with_json, write_json

if TYPE_CHECKING:
    from ..embeddings import Embedding
    from ..evaluation import Comparison, Correlations, Evaluation, Figure, Model

_LABELS = {
    "rho_w": "ρ_w",
    "tau_w": "τ_w",
    "rho": "ρ",
    "tau": "τ",
    "pearson": "Pearson",
    "precision": "top k",
}
_METRICS = tuple(_LABELS)
_SHOWN = _METRICS[:4]
_POLICIES = ("common", "own", "lowest", "parts")
_FAVOURED = "such tokens favour the model that chose them, §2.2"
_SPELLINGS = {
    "substring": "longest common substring",
    "jaro-winkler": "Jaro–Winkler",
    "ngrams": "character n-grams",
}
_MULTIWORD = {"as-is": "as they are", "underscore": "underscore", "mean": "mean of parts"}


@click.command("evaluate")
@click.argument("dataset", type=click.Path())
@click.argument("models", metavar="[MODEL...]", nargs=-1, type=click.Path())
@click.option("--n0", type=float, default=2.0, show_default=True, help="Offset of the weights; less: more at the top.")
@click.option(
    "--notion",
    type=click.Choice(["relatedness", "similarity"]),
    help="relatedness ranks by |cos|, similarity by cos; default: what the dataset says, else relatedness.",
)
@with_json
@click.option(
    "--fail-under",
    multiple=True,
    metavar="FIGURE=BOUND",
    help="Exit with 1 where a model's figure is under its bound or undefined, such as rho_w=0.6. Repeatable.",
)
@click.option("--trust", is_flag=True, help="Open gensim's own files, which are pickles and could run a program.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of the words in the models, such as latin-1.")
@click.option("--vocabulary", type=click.Path(), help="The list of words of a NumPy array; else one beside it.")
@click.option("--lower", is_flag=True, help="Tokens that a model lacks are tried in lower case too.")
@click.option(
    "--multiword",
    type=click.Choice(list(_MULTIWORD)),
    default="as-is",
    show_default=True,
    help="Tokens of several words: as-is (or else with _ for spaces), with _ only, or the mean of their parts.",
)
@click.option(
    "--policy",
    type=click.Choice(_POLICIES),
    default="common",
    show_default=True,
    help="Words that a model lacks: only the items that all cover, each model's own, ranked lowest, mean of parts.",
)
@click.option("--metric", "metrics", multiple=True, type=click.Choice(_METRICS), help="Figures to show. Repeatable.")
@click.option("--top", type=int, default=20, show_default=True, help="The k of the precision among the top k.")
@click.option("--tokens", "with_tokens", is_flag=True, help="With 90 % intervals over tokens, resampled by --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the resampled tokens and of simulations.")
@click.option(
    "--needed",
    is_flag=True,
    help="Simulate how many votes and tokens tell the first two models apart with 80 %, by the first --metric.",
)
@click.option("--votes", type=int, default=0, help="With --needed: where its search begins; default: 20 an item.")
@click.option("--most", type=int, default=0, help="With --needed: the most votes tried; default: 16 times --votes.")
@click.option("--voters-like", metavar="S1:S2,E1:E2", help="With --needed: ranges of σ* and ε; default: the paper's.")
@click.option(
    "--encoder", "encoders", multiple=True, type=click.Path(), help="Folder of a sentence encoder. Repeatable."
)
@click.option(
    "--spelling",
    "spellings",
    multiple=True,
    type=click.Choice(list(_SPELLINGS)),
    help="A similarity of spellings as one more model, which knows nothing of meaning. Repeatable.",
)
def evaluate_command(
    dataset: str,
    models: tuple[str, ...],
    n0: float,
    notion: str | None,
    fail_under: tuple[str, ...],
    trust: bool,
    encoding: str,
    vocabulary: str | None,
    lower: bool,
    multiword: str,
    policy: str,
    metrics: tuple[str, ...],
    top: int,
    with_tokens: bool,
    seed: int,
    needed: bool,
    votes: int,
    most: int,
    voters_like: str | None,
    encoders: tuple[str, ...],
    spellings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Rank word embeddings (MODEL, any known format) by a DATASET file."""
    from ..dataset import read_dataset
    from ..embeddings import LookUp, as_mode, load
    from ..encoders import open_encoder
    from ..evaluation import compare, encoded, tokens_of, words_of
    from ..evaluation.baselines import Spelling

    if not models and not encoders and not spellings:
        raise InputError("Name a MODEL, an encoder's folder with --encoder, or a --spelling.")
    bounds = bounds_of(fail_under)
    table = read_dataset(dataset)
    tokens, notes = tokens_of(table), [str(note) for note in table.attrs.get("notes", ())]
    look_up = LookUp(lower, as_mode(_MULTIWORD[multiword]))
    options: dict[str, Any] = {"trusted": trust, "encoding": encoding, "vocabulary": vocabulary, "look_up": look_up}
    wanted = words_of(tokens) if policy == "parts" else tokens
    loaded = (load(model, tokens=wanted, **options) for model in models)
    by_encoders = (encoded(open_encoder(folder, trusted=trust), tokens, name=folder) for folder in encoders)
    by_letters = (Spelling(_SPELLINGS[name]) for name in spellings)
    every: Iterator[Model] = chain(_with_options(loaded), by_encoders, by_letters)
    comparison = compare(table, every, n0=n0, notion=notion, policy=policy, top=top)
    differences: list[dict[str, Any]] = []
    if with_tokens:
        comparison, differences = _over_tokens(comparison, seed)
    models = (*models, *encoders, *spellings)
    told = _evaluation_json(models, comparison)
    if differences:
        told["token_differences"] = differences
    if needed:
        told["needed"] = simulated(comparison, (metrics or _SHOWN)[0], seed, votes, most, voters_like)
    held = held_against(bounds, told["models"])
    if as_json:
        write_json({"dataset": dataset, "notes": notes, **told, **({"bounds": held} if held else {})})
    else:
        parts = [_evaluation_text(models, comparison, metrics or _SHOWN), *(f"{dataset}: {note}" for note in notes)]
        parts += needed_lines(told["needed"]) if needed else []
        click.echo("\n\n".join([*parts, *([bounds_text(held)] if held else [])]))
    if not all(result["passed"] for result in held):
        sys.exit(1)


def _over_tokens(comparison: Comparison, seed: int) -> tuple[Comparison, list[dict[str, Any]]]:
    """The comparison with intervals over tokens, and the difference of every two models in each figure."""
    from dataclasses import asdict

    from numpy.random import default_rng

    from ..evaluation.differences import by_tokens
    from ..evaluation.tokens import with_token_intervals

    found, draws = with_token_intervals(comparison, rng=default_rng(seed))
    told = [
        {"figure": figure, **asdict(pair), "apart": pair.is_apart}
        for figure in _METRICS
        for pair in by_tokens(found.names, draws, figure)
    ]
    return found, told


def _with_options(loaded: Iterator[Embedding]) -> Iterator[Embedding]:
    """The models; what one lacks is told with the option that gives it."""
    from ..embeddings import EncodingError, TrustError, VocabularyError

    try:
        yield from loaded
    except TrustError as error:
        raise InputError(f"{error} On the command line: --trust.") from error
    except EncodingError as error:
        raise InputError(f"{error} On the command line: --encoding {error.suggested}.") from error
    except VocabularyError as error:
        raise InputError(f"{error} On the command line: --vocabulary FILE.") from error


def _figures_json(result: Correlations) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "n_items": result.n_items,
        "n_covered": result.n_covered,
        "coverage": result.coverage,
        "remark": result.remark,
        **({"n_lowest": result.n_lowest} if result.n_lowest else {}),
    }
    for name in _METRICS:
        figure = getattr(result, name)
        figures[name] = {"estimate": figure.estimate, "lower": figure.lower, "upper": figure.upper}
        if figure.token_lower is not None:
            figures[name]["tokens"] = {"lower": figure.token_lower, "upper": figure.token_upper}
        if figure.estimate is None:
            figures[name]["why_undefined"] = figure.reason
    return figures


def _evaluation_json(models: Sequence[str], comparison: Comparison) -> dict[str, Any]:
    from ..evaluation import WHY_NO_INTERVALS

    rows: list[dict[str, Any]] = []
    for model, evaluation in zip(models, comparison.evaluations, strict=True):
        overall = {**_figures_json(evaluation.overall), "missing": dict(evaluation.missing), "notes": evaluation.notes}
        overall["other_notion"] = _figures_json(evaluation.other_notion)
        overall["found_as"] = dict(evaluation.found_as)
        overall["proposed_tokens"] = [{"area": area, "token": token} for area, token in evaluation.proposed]
        rows.append({"model": model, "area": None, "notion": evaluation.notion, **overall})
        for area, result in evaluation.areas.items():
            rows.append({"model": model, "area": area, "notion": evaluation.notion, **_figures_json(result)})
    common = [
        {"model": model, **_figures_json(result)} for model, result in zip(models, comparison.common, strict=True)
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


def _cell(figure: Figure) -> str:
    if figure.estimate is None:
        return "–"
    if figure.token_lower is None or figure.token_upper is None:
        return f"{figure.estimate:.4f}"
    return f"{figure.estimate:.4f} ({figure.token_lower:.2f} to {figure.token_upper:.2f})"


def _evaluation_text(models: Sequence[str], comparison: Comparison, metrics: Sequence[str] = _SHOWN) -> str:
    """Tables for people: overall, over the common items where coverage differs, and by area."""
    header, first = ("model", "covered", *(_LABELS[metric] for metric in metrics)), comparison.evaluations[0]

    def _row(name: str, result: Correlations) -> list[str]:
        cells = (_cell(getattr(result, metric)) for metric in metrics)
        return [name, f"{result.n_covered}/{result.n_items}", *cells]

    named = list(zip(models, comparison.evaluations, strict=True))
    parts = [
        f"Ranked by {'|cos|' if first.notion == 'relatedness' else 'cos'} ({first.notion}), n₀ = {first.n0:g}",
        text_table(header, (_row(model, e.overall) for model, e in named)),
    ]
    for place, model in enumerate(models):
        if others := comparison.fewer(place):
            parts.append(
                f"{model} lacks items that {models[comparison.names.index(others[0])]} must rank: no fair win."
            )
    if not comparison.is_even and comparison.policy in ("common", "parts"):
        rows = (_row(model, result) for model, result in zip(models, comparison.common, strict=True))
        parts.append("The models cover different items: compare them over the items that all of them cover.")
        parts.append(text_table(header, rows))
    if comparison.without_proposed:
        rows = (_row(model, result) for model, result in zip(models, comparison.without_proposed, strict=True))
        parts.append(f"Without the items that hold a token which a model proposed ({_FAVOURED}):")
        parts.append(text_table(header, rows))
    if len(first.areas) > 1:
        rows = (_row(f"{model}, {area}", result) for model, e in named for area, result in e.areas.items())
        parts.append(text_table(header, rows))
    parts += [f"{model}: {remark}" for model, evaluation in named for remark in _remarks(evaluation)]
    return "\n\n".join(parts)


def _remarks(evaluation: Evaluation) -> list[str]:
    """What a reader of an evaluation's figures should know, a sentence each."""
    reasons = {getattr(evaluation.overall, metric).reason for metric in _SHOWN}
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
