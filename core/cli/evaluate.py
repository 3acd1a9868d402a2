"""The command `evaluate`: word embeddings ranked by a dataset, printed as a table with remarks or as JSON.

With `--needed` it says, by simulation, how many votes and tokens would tell two models apart.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, RunoffError
from .shared import text_table, with_json, write_json

if TYPE_CHECKING:
    from ..commands.file_evaluation import FileEvaluation, Shares
    from ..embeddings import Embedding
    from ..evaluation import Correlations, Evaluation, FigureEstimate, Model, ModelComparison
    from ..evaluation.baselines import Baselines
    from ..evaluation.chance import ShareOfCeiling
    from ..evaluation.results import Ends
    from ..store.projects.records import CampaignRecord
    from ..voters.model import Panel


def needed_json(
    comparison: ModelComparison, figure: str, seed: int, votes: int, most: int, voters_like: str | None
) -> dict[str, Any]:
    """What would tell the first two models apart: JSON, with what can't be told under problems.

    Raises `InputError` for fewer than two models, or voters that can't be read.
    """
    from ..commands.file_evaluation import needed_of

    needed, problems = needed_of(comparison, figure, seed, votes, most, panel_of(voters_like))
    rows = [{**asdict(each), "says": str(each)} for each in needed]
    names = comparison.names[:2]
    return {"first": names[0], "second": names[1], "figure": figure, "power": 0.8, "found": rows, "problems": problems}


def needed_lines(told: dict[str, Any]) -> list[str]:
    """The same for people."""
    what = f"To tell {told['first']} and {told['second']} apart by {told['figure']} with 80%: "
    return [*(what + each["says"] for each in told["found"]), *told["problems"]]


def panel_of(text: str | None) -> Panel:
    """The voters of an option's value, such as ".02:.2,.005:.05": ranges of σ* and of ε; the paper's for None.

    >>> panel_of(".1:.3,0:.1").nonconformity
    (0.1, 0.3)
    """
    from ..voters.model import PAPER_PANEL, Panel

    if text is None:
        return PAPER_PANEL
    try:
        sigma, epsilon = (tuple(float(end) for end in part.split(":")) for part in text.split(","))
        (s_low, s_high), (e_low, e_high) = sigma, epsilon
    except ValueError:
        raise InputError(f"--voters-like takes two ranges, such as .02:.2,.005:.05; found {text!r}.") from None
    return Panel(100, (s_low, s_high), (e_low, e_high))


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
_FAVOURED = "such tokens favour the model that chose them"


def _figures_json(result: Correlations, shares: Mapping[str, ShareOfCeiling] | None = None) -> dict[str, Any]:
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


def evaluation_json(models: Sequence[str], comparison: ModelComparison, shares: Shares) -> dict[str, Any]:
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


def _cell(figure: FigureEstimate) -> str:
    if figure.estimate is None:
        return "–"
    value, lower, upper = figure.by_tokens
    if value is None:
        return f"{figure.estimate:.4f}"
    return f"{figure.estimate:.4f} ({value:.2f}: {lower:.2f} to {upper:.2f})"


def evaluation_text(
    models: Sequence[str], comparison: ModelComparison, metrics: Sequence[str], shares: Shares, why_none: str
) -> str:
    """Tables for people: overall, over the common items where coverage differs, and by area.

    Beside ρ_w and τ_w stand their shares from chance to the best that the votes allow; where nothing is known of that,
    why_none says why.
    """
    first = comparison.evaluations[0]
    header: tuple[str, ...] = ("model", "covered", *(LABELS[metric] for metric in metrics))
    shared = [metric for metric in metrics if metric in shares["overall"][0] and not why_none]
    wide = ("model", "covered", *(text for m in metrics for text in (LABELS[m], "share")[: 1 + (m in shared)]))

    def _row(name: str, result: Correlations, of: Mapping[str, ShareOfCeiling] | None = None) -> list[str]:
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
    parts += _shares_text(models, shares, shared, why_none if {*metrics} & {*shares["overall"][0]} else "")
    parts += [f"{model}: {remark}" for model, evaluation in named for remark in _remarks(evaluation)]
    return "\n\n".join(parts)


def _shares_text(models: Sequence[str], shares: Shares, shared: Sequence[str], why_none: str) -> list[str]:
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
    reasons_of = f" ({models[0]}: {'; '.join(said)})" if said else ""
    reasons = [
        f"{model}: {each[metric].reason}"
        for found in (shares["overall"], shares["common"])
        for model, each in zip(models, found, strict=True)
        for metric in shared
        if each[metric].reason
    ]
    return [f"share: 0 is chance, 1 the best that these votes allow{reasons_of}.", *dict.fromkeys(reasons)]


def _remarks(evaluation: Evaluation) -> list[str]:
    """What a reader of an evaluation's figures should know, a sentence each."""
    reasons = {getattr(evaluation.overall, metric).reason for metric in SHOWN}
    missing = f"no vector for {_some(evaluation.missing)}" if evaluation.missing else ""
    lookups = [f"{token} as {name}" for token, name in evaluation.found_as.items()]
    spelled = f"found in another way: {_some(lookups)}" if lookups else ""
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
    help="Exit with status 1 if a model's figure is below its bound or undefined, such as rho_w=0.6. Repeatable.",
)
@click.option("--trust", is_flag=True, help="Open gensim's own files, which are pickles and could run a program.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of the words in the models, such as latin-1.")
@click.option("--dataset-encoding", help="Of the dataset, such as cp1252 or gbk; detected where it isn't given.")
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
@click.option("--tokens", "with_tokens", is_flag=True, help="With 90% intervals over tokens, resampled by --seed.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of resampled tokens, random rankings, simulations."
)
@click.option(
    "--needed",
    is_flag=True,
    help="Simulate how many votes and tokens tell the first two models apart with 80%, by the first --metric.",
)
@click.option("--votes", type=int, default=0, help="With --needed: where its search begins; default: 20 per item.")
@click.option("--most", type=int, default=0, help="With --needed: the most votes tried; default: 16 times --votes.")
@click.option("--voters-like", metavar="S1:S2,E1:E2", help="With --needed: ranges of σ* and ε; default: the paper's.")
@click.option("--encoder", "encoders", multiple=True, type=click.Path(), help="Folder of a model of texts. Repeatable.")
@click.option(
    "--server", "servers", nargs=2, multiple=True, metavar="ADDRESS MODEL",
    help="A model behind a server that speaks /v1/embeddings, to which the tokens are sent. Repeatable.",
)  # fmt: skip
@click.option("--template", default="{token}", show_default=True, help="With --server: the text of a token.")
@click.option("--batch", type=int, default=64, show_default=True, help="With --server: texts in a request.")
@click.option("--cache", type=click.Path(), help="With --server: folder of its answers; default: the user's caches.")
@click.option(
    "--mteb", multiple=True, type=click.Path(),
    help="Result file or predictions of the package mteb on this very dataset, or a folder of them. Repeatable.",
)  # fmt: skip
@click.option(
    "--leaderboard",
    metavar="OUT",
    help="Write OUT.html and OUT.csv: all models with ranges of ranks, groups, intervals, ceilings and coverage.",
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
    servers: tuple[tuple[str, str], ...],
    template: str,
    batch: int,
    cache: str | None,
    mteb: tuple[str, ...],
    leaderboard: str | None,
    spellings: tuple[str, ...],
    with_baselines: bool,
    as_json: bool,
) -> None:
    """Rank word embeddings (MODEL, any known format) by a DATASET file."""
    from numpy.random import default_rng

    from ..commands.figures.evaluation_inputs import BASELINES
    from ..commands.file_evaluation import FileSettings, evaluate_file
    from ..dataset.files import read_dataset
    from ..embeddings import LookUp, as_mode, load
    from ..evaluation import tokens_of, words_of
    from ..evaluation.baselines import Spelling, baselines
    from .leaderboard import NamedModels, served_name, write_leaderboard

    if not models and not encoders and not spellings and not servers and not mteb:
        raise InputError("Name a MODEL, a model's folder with --encoder, a --server with its model, or a --spelling.")
    bounds = bounds_of(fail_under)
    table = read_dataset(dataset, encoding=dataset_encoding)
    tokens, notes = tokens_of(table), [str(note) for note in table.attrs.get("notes", ())]
    look_up = LookUp(lower, as_mode(_MULTIWORD[multiword]))
    options: dict[str, Any] = {"trusted": trust, "encoding": encoding, "vocabulary": vocabulary, "look_up": look_up}
    wanted = words_of(tokens) if policy == "parts" else tokens
    loaded = (load(model, tokens=wanted, **options) for model in models)
    named = NamedModels()
    by_encoders = named.of_folders(encoders, table, trust=trust)
    by_servers = named.of_servers(servers, table, template=template, batch=batch, cache=cache)
    predicted, by_predictions, reported = named.of_predictions(mteb, table)
    named.recipes |= dict.fromkeys(spellings, (("model", "a similarity of spellings"),))
    by_letters = (Spelling(_SPELLINGS[name]) for name in spellings)
    every: Iterator[Model] = chain(_with_options(loaded), by_encoders, by_servers, by_predictions, by_letters)
    names = (*models, *encoders, *(served_name(*server) for server in servers), *predicted, *spellings)
    settings = FileSettings(n0, notion, policy, top, with_tokens or leaderboard is not None, seed)
    evaluated = evaluate_file(table, names, every, _record_of(dataset), settings)
    if with_tokens and evaluated.no_tokens:
        raise InputError(evaluated.no_tokens)
    answer = evaluation_json(names, evaluated.comparison, evaluated.shares)
    answer["result_files"] = [asdict(each) for each in reported]
    notes += named.notes
    if differences := _differences_json(evaluated):
        answer["token_differences"] = differences
    floor = None
    if with_baselines or leaderboard:
        floor = baselines(table, n0=n0, top=top, rng=default_rng([seed, 11, BASELINES]))  # as the published card's
    if with_baselines and floor is not None:
        answer["baselines"] = baselines_json(floor)
        notes += [floor.problem] if floor.problem else []
    first, *_ = columns = metrics or SHOWN
    if needed:
        answer["needed"] = needed_json(evaluated.comparison, first, seed, votes, most, voters_like)
    if leaderboard and floor is not None:
        title = str(table.attrs.get("title") or Path(dataset).stem)
        answer["leaderboard"] = write_leaderboard(leaderboard, evaluated, title, first, floor, named, reported)
    checks = held_against(bounds, answer["models"])
    if as_json:
        write_json({"dataset": dataset, "notes": notes, **answer, **({"bounds": checks} if checks else {})})
    else:
        parts = [
            evaluation_text(names, evaluated.comparison, columns, evaluated.shares, evaluated.no_ceiling),
            *(f"{dataset}: {note}" for note in notes),
        ]
        parts += [baselines_text(floor, columns)] if with_baselines and floor is not None else []
        parts += needed_lines(answer["needed"]) if needed else []
        parts += [f"Written: {' and '.join(answer['leaderboard'])}"] if leaderboard else []
        click.echo("\n\n".join([*parts, *([bounds_text(checks)] if checks else [])]))
    if not all(result["passed"] for result in checks):
        sys.exit(1)


def _record_of(dataset: str) -> CampaignRecord | RunoffError | None:
    """The record of a published dataset's campaign, or why it can't be read; None for any other file."""
    from zipfile import is_zipfile

    from ..dataset.published import is_published, read_published
    from ..store.projects.records import record_from
    from .shared import read_file

    data = read_file(dataset) if is_zipfile(dataset) else b""  # a large table isn't read twice
    if not data or not is_published(data):
        return None
    try:
        return record_from(read_published(data).files)
    except RunoffError as error:
        return error


def _differences_json(found: FileEvaluation) -> list[dict[str, Any]]:
    """The difference of every two models in each figure, over tokens."""
    return [
        {"figure": figure, **asdict(pair), "apart": pair.is_apart}
        for figure, pairs in found.token_differences().items()
        for pair in pairs
    ]


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
    bounds = []
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        try:
            bound = float(value)
        except ValueError:
            bound = math.nan
        if not sign or not name or not math.isfinite(bound):
            raise InputError(f"--fail-under takes a figure and its bound, such as rho_w=0.6; found {text!r}.")
        bounds.append((name, bound))
    return bounds


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
