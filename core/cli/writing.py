"""`python -m core draw-writing` and `written-items`: items made by writing smaller texts for wanted ratings."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from .shared import read_file, with_encoding, with_json, write_file, write_json


@click.command("draw-writing")
@click.argument("texts", type=click.Path())
@click.option(
    "--pool", type=click.Path(), help="Smaller texts (text, genre, level): drawn for pairs that should get 0."
)
@click.option("--output", required=True, type=click.Path(), help="CSV to write, with room for the smaller texts.")
@click.option("--batch", type=click.Path(), help="CSV to write: the tasks in which people write on a platform.")
@click.option("--page", type=click.Path(), help="HTML to write: the task page of that batch.")
@click.option("--task-size", type=int, default=5, show_default=True, help="Texts per task.")
@click.option("--target", default="turkle", show_default=True, help="Platform of the page: turkle or mturk.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Letters outside ASCII as character references, for Turkle.")
@click.option("--smaller", default="sentence", show_default=True, help="What people are asked to write.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same form.")
@with_encoding
@with_json
def draw_writing_command(
    texts: str, pool: str | None, output: str, batch: str | None, page: str | None, task_size: int, target: str,
    ascii_only: bool, smaller: str, seed: int, encoding: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Wanted ratings of larger TEXTS (text, genre, level): a form to write smaller texts in, or a batch of tasks."""
    import numpy as np

    from ..platforms.round_files import write_writing
    from ..questions.writing import draw_writing, pair_by_lot, pool_of, read_texts, task_page, write_form

    read = [read_texts(read_file(path), Path(path).name, encoding=encoding) for path in (texts, pool) if path]
    larger, there = read[0].texts, pool_of(read[1].texts) if pool else []
    notes = [f"{path}: {note}" for path, one in zip((texts, pool), read, strict=False) for note in one.notes]
    rng = np.random.default_rng(seed)
    tasks, aside = draw_writing(larger, rng=rng)
    lots, without = pair_by_lot(aside, there, rng=rng)
    if batch is not None:
        write_file(batch, write_writing(tasks, task_size=task_size, ascii_only=ascii_only))
    if page is not None:
        html = task_page("writing", {"smaller": smaller}, task_size=task_size, target=target)
        write_file(page, html.encode("utf-8"))
    write_file(output, write_form(tasks, lots, without))
    if as_json:
        counts = {"n_texts": len(larger), "n_pool": len(there), "n_to_write": len(tasks), "n_by_lot": len(lots)}
        write_json({"output": output, "batch": batch, "page": page, **counts, "n_aside": len(without), "seed": seed,
                    "notes": notes})  # fmt: skip
        return
    for note in notes:
        click.echo(f"Note: {note}")
    click.echo(
        f"{len(larger):,} texts with wanted ratings are in {output}: {len(tasks):,} to write for, {len(lots):,} pairs "
        f"by lot, {len(without):,} set aside for what others write."
    )


@click.command("written-items")
@click.argument("file", type=click.Path())
@click.option("--results", multiple=True, type=click.Path(), help="Result file of the task page; can be repeated.")
@click.option("--output", required=True, type=click.Path(), help="CSV to write: the pairs, to be rated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same order.")
@with_encoding
@with_json
def written_items_command(
    file: str, results: tuple[str, ...], output: str, seed: int, encoding: str | None, as_json: bool
) -> None:  # fmt: skip
    """The pairs of a filled-in form FILE, or of its task page, in random order and without what was wanted."""
    import numpy as np

    from ..platforms.round_files import read_writing
    from ..questions.writing import pair_by_lot, pairs_to_rate, read_form, read_written, write_pairs

    form = read_form(read_file(file), Path(file).name, encoding=encoding)
    sources = [[answer for answer in form.answers if answer.text or not results]]
    sources += [read_writing(read_file(path), Path(path).name) for path in results]
    answers = [answer for source in sources for answer in source]
    written, issues = read_written(form.tasks, answers)
    rng = np.random.default_rng(seed)
    by_lot, without = pair_by_lot(form.aside, [pair.smaller for pair in written], rng=rng)
    pairs = pairs_to_rate([*written, *form.lots, *by_lot], rng=rng)
    blank = sum(not answer.text.strip() for answer in answers)
    if not pairs:
        raise InputError(f"{file} has no pair of texts: all were left blank.")
    write_file(output, write_pairs(pairs))
    if as_json:
        counts = {"n_pairs": len(pairs), "n_by_lot": len(form.lots) + len(by_lot), "n_aside": len(without)}
        told = [str(issue) for issue in issues]
        write_json({"output": output, **counts, "n_blank": blank, "issues": told, "seed": seed,
                    "notes": list(form.notes)})  # fmt: skip
        return
    click.echo(f"{len(pairs):,} pairs are in {output}; {blank:,} were left blank.")
    if without:
        click.echo(f"{len(without):,} texts set aside have no smaller text of their genre and level.")
    for note in form.notes:
        click.echo(f"Note: {note}")
    for issue in issues:
        click.echo(str(issue))
