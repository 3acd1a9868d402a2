"""The command line: `python -m core COMMAND`, or `runoff COMMAND` once installed.

Every command takes `--json`: then stdout gets one JSON object and nothing else. An error goes to stderr, or as
{"error": …} to stdout with `--json`, and the exit code is 2. Heavy modules are imported where they are needed, so
that every command starts fast.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .cli.archived import archived_command
from .cli.bounds import bounds_of, bounds_text, held_against
from .cli.check import check_command
from .cli.dataset import diff_command, replay_command
from .cli.schemes import schemes_command
from .cli.shared import appearances_of, text_table, with_json, write_json
from .cli.simulate import simulate_command
from .cli.voters import voters_command
from .errors import InputError, RunoffError

if TYPE_CHECKING:
    from .embeddings import Embedding
    from .evaluation import Comparison, Correlations, Evaluation
    from .plan import Plan

_METRICS = ("rho_w", "tau_w", "rho", "tau")
_FAVOURED = "such tokens favour the model that chose them, §2.2"
_MULTIWORD = {"as-is": "as they are", "underscore": "underscore", "mean": "mean of parts"}
_LABELS = ("ρ_w", "τ_w", "ρ", "τ")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="runoff")
def cli() -> None:
    """Datasets of word-pair relatedness from pairwise votes, and embeddings ranked with them."""


for _command in (
    simulate_command,
    schemes_command,
    voters_command,
    archived_command,
    check_command,
    replay_command,
    diff_command,
):
    cli.add_command(_command)


@cli.command("plan")
@click.option("--items", "n_items", type=int, required=True, help="Number of items, N.")
@click.option("--ballots", "n_ballots", type=int, required=True, help="Number of ballots.")
@click.option("--keep", type=float, required=True, help="Fraction of the items that goes on to the next ballot, α.")
@click.option("--appearances", required=True, help="Appearances of an item in a ballot, M; or one a ballot: 20,20,40.")
@with_json
def plan_command(n_items: int, n_ballots: int, keep: float, appearances: str, as_json: bool) -> None:
    """What a campaign costs in comparisons, and what is unwise about its plan."""
    from .plan import Plan

    plan = Plan(n_items, n_ballots, keep, appearances_of(appearances))
    if as_json:
        write_json(_plan_json(plan))
    else:
        click.echo(_plan_text(plan))


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "n_items": plan.n_items,
        "n_ballots": plan.n_ballots,
        "keep": plan.keep,
        "appearances": plan.appearances,
        "sizes": plan.sizes,
        "comparisons": plan.comparisons,
        "n_comparisons": plan.n_comparisons,
        "top_appearances": plan.top_appearances,
        "uniform_appearances": plan.uniform_appearances,
        "problems": [
            {"name": p.name, "bound": p.bound, "value": p.value, "message": p.message} for p in plan.problems()
        ],
    }


def _plan_text(plan: Plan) -> str:
    rows = zip(range(1, plan.n_ballots + 1), plan.sizes, plan.comparisons, strict=True)
    parts = [
        text_table(("ballot", "items", "comparisons"), ([str(k), f"{n:,}", f"{c:,}"] for k, n, c in rows)),
        f"{plan.n_comparisons:,} comparisons in all; an item that stays to the end appears {plan.top_appearances} "
        f"times, and would {plan.uniform_appearances:.1f} times if all items were treated alike.",
        *(f"Warning: {problem.message}" for problem in plan.problems()),
    ]
    return "\n\n".join(parts)


@cli.command("evaluate")
@click.argument("dataset", type=click.Path())
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path())
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
    as_json: bool,
) -> None:
    """Rank word embeddings (MODEL, any known format) by a DATASET file."""
    from .dataset import read_dataset
    from .embeddings import LookUp, as_mode, load
    from .evaluation import compare, tokens_of

    bounds = bounds_of(fail_under)
    table = read_dataset(dataset)
    tokens, notes = tokens_of(table), [str(note) for note in table.attrs.get("notes", ())]
    look_up = LookUp(lower, as_mode(_MULTIWORD[multiword]))
    options: dict[str, Any] = {"trusted": trust, "encoding": encoding, "vocabulary": vocabulary, "look_up": look_up}
    loaded = (load(model, tokens=tokens, **options) for model in models)
    comparison = compare(table, _with_options(loaded), n0=n0, notion=notion)
    told = _evaluation_json(models, comparison)
    held = held_against(bounds, told["models"])
    if as_json:
        write_json({"dataset": dataset, "notes": notes, **told, **({"bounds": held} if held else {})})
    else:
        parts = [_evaluation_text(models, comparison), *(f"{dataset}: {note}" for note in notes)]
        click.echo("\n\n".join([*parts, *([bounds_text(held)] if held else [])]))
    if not all(result["passed"] for result in held):
        sys.exit(1)


def _with_options(loaded: Iterator[Embedding]) -> Iterator[Embedding]:
    """The models; what one lacks is told with the option that gives it."""
    from .embeddings import EncodingError, TrustError, VocabularyError

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
    }
    for name in _METRICS:
        figure = getattr(result, name)
        figures[name] = {"estimate": figure.estimate, "lower": figure.lower, "upper": figure.upper}
        if figure.estimate is None:
            figures[name]["why_undefined"] = figure.reason
    return figures


def _evaluation_json(models: Sequence[str], comparison: Comparison) -> dict[str, Any]:
    from .evaluation import WHY_NO_INTERVALS

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
        "n_unscored": first.n_unscored,
        "models": rows,
        "same_items": comparison.is_even,
        "common_items": common,
        "without_proposed_tokens": without,
        "why_no_intervals": WHY_NO_INTERVALS,
    }


def _row(name: str, result: Correlations) -> list[str]:
    estimates = [getattr(result, metric).estimate for metric in _METRICS]
    return [name, f"{result.n_covered}/{result.n_items}", *("–" if e is None else f"{e:.4f}" for e in estimates)]


def _evaluation_text(models: Sequence[str], comparison: Comparison) -> str:
    """Tables for people: overall, over the common items where coverage differs, and by area."""
    header, first = ("model", "covered", *_LABELS), comparison.evaluations[0]
    named = list(zip(models, comparison.evaluations, strict=True))
    parts = [
        f"Ranked by {'|cos|' if first.notion == 'relatedness' else 'cos'} ({first.notion}), n₀ = {first.n0:g}",
        text_table(header, (_row(model, e.overall) for model, e in named)),
    ]
    if not comparison.is_even:
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
    reasons = {getattr(evaluation.overall, metric).reason for metric in _METRICS}
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


@cli.command("job")
@click.argument("job_id", metavar="ID")
@with_json
def job_command(job_id: str, as_json: bool) -> None:
    """Run a job of the workspace; the application starts this by itself."""
    from .job_process import run

    run(job_id)
    if as_json:
        write_json({"job": job_id})


def _fail(message: str, as_json: bool) -> NoReturn:
    if as_json:
        write_json({"error": message})
    else:
        click.echo(f"Error: {message}", err=True)
    sys.exit(2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 when all is well, 1 where a command says so, 2 after an error to act on."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Greek letters and tokens of any script, whatever the terminal or pipe was set to.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        cli.main(args=arguments, prog_name="runoff", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        if as_json:
            _fail(error.format_message(), as_json)
        error.show()
        sys.exit(2)
    except RunoffError as error:
        _fail(str(error), as_json)
    except BrokenPipeError:
        # Whoever read the output has had enough; what is still in the buffer would fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(0)


if __name__ == "__main__":
    main()
