"""`python -m core evaluate`: word embeddings ranked by a dataset."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .evaluate_output import METRICS, SHOWN, baselines_json, baselines_text, evaluation_json, evaluation_text
from .needed import needed_lines, simulated
from .shared import with_json, write_json

if TYPE_CHECKING:
    from ..embeddings import Embedding
    from ..evaluation import Comparison, Model
    from .evaluate_output import Shares

_POLICIES = ("common", "own", "lowest", "parts")
_SPELLINGS = {
    "substring": "longest common substring",
    "jaro-winkler": "Jaro–Winkler",
    "ngrams": "character n-grams",
}
_MULTIWORD = {"as-is": "as they are", "underscore": "underscore", "mean": "mean of parts",
               "mean-if-missing": "mean if missing"}  # fmt: skip


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
@click.option(
    "--dataset-encoding", help="Of the dataset, such as cp1252 or gbk; found by looking where it isn't given."
)
@click.option("--vocabulary", type=click.Path(), help="The list of words of a NumPy array; else one beside it.")
@click.option("--lower", is_flag=True, help="Tokens that a model lacks are tried in lower case too.")
@click.option(
    "--multiword",
    type=click.Choice(list(_MULTIWORD)),
    default="as-is",
    show_default=True,
    help="Tokens of several words: as-is (or else with _ for spaces), with _ only, the mean of their "
    "parts, or that mean for those that a model lacks.",
)
@click.option(
    "--policy",
    type=click.Choice(_POLICIES),
    default="common",
    show_default=True,
    help="Words that a model lacks: only the items that all cover, each model's own, ranked lowest, mean of parts.",
)
@click.option("--metric", "metrics", multiple=True, type=click.Choice(METRICS), help="Figures to show. Repeatable.")
@click.option("--top", type=int, default=20, show_default=True, help="The k of the precision among the top k.")
@click.option("--tokens", "with_tokens", is_flag=True, help="With 90 % intervals over tokens, resampled by --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the resampled tokens and of simulations.")
@click.option(
    "--needed",
    is_flag=True,
    help="Simulate how many votes and tokens tell the first two models apart with 80 %, by the first --metric.",
)
@click.option("--votes", type=int, default=0, help="With --needed: where its search begins; default: 20 per item.")
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
@click.option(
    "--baselines",
    "with_baselines",
    is_flag=True,
    help="Beside the models what knows nothing of meaning: a random ranking and similarities of spellings.",
)
def evaluate_command(
    dataset: str,
    models: tuple[str, ...],
    n0: float,
    notion: str | None,
    fail_under: tuple[str, ...],
    trust: bool,
    encoding: str,
    dataset_encoding: str | None,
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
    with_baselines: bool,
    as_json: bool,
) -> None:
    """Rank word embeddings (MODEL, any known format) by a DATASET file."""
    from numpy.random import default_rng

    from ..dataset.files import read_dataset
    from ..embeddings import LookUp, as_mode, load
    from ..encoders import open_encoder
    from ..evaluation import compare, encoded, tokens_of, words_of
    from ..evaluation.baselines import Spelling, baselines

    if not models and not encoders and not spellings:
        raise InputError("Name a MODEL, an encoder's folder with --encoder, or a --spelling.")
    bounds = bounds_of(fail_under)
    table = read_dataset(dataset, encoding=dataset_encoding)
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
    shares, why_none = _shares(dataset, comparison, seed)
    told = evaluation_json(models, comparison, shares)
    if differences:
        told["token_differences"] = differences
    if with_baselines:
        floor = baselines(table, n0=n0, top=top, rng=default_rng([seed, 11, 3]))
        told["baselines"] = baselines_json(floor)
        notes += [floor.problem] if floor.problem else []
    if needed:
        told["needed"] = simulated(comparison, (metrics or SHOWN)[0], seed, votes, most, voters_like)
    held = held_against(bounds, told["models"])
    if as_json:
        write_json({"dataset": dataset, "notes": notes, **told, **({"bounds": held} if held else {})})
    else:
        parts = [
            evaluation_text(models, comparison, metrics or SHOWN, shares, why_none),
            *(f"{dataset}: {note}" for note in notes),
        ]
        parts += [baselines_text(floor, metrics or SHOWN)] if with_baselines else []
        parts += needed_lines(told["needed"]) if needed else []
        click.echo("\n\n".join([*parts, *([bounds_text(held)] if held else [])]))
    if not all(result["passed"] for result in held):
        sys.exit(1)


def _shares(dataset: str, comparison: Comparison, seed: int) -> tuple[Shares, str]:
    """The models' shares from chance to the best that a published dataset's votes allow, and why there are none."""
    from zipfile import is_zipfile

    from ..commands.recompute import closed_votes_of
    from ..dataset.published import is_published, read_published
    from ..errors import RunoffError
    from ..evaluation.chance import NO_CEILING, shares_of
    from ..store.projects.record_files import record_from
    from ..trust.reliability import ceilings
    from .shared import read_file

    found: dict[str, float] = {}
    why_none = NO_CEILING
    data = read_file(dataset) if is_zipfile(dataset) else b""  # a large table isn't read twice
    if data and is_published(data):
        try:
            votes = closed_votes_of(record_from(read_published(data).files))
            found = ceilings([(b, v) for _, b, v in votes], n0=comparison.evaluations[0].n0)
            why_none = "" if found else "There is no ceiling: no ballot is closed."
        except RunoffError as error:
            why_none = f"There is no ceiling: {error}"
    return shares_of(comparison, found, why_none=why_none, seed=seed), why_none


def _over_tokens(comparison: Comparison, seed: int) -> tuple[Comparison, list[dict[str, Any]]]:
    """The comparison with intervals over tokens, and the difference of every two models in each figure."""
    from dataclasses import asdict

    from numpy.random import default_rng

    from ..evaluation.differences import by_tokens
    from ..evaluation.tokens import with_token_intervals

    found, draws = with_token_intervals(comparison, rng=default_rng(seed))
    told = [
        {"figure": figure, **asdict(pair), "apart": pair.is_apart}
        for figure in METRICS
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


def bounds_of(texts: Sequence[str]) -> list[tuple[str, float]]:
    """The bounds of an option's values, such as rho_w=0.6; `InputError` for one that can't be read.

    >>> bounds_of(["rho_w=0.6", "rho = -.1"])
    [('rho_w', 0.6), ('rho', -0.1)]
    """
    found = []
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        try:
            bound = float(value)
        except ValueError:
            bound = math.nan
        if not sign or not name or not math.isfinite(bound):
            raise InputError(f"--fail-under takes a figure and its bound, such as rho_w=0.6; found {text!r}.")
        found.append((name, bound))
    return found


def held_against(bounds: Sequence[tuple[str, float]], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each bound against the figure of each model over all its items (`rows` as `evaluate --json` has them).

    A figure that is undefined fails, with the reason. Raises `InputError` for a figure that `evaluate` doesn't have.
    """
    results = []
    for row in rows:
        if row.get("area") is not None:
            continue
        known = sorted(name for name, value in row.items() if isinstance(value, Mapping) and "estimate" in value)
        for name, bound in bounds:
            if name not in known:
                raise InputError(f"--fail-under: there is no figure {name!r}; there are {', '.join(known)}.")
            estimate = row[name]["estimate"]
            defined = estimate is not None and math.isfinite(estimate)
            result = {"model": row["model"], "figure": name, "bound": bound, "estimate": estimate}
            result["passed"] = bool(defined and estimate >= bound)
            if not defined:
                result["why"] = f"undefined: {row[name].get('why_undefined') or 'no reason is known'}"
            elif not result["passed"]:
                result["why"] = f"{estimate:.4f} is under {bound:g}"
            results.append(result)
    return results


def bounds_text(results: Sequence[Mapping[str, Any]]) -> str:
    """A line a bound, for people."""
    lines = []
    for result in results:
        figure = "–" if result["estimate"] is None else f"{result['estimate']:.4f}"
        verdict = "passed" if result["passed"] else f"FAILED, {result['why']}"
        lines.append(f"{result['model']}: {result['figure']} = {figure}, bound {result['bound']:g}: {verdict}")
    return "\n".join(lines)
