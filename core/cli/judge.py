"""`runoff judge`: a language model as a voter, marked for ever, of a project of the workspace."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, StoreError
from .rounds import area_named, project_named
from .shared import cell, text_table, with_json, write_file, write_json

if TYPE_CHECKING:
    from ..store import Store
    from ..store.ballots.ballot_rows import Ballot
    from ..store.votes.model_answers import ModelJudge


@click.group("judge")
def judge_command() -> None:
    """Language models as voters, beside people and never among them."""


def _opened(project: str) -> tuple[Store, str]:
    from ..store import open_store

    store = open_store()
    return store, project_named(store, project)


@judge_command.command("on")
@click.argument("project")
@click.option("--address", required=True, help="Of a server that speaks /v1/chat/completions, without /v1.")
@click.option("--model", required=True, help="The model, as the server calls it.")
@click.option("--temperature", type=float, default=0.0, show_default=True, help="Of its answers.")
@click.option("--own-temperature", is_flag=True, help="Leave the temperature to the server.")
@click.option("--most-tokens", type=int, default=16, show_default=True, help="Of an answer; 0 for no bound.")
@click.option("--input-price", type=float, help="Of a million tokens sent, in the money of the plan.")
@click.option("--output-price", type=float, help="Of a million tokens answered.")
@click.option("--at-once", type=int, default=4, show_default=True, help="Comparisons asked at the same time.")
@with_json
def on_command(
    project: str, address: str, model: str, temperature: float, own_temperature: bool, most_tokens: int,
    input_price: float | None, output_price: float | None, at_once: int, as_json: bool,
) -> None:  # fmt: skip
    """Let a PROJECT (its id or name) ask a language model; nothing is sent before `judge ask`."""
    from ..judges.chat import JudgeSettings, checked
    from ..store.projects.model_servers import CHAT, switch_on
    from ..views.evaluate.judges import load

    store, project_id = _opened(project)
    settings = JudgeSettings(
        address,
        model,
        None if own_temperature else temperature,
        most_tokens or None,
        input_price,
        output_price,
        at_once,
    )
    switch_on(store, project_id, CHAT, checked(settings).stored())
    view = load(store, project_id)
    if as_json:
        write_json({"on": settings.model, "sent": view.sent})
    else:
        click.echo(view.sent)


@judge_command.command("off")
@click.argument("project")
@with_json
def off_command(project: str, as_json: bool) -> None:
    """Let a PROJECT ask no language model any more; what was answered stays."""
    from ..store.projects.model_servers import CHAT, switch_off

    store, project_id = _opened(project)
    switch_off(store, project_id, CHAT)
    if as_json:
        write_json({"on": None})
    else:
        click.echo("Nothing is sent any more. What was answered stays.")


@judge_command.command("ask")
@click.argument("project")
@click.option("--ballot", "number", type=int, default=1, show_default=True, help="Its number; 0 for the pilot.")
@click.option("--area", help="The area, where each has a ranking of its own.")
@click.option("--sample", type=int, default=0, help="So many comparisons, drawn by the ballot's seed; 0 for all.")
@click.option("--anew", is_flag=True, help="Begin another record, though one of this model and prompt could go on.")
@with_json
def ask_command(project: str, number: int, area: str | None, sample: int, anew: bool, as_json: bool) -> None:
    """Ask about a ballot of a PROJECT, each comparison in both orders.

    What is answered is kept at once: stopped, it goes on there when it is asked again. The key is read from the
    environment, RUNOFF_JUDGE_KEY.
    """
    from ..commands.judging import AskModel, ask_model
    from ..store.projects.project_commands import get_project

    store, project_id = _opened(project)
    if sample < 0:
        raise InputError(f"--sample is a number of comparisons, 0 for all; found {sample}.")
    ballot = _ballot(store, project_id, number, area_named(store, project_id, area))
    command = AskModel.of(project_id, get_project(store, project_id).revision, ballot, n=sample, anew=anew)
    last = [0.0]

    def told(done: float, total: float) -> None:
        if done == total or done - last[0] >= total / 20:
            last[0] = done
            click.echo(f"{done:,.0f} of {total:,.0f} answers", err=True)

    done = ask_model(store, command, progress=told, say=lambda text: click.echo(text, err=True))
    if as_json:
        write_json({"record": done.judge_id, "answers": done.n_answers, "votes": done.n_votes, "no_vote": done.reasons})
    else:
        click.echo(done.said)


def _ballot(store: Store, project_id: str, number: int, area_id: int | None) -> Ballot:
    from ..store.ballots.ballot_rows import ballots_of, pilot_of

    with store.read() as conn:
        pilot = pilot_of(conn, project_id, area_id)
        ballots = [*ballots_of(conn, project_id, area_id), *([pilot] if pilot else [])]
    for ballot in ballots:
        if ballot.number == number:
            return ballot
    raise StoreError(f"Ballot {number} isn't drawn yet." if number else "There is no pilot.")


@judge_command.command("report")
@click.argument("project")
@click.option("--record", type=int, help="Its number in the list; the newest where it isn't given.")
@click.option("--n0", type=float, default=2.0, show_default=True, help="Offset of the weights of ρ_w and τ_w.")
@with_json
def report_command(project: str, record: int | None, n0: float, as_json: bool) -> None:
    """The records of a PROJECT, and what one of them says beside people's votes."""
    from ..commands.judging import judge_figures
    from ..views.evaluate import judges as view_of

    store, project_id = _opened(project)
    view = view_of.load(store, project_id)
    if not view.judges:
        raise StoreError("No language model was asked yet: `judge on`, then `judge ask`.")
    judge = _record(view.judges, record)
    found = judge_figures(store, project_id, judge.id, n0)
    if as_json:
        about = {name: value for name, value in asdict(judge).items() if name != "ballot_id"}
        figures = {**asdict(found), "gaps": found.gaps.to_dict("records")}
        figures["powered"]["scores"] = found.powered.scores.to_dict("records")
        write_json({"record": about, "ballot": view.ballot_of(judge), "figures": figures})
        return
    records = view.table.assign(record=[one.id for one in view.judges])[["record", *view.table.columns]]
    parts = [_table(records), f"Record {judge.id}. {view_of.answers_said(found)}"]
    parts += [f"Stale: {'; '.join(judge.stale)}."] if judge.stale else []
    parts += [_table(view_of.figures_table(found)), found.no_gaps or _table(view_of.gaps_table(found))]
    parts += [
        f"With the model's help: {found.powered.reason}"
        if found.powered.reason
        else _table(view_of.powered_table(found))
    ]
    parts += [part for part in (found.powered.no_intervals, view_of.NEVER) if part]
    click.echo("\n\n".join(parts))


def _record(judges: tuple[ModelJudge, ...], number: int | None) -> ModelJudge:
    record = next((judge for judge in judges if number in (None, judge.id)), None)
    if record is None:
        known = ", ".join(str(judge.id) for judge in judges)
        raise InputError(f"There is no record {number}. There are: {known}.")
    return record


def _table(table: Any) -> str:
    rows = [[cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    return text_table(list(table.columns), rows)


@judge_command.command("answers")
@click.argument("project")
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--record", type=int, help="Its number in the list; the newest where it isn't given.")
@click.option("--ranking", is_flag=True, help="The model's own ranking as a dataset, with its description beside it.")
@with_json
def answers_command(project: str, target: Path, record: int | None, ranking: bool, as_json: bool) -> None:
    """Write what a record's model answered to FILE, marked as a model's."""
    from ..dataset.files import to_csv, to_json
    from ..views.evaluate import judges as view_of

    store, project_id = _opened(project)
    judges = view_of.load(store, project_id).judges
    if not judges:
        raise StoreError("No language model was asked yet: `judge on`, then `judge ask`.")
    judge = _record(judges, record)
    if ranking:
        dataset = view_of.ranking_dataset(store, project_id, judge.id)
        write_file(str(target), to_csv(dataset))
        write_file(str(target.with_suffix(".json")), to_json({str(k): v for k, v in dataset.attrs.items()}))
        n = len(dataset)
    else:
        write_file(str(target), view_of.answers_csv(store, project_id, judge.id))
        n = judge.n_answers
    if as_json:
        write_json({"file": str(target), "record": judge.id, "rows": n})
    else:
        click.echo(f"{target}: {'the ranking' if ranking else 'the answers'} of {judge.name}.")
