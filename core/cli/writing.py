"""`python -m core draw-writing` and `written-items`: items made by writing smaller texts for wanted ratings."""

from __future__ import annotations

from pathlib import Path

import click

from .shared import read_file, with_json, write_file, write_json


@click.command("draw-writing")
@click.argument("texts", type=click.Path())
@click.option(
    "--pool", type=click.Path(), help="Smaller texts (text, genre, level): drawn for pairs that should get 0."
)
@click.option("--output", required=True, type=click.Path(), help="CSV to write, with room for the smaller texts.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same form.")
@with_json
def draw_writing_command(texts: str, pool: str | None, output: str, seed: int, as_json: bool) -> None:
    """A form in which people write smaller texts of larger TEXTS (text, genre, level) for wanted ratings."""
    import numpy as np

    from ..schemes.writing import read_texts, writing_form

    larger = read_texts(read_file(texts), Path(texts).name)
    smaller = read_texts(read_file(pool), Path(pool).name) if pool else []
    write_file(output, writing_form(larger, smaller, rng=np.random.default_rng(seed)))
    if as_json:
        write_json({"output": output, "n_texts": len(larger), "n_pool": len(smaller), "seed": seed})
    else:
        click.echo(f"{len(larger):,} texts with wanted ratings are in {output}.")


@click.command("written-items")
@click.argument("file", type=click.Path())
@click.option("--output", required=True, type=click.Path(), help="CSV to write: the pairs, to be rated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same order.")
@with_json
def written_items_command(file: str, output: str, seed: int, as_json: bool) -> None:
    """The pairs of a filled-in form FILE, in random order and without what was wanted."""
    import numpy as np

    from ..schemes.writing import items_to_rate

    data, blank = items_to_rate(read_file(file), Path(file).name, rng=np.random.default_rng(seed))
    write_file(output, data)
    if as_json:
        write_json({"output": output, "n_blank": blank, "seed": seed})
    else:
        click.echo(f"The pairs are in {output}; {blank:,} were left blank.")
