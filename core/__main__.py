"""The command line: `python -m core COMMAND`, or `runoff COMMAND` once installed; without a command the app opens.

Every command takes `--json`: then stdout gets one JSON object and nothing else. An error goes to stderr, or as
{"error": …} to stdout with `--json`, and the exit code is 2. Heavy modules are imported where they are needed, so
that every command starts fast.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .cli.dataset import diff_command, replay_command
from .cli.embeddings import embeddings_command
from .cli.evaluate import evaluate_command
from .cli.judge import judge_command
from .cli.ratings import draw_writing_command, groups_command, ratings_command, written_items_command
from .cli.rounds import rounds_command, voters_command
from .cli.scheme_files import best_worst_command, compare_schemes_command, draw_tuples_command, group_orders_command
from .cli.shared import appearances_of, text_table, with_json, write_json
from .cli.simulate import equal_time_command, simulate_command
from .cli.tokens import tokens_command
from .cli.workspace import (
    PORT,
    archived_command,
    backup_command,
    check_command,
    housekeeping_command,
    open_app,
    rehearse_command,
    restore_command,
    vote_command,
    voters_role_command,
)
from .errors import RunoffError

if TYPE_CHECKING:
    from .plan import Plan


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.option("--port", type=click.IntRange(1, 65535), help=f"Where the app listens on this machine ({PORT}).")
@click.option(
    "--workspace",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the projects, made where there is none (RUNOFF_WORKSPACE, else the platform's data folder).",
)
@click.option("--no-browser", is_flag=True, help="Tell the app's address, and open no browser.")
@click.version_option(__version__, prog_name="runoff")
@click.pass_context
def cli(context: click.Context, port: int | None, workspace: Path | None, no_browser: bool) -> None:
    """Datasets of word-pair relatedness from pairwise votes, and embeddings ranked with them.

    Without a COMMAND the app opens in the browser; at a first start it shows a demo project.
    """
    if workspace is not None:
        os.environ["RUNOFF_WORKSPACE"] = str(workspace.absolute())
    if context.invoked_subcommand is None:
        open_app(port or PORT, browser=not no_browser)
    elif port is not None or no_browser:
        raise click.UsageError(f"--port and --no-browser are of the app, not of {context.invoked_subcommand}.")


for _command in (
    vote_command,
    rehearse_command,
    evaluate_command,
    embeddings_command,
    tokens_command,
    simulate_command,
    equal_time_command,
    ratings_command,
    groups_command,
    rounds_command,
    judge_command,
    group_orders_command,
    best_worst_command,
    draw_tuples_command,
    compare_schemes_command,
    draw_writing_command,
    written_items_command,
    voters_command,
    archived_command,
    check_command,
    replay_command,
    diff_command,
    backup_command,
    restore_command,
    voters_role_command,
    housekeeping_command,
):
    cli.add_command(_command)
cli.add_command(housekeeping_command, "tend")  # its older name


@cli.command("plan")
@click.option("--items", "n_items", type=int, required=True, help="Number of items, N.")
@click.option("--ballots", "n_ballots", type=int, required=True, help="Number of ballots.")
@click.option("--keep", type=float, required=True, help="Fraction of the items that goes on to the next ballot, α.")
@click.option("--appearances", required=True, help="Appearances of an item per ballot, M; or one for each: 20,20,40.")
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
        *(f"{'Note' if problem.is_slight else 'Warning'}: {problem.message}" for problem in plan.problems()),
    ]
    return "\n\n".join(parts)


@cli.command("job", hidden=True)
@click.argument("job_id", metavar="ID")
@with_json
def job_command(job_id: str, as_json: bool) -> None:
    """Run a job of the workspace; the application starts this by itself."""
    from .worker import run

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
